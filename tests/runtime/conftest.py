"""A desk to put requests on."""

import pytest
from offices import Office

import palpate as pp
from palpate.scenes.arm import arm_line


@pytest.fixture
def office():
    made = Office(pp.touch(arm_line(mode="hold"), page=False))
    yield made
    made.desk.close()
    made.session.stop()
