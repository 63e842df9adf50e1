"""Sweeps, each led on by what those before it changed: nonlinear conjugate gradients without a gradient.

A sweep turns impulses x into y.  What it changes, g = y - x, serves as the direction of descent (Silcowitz, Niebe and
Erleben 2010, after Fletcher and Reeves):
    beta = |g|^2 / |g before|^2;    beta < 1: x <- P(y + beta d), d <- beta d + g;    else: x <- y, d <- g
|g|^2 weighs every row by the mean g_i of its own block: bodies of any mass count alike.  At the cost of one and a half
plain sweeps, ten to a thousand times nearer after forty of them in a pile.  For what Newton can finish plain sweeps are
the better start: a step along d also brings frictions that hold each other, which nothing asks for.
"""

from palpate.contact.deadline import out_of_time
from palpate.contact.rows import load_rows
from palpate.contact.sweeps import allowed, gather, sweep
from palpate.jit import shared
from palpate.spatial.vectors import add_scaled, dot, get3, put3, sub

IN_ANY_CASE = 4  # sweeps, however late it is


@shared("int64(intp, intp, intp, intp, intp, intp, intp)")
def sweeps(address, begin, end, slots_begin, slots_end, most, led):
    """Improve lam and W of an island by at most so many sweeps; returns how many.  dlam keeps d, du keeps x.

    led  1: along conjugate directions, 0: plain sweeps
    """
    (r,) = load_rows(address)
    before = 0.0
    for count in range(1, most + 1):
        for k in range(begin, end):
            put3(r.du, r.order[k], get3(r.lam, r.order[k]))
        sweep(r, begin, end)
        changed = 0.0
        for k in range(begin, end):
            i = r.order[k]
            g = sub(get3(r.lam, i), get3(r.du, i))
            put3(r.du, i, g)
            changed += r.scale[i] * dot(g, g)
        if count == most or changed == 0.0 or (count >= IN_ANY_CASE and out_of_time(r)):
            return count
        if not led:
            continue
        beta = changed / before if changed < before else 0.0
        before = changed
        for k in range(begin, end):
            i = r.order[k]
            g = get3(r.du, i)
            if beta > 0.0:
                d = get3(r.dlam, i)
                put3(r.lam, i, allowed(r, i, add_scaled(get3(r.lam, i), beta, d), 1.0))
                g = add_scaled(g, beta, d)
            put3(r.dlam, i, g)
        if beta > 0.0:
            gather(r, begin, end, slots_begin, slots_end)
    return 0
