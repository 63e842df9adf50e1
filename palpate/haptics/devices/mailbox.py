"""The mailbox: a device that only Python can reach, in a thread of its own, met by the tick in memory.

The thread asks the device for its reading at the device's own rate and hands it the newest wrench; the tick reads the
newest reading and leaves the newest wrench.  Neither waits for the other.  Two seqlocks: a writer makes the number odd,
writes, makes it even; a reader that saw an odd or another number reads again.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Sequence

import numpy as np

from palpate.haptics.devices.port import LOST, NOTHING_NEW, OK, InTick, Port, empty_port
from palpate.haptics.devices.protocol import Device, DeviceReading
from palpate.jit import Block, Quaternion, Struct, Vector, block_loader
from palpate.jit.atomics import fence, load_acquire, store_release
from palpate.jit.routines import routine
from palpate.model.model import Ints1

SILENCE_S = 0.1  # without a reading for this long the device is lost
FIRST_S = 1.0  # the same before the first reading: threads start late on a busy machine, and nothing is felt meanwhile
DEAD_S = 0.05  # a wrench older than this is not passed on: the tick that left it may be gone
PATIENCE_S = 2.0  # of `stop` with a thread whose device does not answer
TRIES = 16  # of a seqlock
# words of Mail.number, for atomics: the two seqlocks, and whether the thread has given up
IN, OUT, ENDED = range(3)


class Mail(Struct):
    """What thread and tick share beside the Port, which is the tick's alone."""

    # as in Port: written by the thread under IN
    position: Vector
    velocity: Vector
    quaternion: Quaternion
    spin: Vector
    buttons: int
    sampled_s: float
    # written by the tick under OUT
    torque: Vector
    force: Vector
    left_s: float
    # the tick's alone
    taken: int  # IN of the last reading
    asked_s: float  # when it first asked
    number: Ints1  # (3,) IN, OUT, ENDED


load = block_loader((Port, False), (Mail, False))


@routine
def sample(address):
    """The newest reading; LOST when the thread has given up or fallen silent."""
    port, mail = load(address)
    if load_acquire(mail.number, ENDED) != 0:
        return LOST
    for _ in range(TRIES):
        number = load_acquire(mail.number, IN)
        if number % 2:
            continue
        position, velocity, quaternion, spin = mail.position, mail.velocity, mail.quaternion, mail.spin
        stamp, buttons = mail.sampled_s, mail.buttons
        fence()
        if load_acquire(mail.number, IN) != number:
            continue
        port.position, port.velocity, port.quaternion, port.spin = position, velocity, quaternion, spin
        port.sampled_s, port.buttons = stamp, buttons
        now = port.now_s
        if math.isnan(stamp):
            if math.isnan(mail.asked_s):
                mail.asked_s = now
            return LOST if now - mail.asked_s > FIRST_S else NOTHING_NEW
        if now - stamp > SILENCE_S:
            return LOST
        new = number != mail.taken
        mail.taken = number
        return OK if new else NOTHING_NEW
    return NOTHING_NEW


@routine
def send(address):
    """Leave the wrench for the thread."""
    port, mail = load(address)
    number = mail.number[OUT]
    store_release(mail.number, OUT, number + 1)
    fence()
    mail.torque, mail.force, mail.left_s = port.torque, port.force, port.now_s
    store_release(mail.number, OUT, number + 2)
    return OK


class Mailbox:
    """Runs a device in a thread, between `start` and `stop`; `in_tick` is how a tick meets it."""

    def __init__(self, device: Device) -> None:
        self.device, self.error = device, ""
        self.mail = Mail(
            quaternion=(1.0, 0.0, 0.0, 0.0), sampled_s=math.nan, asked_s=math.nan, number=np.zeros(3, dtype=np.int64)
        )
        self._call = ("", 0.0)  # what the thread is in, and since when
        port = empty_port()
        self.in_tick = InTick(port, Block(port, self.mail), sample, send, owner=self)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"device {device.spec.name}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End the thread; the last it does is to take the force away.  One that hangs in its device is left behind."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(PATIENCE_S)

    def _run(self) -> None:
        reading, due = DeviceReading(), time.monotonic()
        period = 1.0 / self.device.spec.rate_hz
        try:
            while not self._stop.is_set():
                self._call = ("read", time.monotonic())
                self.device.read(reading)
                self._post(reading)
                self._call = ("write", time.monotonic())
                self.device.write(self._newest_wrench())
                self._call = ("", 0.0)
                due = max(due + period, time.monotonic() - period)
                self._stop.wait(max(0.0, due - time.monotonic()))
        except Exception as error:  # whatever ends this thread takes the force away and is told
            self.error = str(error) or type(error).__name__
            self.mail.number[ENDED] = 1
        with contextlib.suppress(Exception):  # if it is lost there is nobody to tell
            self.device.write(np.zeros(6))

    def reason(self) -> str:
        """Why the device is lost: its error, or the call that does not return; empty if neither is known."""
        call, since = self._call
        waited = time.monotonic() - since
        hangs = f"its {call} has not returned for {waited:.1f} s" if call and waited > SILENCE_S else ""
        return self.error or hangs

    def _post(self, reading: DeviceReading) -> None:
        mail, number = self.mail, self.mail.number
        number[IN] += 1
        mail.position, mail.velocity = reading.position_m.tolist(), reading.velocity_m_s.tolist()
        mail.quaternion, mail.spin = reading.quaternion.tolist(), reading.spin_rad_s.tolist()
        # a device that senses nothing is never late
        sensed = not math.isnan(reading.sampled_at_s)
        mail.sampled_s, mail.buttons = reading.sampled_at_s if sensed else time.monotonic(), reading.buttons
        number[IN] += 1

    def _newest_wrench(self) -> np.ndarray:
        for _ in range(TRIES):
            before = int(self.mail.number[OUT])
            wrench, left_s = np.array([*self.mail.torque, *self.mail.force]), self.mail.left_s
            if before % 2 == 0 and int(self.mail.number[OUT]) == before:
                fresh = before > 0 and time.monotonic() - left_s <= DEAD_S
                return wrench if fresh else np.zeros(6)
        return np.zeros(6)


def in_tick_of(device: Device, mailboxes: list[Mailbox]) -> InTick:
    """How a tick reaches a device: its own way, or through a mailbox, which is added to these."""
    in_tick: InTick | None = getattr(device, "in_tick", None)
    if in_tick is None:
        mailboxes.append(Mailbox(device))
        in_tick = mailboxes[-1].in_tick
    return in_tick


def take_force_away(devices: Sequence[Device], mailboxes: Sequence[Mailbox]) -> None:
    """From outside a loop that is silent or has ended.

    Not of a device in a mailbox: its own thread passes no force on that is older than SILENT_S, nor at its end, and
    nobody else may call it.
    """
    for device in devices:
        if any(box.device is device for box in mailboxes):
            continue
        with contextlib.suppress(Exception):  # lost or closed: it makes no force, and no error may end the watch
            device.write(np.zeros(6))
