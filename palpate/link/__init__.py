"""Dynamics on one machine, the hand on another: packets over UDP, a thousand times a second each way.

    siphash.py   the keyed hash that seals a packet
    wire.py      what a packet is: envelope, payloads, sealing and opening
    keys.py      whose packets count
    sockets.py   UDP from compiled loops
    peers.py     who talks to the server, and which of them holds the hand
    clock.py     how far the other's clock is ahead
    estimate.py  the state between packets
    tank.py      the energy that may cross
    impair.py    a bad network, for tests and experiments

Newest wins on both sides: what is late, lost or overtaken is counted and never waited for.
"""


class LinkError(RuntimeError):
    """A link cannot be opened, or was lost; one line that says which and what to do."""
