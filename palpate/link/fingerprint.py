"""Whether both ends of a link mean the same model."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from palpate.frame import Field
from palpate.model.model import Model


def fingerprint(model: Model, fields: Sequence[Field] = (), events: Sequence[str] = ()) -> int:
    """63 bits that differ for models with other bodies, joints, masses or places of bodies.

    fields, events  that controllers add: they cross a link by their places, so both sides must have the same
    """
    told = hashlib.blake2b(digest_size=8)
    told.update("\n".join((*model.body_names, *model.joint_names)).encode())
    for array in model.arrays:
        if isinstance(array, np.ndarray):
            told.update(np.ascontiguousarray(array).tobytes())
    told.update("\n".join((*(f"{f.name} {f.kind} {f.shape}" for f in fields), *events)).encode())
    return int.from_bytes(told.digest(), "little") >> 1
