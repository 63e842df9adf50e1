"""Functions that the tests sweep; workers import this file."""

import os
import time
from pathlib import Path

import numpy as np


def noisy(x: float, y: str = "a", seed: int = 0) -> dict[str, float]:
    """A number that depends on everything."""
    return {"z": x**2 + len(y) + np.random.default_rng(seed).normal(), "twice": 2.0 * x}


def logged(x: float, log: str, seed: int = 0) -> dict[str, float]:
    """The same, and a line for every call."""
    fd = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(fd, f"{x:g}\n".encode())
    os.close(fd)
    time.sleep(0.002)
    return noisy(x, seed=seed)


def alone(x: float) -> float:
    return -x


def troubled(x: int, seed: int = 0) -> float:
    """Fails at 3, hangs at 5 and dies at 7."""
    if x == 3:
        raise ValueError("three is\nnot allowed")
    while x == 5:
        pass
    if x == 7:
        os.abort()
    return float(x)


def fragile(x: int, folder_of_lives: str) -> float:
    """Dies at 4, but only the first time: as if somebody had killed the worker."""
    once = Path(folder_of_lives) / "died"
    if x == 4 and not once.exists():
        once.touch()
        os.abort()
    return float(x)


def recorded(x: int, folder: str) -> dict[str, float]:
    """Leaves a file behind, also when it fails."""
    (Path(folder) / "note.txt").write_text(str(x))
    if x % 10 == 7:
        raise RuntimeError("a seven")
    return {"score": float((x * 37) % 101)}


def strange(x: int) -> object:
    return [["no", "number"], {"a": "word"}, {1: 2.0}, {"x": 1.0}][x]


def infinite(x: float) -> dict[str, float]:
    return {"up": np.inf * x, "nothing": np.float32(np.nan), "yes": np.bool_(True)}


def gated(x: int, gate: str) -> float:
    """All but 0 say who they are, and wait until the test opens the gate."""
    while x and not Path(gate).exists():
        Path(f"{gate}.{os.getpid()}").touch()
        time.sleep(0.01)
    return float(x)
