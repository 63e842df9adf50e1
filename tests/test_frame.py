"""The schema of one tick: every field where it says, packed and unpacked the same."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from palpate.frame import BASE, BASE_AT, EVENT, EVENT_AT, FRAME, HAND, HAND_AT, WORLD_FIELDS, Field, Layout
from palpate.runtime.world.state import Offsets

SIZES = {"nq": 7, "nv": 6, "n_bodies": 4, "n_devices": 2, "n_contacts": 3}


@given(st.integers(1, 20), st.integers(1, 20), st.integers(1, 20), st.integers(0, 3), st.integers(0, 9))
def test_fields_cover_the_message_without_gap_or_overlap(nq, nv, n_bodies, n_devices, n_contacts):
    layout = Layout(FRAME, nq=nq, nv=nv, n_bodies=n_bodies, n_devices=n_devices, n_contacts=n_contacts)
    covered = sorted((layout.offset[f.name], layout.length[f.name]) for f in FRAME)  # a field may be empty
    assert covered[0][0] == 0
    for (begin, length), (after, _) in pairwise(covered):
        assert begin + length == after
    assert sum(covered[-1]) == layout.words


def test_what_every_frame_has_lies_at_the_same_place_in_all_of_them():
    own = (Field("height_m", "f", ("n",), ""), Field("bounces", "i", (), ""))
    for layout in (Layout(FRAME, **SIZES), Layout(BASE), Layout(own + BASE, n=5)):
        assert {f.name: layout.offset[f.name] for f in BASE} == BASE_AT._asdict()
        assert sorted(layout.offset, key=layout.offset.__getitem__)[: len(BASE)] == list(BASE_AT._asdict())


def test_a_layout_is_read_as_it_was_described_wherever_its_fields_lie():
    rng, layout = np.random.default_rng(5), Layout(FRAME, **SIZES)
    rows, place = [], 0
    for k in rng.permutation(len(FRAME)):  # as a version of before, or to come, may have them
        rows.append(layout.describe()[k] | {"offset": place})
        place += rows[-1]["length"]
    read = Layout.described(rows, **SIZES)
    assert read.words == layout.words
    message = rng.integers(0, 9, size=read.words)
    for row in rows:
        there = message[row["offset"] : row["offset"] + row["length"]]
        assert np.array_equal(np.ravel(read.read(message, row["name"])).view(np.int64), there)
    for wrong in ({"offset": 1}, {"length": 99}):
        with pytest.raises(ValueError, match="fields overlap"):
            Layout.described([rows[0] | wrong, *rows[1:]], **SIZES)


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
    assert Offsets._fields == tuple(f.name for f in WORLD_FIELDS)
    for at, fields in ((BASE_AT, BASE), (HAND_AT, HAND), (EVENT_AT, EVENT)):
        assert at._asdict() == Layout(fields).offset


def test_the_description_is_json_and_complete():
    import json

    described = json.loads(json.dumps(Layout(FRAME, **SIZES).describe()))
    assert [d["name"] for d in described] == [f.name for f in FRAME]
    assert all(d["about"] for d in described)
