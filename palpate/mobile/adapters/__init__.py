"""Real things in the place of simulated ones: trackers and headsets as PoseSources, robots as BaseDrivers.

One file and one line here each; another package adds one through the entry-point groups `palpate.pose_sources` and
`palpate.base_drivers`.  None has been tried on hardware.
"""

from palpate.registry import Registry

POSE_SOURCES: Registry = {
    "recorded": ("palpate.mobile.adapters.recorded:Recorded", "poses of a file, by its time stamps: recorded:FILE.csv"),
    "udp": ("palpate.mobile.adapters.udp:Udp", "MHD1 packets that a tracker's computer sends: udp:127.0.0.1:9000"),
    "vrpn": ("palpate.mobile.adapters.vrpn:Vrpn", "a tracker of a VRPN server: vrpn:NAME@HOST:3883, or vrpn:udp:..."),
    "headset": ("palpate.mobile.adapters.headset:Headset", "the headset that shows the page, once it is registered"),
}
BASE_DRIVERS: Registry = {
    "simulated": ("palpate.mobile.adapters.simulated:SimulatedBase", "the base as it is simulated (the default)"),
    "ros-twist": (
        "palpate.mobile.adapters.ros_twist:RosTwist",
        "velocities for a robot with ROS, as rosbridge takes them: ros-twist:tcp:HOST:9090, ros-twist:udp:HOST:PORT",
    ),
}
