"""Writes vectors.json: rows of the sinusoidal encodings of known models.

    pip download --no-deps --dest SOURCES --requirement sources.txt
    python generate.py SOURCES > vectors.json        (versions: requirements.txt)

The packages of sources.txt are read, not installed: tensor2tensor needs a
TensorFlow of its time, and transformers had the functions of MAE and
Transformer-XL in an earlier version.

"exact" and "exact64" evaluate the published formula of each model by mpmath with
200 bits: the frequency is rounded to float64 once, the sine or cosine of its
real product with the position is rounded once to float32 or float64 ("scaling"
rounds a float32 once more). Bits in hexadecimal.

"reference" is what a framework's own code gives; only for Vaswani et al. it is
written here, after the annotated transformer. tensor2tensor's functions run over
numpy in place of TensorFlow. "error" bounds, for each token, how far the reference
is from the real numbers: 2^-22 for a sine of its own and four roundings to float32
of the largest angle of the token; eight more in MLX, whose frequencies are exp of
a sum of logarithms up to ln(10000) in float32; one rounding of the sine alone where
the framework computes in float64.
"""

import ast
import json
import math
import pathlib
import struct
import sys
import types
import zipfile

import diffusers
import mlx.core
import mlx.nn
import numpy as np
import torch
import transformers
from diffusers.models.embeddings import get_timestep_embedding
from mpmath import mp, mpf
from transformers.models.deformable_detr.modeling_deformable_detr import DeformableDetrSinePositionEmbedding
from transformers.models.detr.modeling_detr import DetrSinePositionEmbedding
from transformers.models.fsmt.modeling_fsmt import SinusoidalPositionalEmbedding as FSMTSinusoidalPositionalEmbedding
from transformers.models.m2m_100.modeling_m2m_100 import M2M100SinusoidalPositionalEmbedding
from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding
from transformers.models.musicgen.modeling_musicgen import MusicgenSinusoidalPositionalEmbedding
from transformers.models.rt_detr.modeling_rt_detr import build_2d_sinusoidal_position_embedding
from transformers.models.speech_to_text.modeling_speech_to_text import Speech2TextSinusoidalPositionalEmbedding
from transformers.models.vit_mae.modeling_vit_mae import ViTMAEConfig, ViTMAEEmbeddings
from transformers.models.whisper.modeling_whisper import sinusoids

mp.prec = 200
f32 = np.float32
sources = pathlib.Path(sys.argv[1])


def definitions(package, module, names, **given):
    """Functions and classes of a module in a package that is not installed."""
    (archive,) = sources.glob(package + "-*.whl")
    with zipfile.ZipFile(archive) as z:
        tree = ast.parse(z.read(module))
    body = [d for d in tree.body if getattr(d, "name", None) in names]
    assert len(body) == len(names), module
    for d in body:
        d.decorator_list = []  # they only name scopes
    found = dict(given)
    exec(compile(ast.Module(body, []), module, "exec"), found)
    return archive.name.split("-")[1], [found[n] for n in names]


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
    values = (values + [0.0] * (dim - len(values)))[:dim]
    if padding is not None and tokens[0] == padding:
        values = [0.0] * dim
    if scaling is not None:
        values = [float(f32(v) * f32(scaling)) for v in values]
    return values


cases = []


def case(model, dim, positions, inv_freq, order, reference=None, scaling=None, padding=None, axes=1, roundings=4, **arguments):
    """positions: a list of tokens, each a list of a position for each axis."""
    largest = [max(abs(p * w) for p in t for w in inv_freq) for t in positions]
    if roundings == 0:
        error = [2.0**-24 for _ in positions]
    else:
        error = [2.0**-22 + roundings * angle * 2.0**-24 for angle in largest]
    cases.append({
        "model": model,
        "dim": dim,
        "axes": axes,
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

# Marian of transformers, which computes in float64. An odd dim has a cosine less.
for dim in (8, 16, 9):
    marian = MarianSinusoidalPositionalEmbedding(512, dim)
    case("marian", dim, tokens, ladder((dim + 1) // 2, 1, 10000, mpf(dim) / 2), "sin", marian.create_weight()[index], roundings=0)

# Transformer-XL: positions descend.
earlier, (transfo_xl,) = definitions(
    "transformers", "transformers/models/deprecated/transfo_xl/modeling_transfo_xl.py", ["PositionalEmbedding"], nn=torch.nn, torch=torch)
descending = [[p] for p in (100, 100, 33, 32, 31, 5, 4, 3, 2, 1, 0)]
rows = transfo_xl(8)(torch.tensor([float(t[0]) for t in descending]))[:, 0]
case("transformerxl", 8, descending, ladder(4, 1, 10000, 4), "sin", rows)

# tensor2tensor: get_timing_signal_1d and add_timing_signal_nd, in float32.


class Signal(np.ndarray):
    def get_shape(self):
        return types.SimpleNamespace(as_list=lambda: list(self.shape))


tensorflow = types.SimpleNamespace(
    concat=lambda parts, axis: np.concatenate(parts, axis),
    cos=np.cos,
    exp=np.exp,
    expand_dims=np.expand_dims,
    maximum=np.maximum,
    mod=np.mod,
    pad=np.pad,
    range=lambda n: np.arange(n, dtype=np.int32),
    reshape=np.reshape,
    sin=np.sin,
    to_float=f32,
)
layers = types.SimpleNamespace(shape_list=lambda x: list(x.shape))
t2t, (timing_1d, timing_nd) = definitions(
    "tensor2tensor", "tensor2tensor/layers/common_attention.py", ["get_timing_signal_1d", "add_timing_signal_nd"],
    common_layers=layers, math=math, tf=tensorflow)
for dim, low, high in ((2, 1, 1e4), (8, 1, 1e4), (11, 0.5, 3000)):
    rows = timing_1d(512, dim, low, high)
    assert rows.dtype == f32
    case("tensor2tensor", dim, tokens, signal(dim // 2, low, high), "sin", rows[0, index], axes=1, min=low, max=high)
for start in (1, 100):
    shifted = [[start + p] for p in range(4)]
    case("tensor2tensor", 7, shifted, signal(3, 1, 1e4), "sin", timing_1d(4, 7, start_index=start)[0], axes=1, min=1, max=1e4)
for dim, shape in ((14, (3, 4)), (12, (2, 3, 2)), (21, (2, 3, 2))):
    n = dim // (2 * len(shape))
    rows = timing_nd(np.zeros((1, *shape, dim), f32).view(Signal))
    assert rows.dtype == f32
    grid = [list(map(int, p)) for p in np.ndindex(*shape)]
    case("tensor2tensor", dim, grid, signal(n, 1, 1e4), "sin", rows.reshape(-1, dim), axes=len(shape), min=1, max=1e4)

# fairseq, as transformers has it in M2M-100, FSMT and Speech2Text.
for embedding in (M2M100SinusoidalPositionalEmbedding, FSMTSinusoidalPositionalEmbedding, Speech2TextSinusoidalPositionalEmbedding):
    for dim, padding in ((8, 1), (9, 0), (16, 2)):
        weights = embedding.get_embedding(512, dim, padding)
        case("fairseq", dim, tokens, ladder(dim // 2, 1, 10000, dim // 2 - 1), "sin", weights[index], padding=padding)

for dim in (8, 16):
    case("whisper", dim, tokens, ladder(dim // 2, 1, 10000, dim // 2 - 1), "sin", sinusoids(512, dim)[index])
for dim in (8, 9):
    weights = MusicgenSinusoidalPositionalEmbedding.get_embedding(512, dim)
    case("musicgen", dim, tokens, ladder(dim // 2, 1, 10000, dim // 2 - 1), "cos", weights[index])

# diffusers: get_timestep_embedding, in float32.
times = [[float(f32(t))] for t in (0, 1, 0.5, 0.1, 999, 333.25, 12.345)]
for dim, flip, shift, scale, period in ((8, False, 1, 1, 10000), (16, True, 0, 1, 10000), (9, False, 0.5, 2.5, 1000), (6, True, 1, 1000, 10000)):
    rows = get_timestep_embedding(torch.tensor([t[0] for t in times]), dim, flip, shift, scale, period)
    case("timesteps", dim, times, ladder(dim // 2, scale, period, mpf(dim // 2) - mpf(shift)), "cos" if flip else "sin",
         rows, flip=flip, shift=shift, scale=scale, period=period)

# MAE: get_2d_sincos_pos_embed, in float64, as transformers had it.
_, (_, _, mae) = definitions(
    "transformers", "transformers/models/vit_mae/modeling_vit_mae.py",
    ["get_1d_sincos_pos_embed_from_grid", "get_2d_sincos_pos_embed_from_grid", "get_2d_sincos_pos_embed"], np=np)
patches = [[-1, -1]] + [[c, r] for r in range(4) for c in range(4)]
for dim in (4, 16):
    case("mae", dim, patches, ladder(dim // 4, 1, 10000, dim / 4), "sin", mae(dim, 4, add_cls_token=True), padding=-1, axes=2, roundings=0)

# ViTMAE of transformers now, which rounds the same to float32.
embeddings = ViTMAEEmbeddings(ViTMAEConfig(hidden_size=8, image_size=4, patch_size=1, num_channels=1))
embeddings.initialize_weights()
case("vitmae", 8, patches, ladder(2, 1, 10000, 2), "sin", embeddings.position_embeddings.detach()[0], padding=-1, axes=2, roundings=0)

# RT-DETR of transformers: rows before columns.
pixels = [[r, c] for r in range(3) for c in range(5)]
case("rtdetr", 12, pixels, ladder(3, 1, 10000, 3), "sin", build_2d_sinusoidal_position_embedding(3, 5, 12), axes=2, roundings=0)

# DETR of transformers, normalised, with a mask: two columns and a row of padding.
# Deformable DETR takes half a pixel from the counts first where it normalises.
height, width = 4, 5
mask = torch.zeros(1, height, width, dtype=torch.bool)
mask[:, :3, :3] = True
for embedding in (DetrSinePositionEmbedding, DeformableDetrSinePositionEmbedding):
    for normalize in (False, True):
        for m in (None, mask):
            scale = 2 * math.pi
            offset = 0.5 if normalize and embedding is DeformableDetrSinePositionEmbedding else 0
            rows = embedding.build_sine_position_embedding((1, 3, height, width), "cpu", torch.float32, 8, normalize, scale, 10000, m)[0]
            if rows.shape[0] == 16:
                rows = rows.permute(1, 2, 0)
            counted = (torch.ones_like(mask) if m is None else m).to(torch.float32)[0]
            y, x = counted.cumsum(0), counted.cumsum(1)
            if normalize:
                y = (y - offset) / (y[-1:, :] + 1e-6) * scale
                x = (x - offset) / (x[:, -1:] + 1e-6) * scale
            points = [[float(b), float(a)] for b, a in zip(y.ravel(), x.ravel())]
            case("detr", 16, points, ladder(4, 1, 10000, 4), "interleaved", rows.reshape(-1, 16), axes=2,
                 height=height, width=width, scale=scale if normalize else 0, offset=offset, masked=m is not None)
            cases[-1]["fractional"] = True

# MLX: nn.SinusoidalPositionalEncoding, in float32.
for dim, low, high, scale, cos, full in ((8, 1e-4, 1, None, False, False), (6, 0.01, 2, 1.5, True, False), (2, 1e-4, 1.25, None, False, False), (8, 1e-4, 1, None, True, True)):
    encoding = mlx.nn.SinusoidalPositionalEncoding(dim, low, high, scale, cos, full)
    rows = np.array(encoding(mlx.core.array(index, dtype=mlx.core.float32)))
    if full:
        low, high = 2 * math.pi * low, 2 * math.pi * high
    freq = [float(mpf(high) * (mpf(low) / mpf(high)) ** (mpf(k) / max(dim // 2 - 1, 1))) for k in range(dim // 2)]
    scaling = math.sqrt(2 / dim) if scale is None else scale
    case("mlx", dim, tokens, freq, "cos" if cos else "sin", rows, scaling=scaling,
         roundings=12, min=low, max=high, scale=scale or 0, cos_first=cos)

versions = {
    "python": sys.version.split()[0], "numpy": np.__version__, "torch": torch.__version__.split("+")[0],
    "transformers": transformers.__version__, "diffusers": diffusers.__version__, "mlx": mlx.core.__version__,
    "tensor2tensor": t2t, "transformers, earlier": earlier,
}
json.dump({"versions": versions, "cases": cases}, sys.stdout, indent=None, separators=(",", ":"))
print()
