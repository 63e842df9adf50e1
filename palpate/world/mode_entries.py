"""What contacts do, for Python."""

from palpate.contact.mode import contact_mode, mode_of
from palpate.jit import entry
from palpate.world.state import load


@entry("intp, int64[::1]")
def modes_entry(address, out):
    """Of the first contacts of the last step."""
    _, _, _, c, r, _ = load(address)
    for i in range(out.shape[0]):
        out[i] = mode_of(c, r, i)


@entry("float64, float64, float64, float64, float64, float64")
def contact_mode_entry(normal, friction, mu, slip, least, turn):
    return contact_mode(normal, friction, mu, slip, least, turn)
