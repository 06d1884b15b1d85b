"""Writes tables of sinusoidal position encodings, 50 positions of 32 elements in float32, for the
tests of posenc check --absolute: by the formula of Vaswani et al. 2017, and as two tutorials have it.

    python absolute.py

Made with Python 3.11 and numpy 2.4.6.
"""

import numpy as np

POSITIONS, DIM = 50, 32


def save(name, exponent):
    table = np.empty((POSITIONS, DIM))
    for pos in range(POSITIONS):
        for i in range(DIM):
            angle = pos / 10000 ** exponent(i)
            table[pos, i] = np.cos(angle) if i % 2 else np.sin(angle)
    np.save(name, table.astype(np.float32))


save("absolute.npy", lambda i: 2 * (i // 2) / DIM)
save("absolute_doubled.npy", lambda i: 2 * i / DIM)
save("absolute_element.npy", lambda i: i / DIM)
