"""The peer of `palpate bench link`: what plain Python sockets do, a loop at the same rate with packets of that size."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time

import numpy as np

from palpate.runtime.session import FIFO_PRIORITY

PATIENCE_S = 1.0  # for one answer
ECHO = """
import os, socket, sys
if sys.argv[1] == "fifo":
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(int(sys.argv[2])))
echo = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
echo.bind(("127.0.0.1", 0))
print(echo.getsockname()[1], flush=True)
while True:
    data, sender = echo.recvfrom(2048)
    echo.sendto(data, sender)
"""


def python_echo(seconds: float, rate_hz: float, n_bytes: int, deadline_s: float, fifo: bool) -> dict[str, float]:
    """Send a packet a tick to another process that sends it back; times in us, and the part of answers that came after
    the deadline [s]."""
    command = [sys.executable, "-c", ECHO, "fifo" if fifo else "normal", str(FIFO_PRIORITY)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    trips_ns: list[int] = []
    sent_ns: list[int] = []
    try:
        assert child.stdout is not None
        port = int(child.stdout.readline())
        loop = threading.Thread(target=_loop, args=(port, seconds, rate_hz, n_bytes, fifo, sent_ns, trips_ns))
        loop.start()
        loop.join()
    finally:
        child.kill()
        child.wait()
        if child.stdout is not None:
            child.stdout.close()
    trips_us, periods_us = np.array(trips_ns) * 1e-3, np.diff(sent_ns) * 1e-3
    p50, p99, p999 = np.percentile(trips_us, (50, 99, 99.9))
    return {
        "rate_hz": float(1e6 / periods_us.mean()),
        "period_p99_us": float(np.percentile(periods_us, 99)),
        "stale_fraction": float(np.mean(trips_us > 1e6 * deadline_s)),
        "round_trip_p50_us": float(p50),
        "round_trip_p99_us": float(p99),
        "round_trip_p99.9_us": float(p999),
    }


def _loop(
    port: int, seconds: float, rate_hz: float, n_bytes: int, fifo: bool, sent_ns: list[int], trips_ns: list[int]
) -> None:
    if fifo:  # of this thread only
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(FIFO_PRIORITY))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.connect(("127.0.0.1", port))
        client.settimeout(PATIENCE_S)
        packet, begin = bytes(n_bytes), time.monotonic_ns()
        for k in range(max(3, round(seconds * rate_hz))):
            due = begin + round(1e9 * k / rate_hz)
            time.sleep(max(0, due - time.monotonic_ns()) * 1e-9)
            sent_ns.append(time.monotonic_ns())
            client.send(packet)
            client.recv(2048)
            trips_ns.append(time.monotonic_ns() - sent_ns[-1])
