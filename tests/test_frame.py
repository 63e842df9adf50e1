"""The schema of one tick: every field where it says, packed and unpacked the same."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from palpate.frame import EVENT, FRAME, HAND, Layout
from palpate.runtime.state import Offsets

SIZES = {"nq": 7, "nv": 6, "n_bodies": 4, "n_devices": 2, "n_contacts": 3}


@given(st.integers(1, 20), st.integers(1, 20), st.integers(1, 20), st.integers(0, 3), st.integers(0, 9))
def test_fields_cover_the_message_without_gap_or_overlap(nq, nv, n_bodies, n_devices, n_contacts):
    layout = Layout(FRAME, nq=nq, nv=nv, n_bodies=n_bodies, n_devices=n_devices, n_contacts=n_contacts)
    covered = sorted((layout.offset[f.name], layout.length[f.name]) for f in FRAME)  # a field may be empty
    assert covered[0][0] == 0
    for (begin, length), (after, _) in pairwise(covered):
        assert begin + length == after
    assert sum(covered[-1]) == layout.words


def test_integers_come_first_so_that_both_halves_are_aligned_runs():
    layout = Layout(FRAME, **SIZES)
    kinds = [f.kind for f in sorted(FRAME, key=lambda f: layout.offset[f.name])]
    assert kinds == sorted(kinds, reverse=True)


def test_what_is_packed_is_unpacked():
    rng, layout = np.random.default_rng(3), Layout(FRAME, **SIZES)
    values = {f.name: rng.normal(size=layout.shape[f.name]) if f.kind == "f"
              else rng.integers(-9, 9, size=layout.shape[f.name]) for f in FRAME}  # fmt: skip
    message = layout.unpack(layout.pack(**values))
    for name, value in values.items():
        assert np.array_equal(message[name], value)


def test_an_unknown_or_misshapen_field_is_refused():
    with pytest.raises(ValueError, match="no such fields: nonsense"):
        Layout(EVENT).pack(nonsense=1)
    with pytest.raises(ValueError, match="reshape"):
        Layout(HAND).pack(target=(1, 2))


def test_compiled_offsets_name_every_field_of_the_three_messages():
    assert set(Offsets._fields) == {f.name for f in (*FRAME, *HAND, *EVENT)}
    assert len(Offsets._fields) == len(FRAME) + len(HAND) + len(EVENT)


def test_the_description_is_json_and_complete():
    import json

    described = json.loads(json.dumps(Layout(FRAME, **SIZES).describe()))
    assert [d["name"] for d in described] == [f.name for f in FRAME]
    assert all(d["about"] for d in described)
