import numpy as np

import palpate as pp

model = pp.compile(pp.models.puma560())  # a six-axis arm
q, v = model.posture("line_start"), np.zeros(model.nv)  # at rest, elbow up
hold = pp.bias(model, q, v)  # torques that hold it against gravity [N m]
push = np.zeros((model.n_bodies, 6))  # (torque, force) on every body
push[model.body("tool"), 3:] = (0.0, 15.0, 0.0)  # 15 N to the left, at the tool
a = pp.forward_dynamics(model, q, v, hold, push)  # how the joints give way [rad/s^2]
tool = pp.jacobian(model, q, "tool") @ a  # and the tool: (angular, linear), from rest
print("the tool accelerates by", tool[3:].round(2), "m/s^2")
