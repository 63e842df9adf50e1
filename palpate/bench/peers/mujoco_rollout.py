"""The same copies in `mujoco.rollout`: a peer of `palpate bench batch`.

Settings of the model as in mujoco.py.  Its pool is kept from call to call, the room for states is made before, and each
copy begins with the warm start of the settled scene: all faster than without.  Its chunks are as by default.
Its forces act at centres of mass: the moment of ours about that is taken in the settled posture and stays.
"""

from __future__ import annotations

import mujoco
import numpy as np
from mujoco import rollout

from palpate.bench.batch_engines import pushes, stirred
from palpate.bench.contact_scenes import BenchScene, Phase
from palpate.bench.peers.mujoco import MujocoPeer

_PUSHES, _STATE = mujoco.mjtState.mjSTATE_XFRC_APPLIED, mujoco.mjtState.mjSTATE_FULLPHYSICS


class MujocoCopies:
    """n copies of a settled scene; `setting` as of MujocoPeer."""

    name = "MuJoCo"

    def __init__(self, scene: BenchScene, n: int, setting: str) -> None:
        peer = MujocoPeer(scene, setting)
        peer.advance(scene.settling)
        self.setting, self.peer, self.n = setting, peer, n
        state = np.empty(mujoco.mj_stateSize(peer.m, _STATE))
        mujoco.mj_getState(peer.m, peer.d, state, _STATE)
        self.start = np.tile(state, (n, 1))
        self.start[:, 1 + peer.m.nq : 1 + peer.m.nq + peer.m.nv] += stirred(peer.m.nv, n) @ peer.to_theirs().T
        self.warm = np.tile(peer.d.qacc_warmstart, (n, 1))
        self._data = [mujoco.MjData(peer.m) for _ in range(2)]
        self._pools = {threads: rollout.Rollout(nthread=threads) for threads in (1, 2)}
        self.prepare(1, Phase("nothing", 1))

    def prepare(self, threads: int, phase: Phase) -> None:
        m, d = self.peer.m, self.peer.d
        self._threads, self._steps = threads, phase.steps
        self._states, self._sensors = (
            np.empty((self.n, phase.steps, self.start.shape[1])),
            np.empty((self.n, phase.steps, 0)),
        )
        self._control = None
        if phase.pushed:
            i, f = m.body(phase.body).id, pushes(phase, self.n)
            wrenches = np.zeros((self.n, phase.steps, m.nbody, 6))
            wrenches[:, :, i, :3] = f
            wrenches[:, :, i, 3:] = np.cross(d.xpos[i] - d.xipos[i], f)
            self._control = wrenches.reshape(self.n, phase.steps, -1)

    def rollout(self) -> None:
        self._pools[self._threads].rollout(
            self.peer.m, self._data[: self._threads], self.start, self._control, control_spec=_PUSHES,
            nstep=self._steps, initial_warmstart=self.warm, state=self._states, sensordata=self._sensors,
        )  # fmt: skip

    def heights(self) -> np.ndarray:
        return np.array(self._states[:, -1, 3])

    def close(self) -> None:
        for pool in self._pools.values():
            pool.close()
