"""Writes vectors.json: rows of the sinusoidal encodings of known models.

    python generate.py > vectors.json        (versions: requirements.txt)

"exact" and "exact64" evaluate the published formula of each model by mpmath with
200 bits: the frequency is rounded to float64 once, the sine or cosine of its
real product with the position is rounded once to float32 or float64 ("scaling"
rounds a float32 once more). Bits in hexadecimal.

"reference" is what a framework's own code gives: transformers where it has the
model, otherwise numpy with the operations of the framework's function in its own
precision. "error" bounds how far it is from the real numbers: 2^-22 for a sine of
its own and four roundings of the largest angle to float32; one rounding where the
framework computes in float64.
"""

import json
import math
import struct
import sys

import numpy as np
import torch
from mpmath import mp, mpf
from transformers.models.detr.modeling_detr import DetrSinePositionEmbedding
from transformers.models.m2m_100.modeling_m2m_100 import M2M100SinusoidalPositionalEmbedding
from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding
from transformers.models.musicgen.modeling_musicgen import MusicgenSinusoidalPositionalEmbedding
from transformers.models.whisper.modeling_whisper import sinusoids

mp.prec = 200
f32 = np.float32


def nearest32(x):
    """float32 nearest to an mpf in the normal range, or 0."""
    if x == 0:
        return 0.0
    exponent = math.frexp(float(x))[1]
    ulp = mpf(2) ** (exponent - 24)
    return float(mp.nint(x / ulp) * ulp)  # no ties: sines of rationals are irrational


def bits32(x):
    return struct.pack(">f", x).hex()


def bits64(x):
    return struct.pack(">d", x).hex()


def ladder(n, first, base, denominator):
    return [float(mpf(first) * mpf(base) ** (-mpf(k) / mpf(denominator))) for k in range(n)]


def signal(n, low, high):
    return [float(mpf(low) * mp.exp(-k * mp.log(mpf(high) / mpf(low)) / max(n - 1, 1))) for k in range(n)]


def row(tokens, inv_freq, order, dim, scaling=None, padding=None, rounding=nearest32):
    """The row of one token, a position for each axis."""
    values = []
    for p in tokens:
        sin = [rounding(mp.sin(mpf(p) * mpf(w))) for w in inv_freq]
        cos = [rounding(mp.cos(mpf(p) * mpf(w))) for w in inv_freq]
        if order == "interleaved":
            values += [v for pair in zip(sin, cos) for v in pair]
        elif order == "sin":
            values += sin + cos
        else:
            values += cos + sin
    values += [0.0] * (dim - len(values))
    if padding is not None and tokens[0] == padding:
        values = [0.0] * dim
    if scaling is not None:
        values = [float(f32(v) * f32(scaling)) for v in values]
    return values


cases = []


def case(model, dim, positions, inv_freq, order, reference=None, scaling=None, padding=None, axes=1, error=None, **arguments):
    """positions: a list of tokens, each a list of a position for each axis."""
    largest = max(abs(p * w) for t in positions for p in t for w in inv_freq)
    if error is None:
        error = 2.0**-22 + 4 * largest * 2.0**-24
    cases.append({
        "model": model,
        "dim": dim,
        "arguments": arguments if padding is None else arguments | {"padding": padding},
        "fractional": any(p != int(p) for t in positions for p in t),
        "positions": [t[a] for a in range(axes) for t in positions],
        "inv_freq": [bits64(w) for w in inv_freq],
        "exact": "".join(bits32(v) for t in positions for v in row(t, inv_freq, order, dim, scaling, padding)),
        "exact64": "".join(bits64(v) for t in positions[:4] for v in row(t, inv_freq, order, dim, None, padding, float)),
        "reference": None if reference is None else [float(v) for v in np.asarray(reference, dtype=np.float64).ravel()],
        "error": error,
    })


tokens = [[p] for p in (0, 1, 2, 3, 4, 5, 31, 32, 33, 100, 511)]
index = [t[0] for t in tokens]
far = [[p] for p in (1, -1, 4095, 65537, 1000003, 2147483647, -2147483648)]

# Vaswani et al.: the annotated transformer computes div_term by exp in float32.
for dim in (4, 16):
    term = torch.exp(torch.arange(0, dim, 2) * -(math.log(10000.0) / dim))
    angle = torch.arange(0, 512).unsqueeze(1) * term
    pe = torch.zeros(512, dim)
    pe[:, 0::2], pe[:, 1::2] = torch.sin(angle), torch.cos(angle)
    case("vaswani", dim, tokens, ladder(dim // 2, 1, 10000, dim / 2), "interleaved", pe[index])
case("vaswani", 130, far[:3], ladder(65, 1, 10000, 65), "interleaved")
case("vaswani", 8, far, ladder(4, 1, 10000, 4), "interleaved")

# Marian of transformers, which computes in float64.
for dim in (8, 16):
    marian = MarianSinusoidalPositionalEmbedding(512, dim)
    case("marian", dim, tokens, ladder(dim // 2, 1, 10000, dim / 2), "sin", marian.create_weight()[index], error=2.0**-24)

# tensor2tensor: get_timing_signal_1d and _nd, in float32.


def timing(position, n, low, high, guard=True):
    increment = math.log(float(high) / float(low)) / (max(n - 1, 1) if guard else n - 1)
    inverse = f32(low) * np.exp(np.arange(n, dtype=f32) * f32(-increment))
    angle = np.asarray(position, dtype=f32)[:, None] * inverse[None, :]
    return np.concatenate([np.sin(angle), np.cos(angle)], axis=1)


def t2t(position, dim, low, high):
    s = timing(position, dim // 2, low, high)
    return np.pad(s, [[0, 0], [0, dim % 2]])


for dim, low, high in ((2, 1, 1e4), (8, 1, 1e4), (11, 0.5, 3000)):
    case("tensor2tensor", dim, tokens, signal(dim // 2, low, high), "sin", t2t(index, dim, low, high), axes=1, min=low, max=high)
grid = [[r, c] for r in range(3) for c in range(4)]
n = 14 // 4
nd = np.concatenate([timing([g[a] for g in grid], n, 1, 1e4, False) for a in range(2)] + [np.zeros((12, 14 - 4 * n))], axis=1)
case("tensor2tensor", 14, grid, signal(n, 1, 1e4), "sin", nd, axes=2, min=1, max=1e4)

# fairseq, as transformers has it in M2M-100.
for dim, padding in ((8, 1), (9, 0), (16, 2)):
    weights = M2M100SinusoidalPositionalEmbedding.get_embedding(512, dim, padding)
    case("fairseq", dim, tokens, ladder(dim // 2, 1, 10000, dim // 2 - 1), "sin", weights[index], padding=padding)

for dim in (8, 16):
    case("whisper", dim, tokens, ladder(dim // 2, 1, 10000, dim // 2 - 1), "sin", sinusoids(512, dim)[index])
for dim in (8, 9):
    weights = MusicgenSinusoidalPositionalEmbedding.get_embedding(512, dim)
    case("musicgen", dim, tokens, ladder(dim // 2, 1, 10000, dim // 2 - 1), "cos", weights[index])


# diffusers: get_timestep_embedding, in float32.
def timestep(t, dim, flip, shift, scale, period):
    half = dim // 2
    exponent = f32(-math.log(period)) * np.arange(half, dtype=f32) / f32(half - shift)
    angle = f32(scale) * (np.asarray(t, dtype=f32)[:, None] * np.exp(exponent)[None, :])
    emb = np.concatenate([np.sin(angle), np.cos(angle)], axis=1)
    if flip:
        emb = np.concatenate([emb[:, half:], emb[:, :half]], axis=1)
    return np.pad(emb, [[0, 0], [0, dim % 2]])


times = [[float(f32(t))] for t in (0, 1, 0.5, 0.1, 999, 333.25, 12.345)]
for dim, flip, shift, scale, period in ((8, False, 1, 1, 10000), (16, True, 0, 1, 10000), (9, False, 0.5, 2.5, 1000)):
    case("timesteps", dim, times, ladder(dim // 2, scale, period, mpf(dim // 2) - mpf(shift)), "cos" if flip else "sin",
         timestep([t[0] for t in times], dim, flip, shift, scale, period), flip=flip, shift=shift, scale=scale, period=period)


# MAE: get_2d_sincos_pos_embed, in float64.
def mae(dim, size):
    def one(d, positions):
        omega = 1.0 / 10000 ** (np.arange(d // 2, dtype=np.float64) / (d / 2.0))
        angle = np.einsum("m,d->md", positions.reshape(-1), omega)
        return np.concatenate([np.sin(angle), np.cos(angle)], axis=1)

    g = np.stack(np.meshgrid(np.arange(size, dtype=np.float32), np.arange(size, dtype=np.float32)), axis=0)
    emb = np.concatenate([one(dim // 2, g[0]), one(dim // 2, g[1])], axis=1)
    return np.concatenate([np.zeros([1, dim]), emb], axis=0)


patches = [[-1, -1]] + [[c, r] for r in range(4) for c in range(4)]
for dim in (4, 16):
    case("mae", dim, patches, ladder(dim // 4, 1, 10000, dim / 4), "sin", mae(dim, 4), padding=-1, axes=2, error=2.0**-24)

# DETR of transformers, normalised, with a mask: two columns and a row of padding.
height, width = 4, 5
mask = torch.zeros(1, height, width, dtype=torch.bool)
mask[:, :3, :3] = True
for normalize in (False, True):
    for m in (None, mask):
        scale = 2 * math.pi
        rows = DetrSinePositionEmbedding.build_sine_position_embedding(
            (1, 3, height, width), "cpu", torch.float32, 8, normalize, scale, 10000, m)[0].permute(1, 2, 0)
        counted = (torch.ones_like(mask) if m is None else m).to(torch.float32)[0]
        y, x = counted.cumsum(0), counted.cumsum(1)
        if normalize:
            y = y / (y[-1:, :] + 1e-6) * scale
            x = x / (x[:, -1:] + 1e-6) * scale
        points = [[float(b), float(a)] for b, a in zip(y.ravel(), x.ravel())]
        case("detr", 16, points, ladder(4, 1, 10000, 4), "interleaved", rows.reshape(-1, 16), axes=2,
             height=height, width=width, scale=scale if normalize else 0, masked=m is not None)
        cases[-1]["fractional"] = True

# MLX: nn.SinusoidalPositionalEncoding, in float32.
for dim, low, high, scale, first, cos in ((8, 1e-4, 1, None, math.sqrt(2 / 8), False), (6, 0.01, 2, 1.5, 1.5, True)):
    n = dim // 2
    sigma = np.exp((1 - np.arange(n, dtype=f32) / f32(n - 1)) * f32(math.log(high) - math.log(low)) + f32(math.log(low)))
    angle = np.asarray(index, dtype=f32)[:, None] * sigma
    emb = np.concatenate([np.cos(angle), np.sin(angle)] if cos else [np.sin(angle), np.cos(angle)], axis=1) * f32(first)
    freq = [float(mpf(high) * (mpf(low) / mpf(high)) ** (mpf(k) / (n - 1))) for k in range(n)]
    case("mlx", dim, tokens, freq, "cos" if cos else "sin", emb, scaling=first, min=low, max=high, scale=scale or 0, cos_first=cos)

versions = {"python": sys.version.split()[0], "numpy": np.__version__, "torch": torch.__version__}
json.dump({"versions": versions, "cases": cases}, sys.stdout, indent=None, separators=(",", ":"))
print()
