"""Golden vectors: cosines, sines and rotations of engines, bit for bit.

Writes engines.json. "functions" has of each engine the cosines and sines of 10^7 angles as SHA-256 sums, one for each
million, and the first 512 of them as bits. Angle i is m*2^(i mod 24 - 27), where m is i*2654435761 modulo 2^24.
"rotations" are cases in the form of transformers.json, with the factor of YaRN or divisors of frequencies where there are any.
"powers" has powers of PyTorch: of each base the exponents i/32768, below 1, as a SHA-256 sum. With these versions and a CPU with AVX2
and FMA the file is the same byte for byte:

    python -m pip install numpy==2.4.6 torch==2.15.0 mlx==0.32.4 mlx-cpu==0.32.4 pywhispercpp==1.5.1 tinygrad==0.14.0
    python engines.py

pywhispercpp brings ggml 0.13.1 (f24588a) as shared libraries, from which ggml_rope_ext is called. cosf and
sinf are the C library's, glibc 2.36 here: a C compiler makes a loop over them.
"""

import ctypes
import glob
import hashlib
import json
import os
import pathlib
import platform
import shutil
import struct
import subprocess
import sysconfig
import tempfile

import mlx.core as mx
import numpy as np
import torch

os.environ["DEV"] = "CPU"
from tinygrad import Tensor  # noqa: E402

MILLION = 1_000_000
POSITIONS = list(range(60001, 60009))
NEAR = list(range(97, 105))
HEADS, DIM, BASE = 2, 64, 500000.0
DIVISORS = [1 + (k // 10) * 2.375 for k in range(DIM // 2)]
pointer = ctypes.c_void_p


def angles(first, n):
    i = np.arange(first, first + n, dtype=np.uint64)
    m = (i * np.uint64(2654435761)) & np.uint64(0xFFFFFF)
    return np.ldexp(m.astype(np.float64), (i % np.uint64(24)).astype(np.int32) - 27).astype(np.float32)


def glibc():
    folder = tempfile.mkdtemp()
    source, library = folder + "/loop.c", folder + "/loop.so"
    pathlib.Path(source).write_text(
        "#include <math.h>\n"
        "void loop(const float *x, float *c, float *s, long n) { for (long i = 0; i < n; i++) { c[i] = cosf(x[i]); s[i] = sinf(x[i]); } }\n"
    )
    subprocess.run(["cc", "-O1", "-fno-builtin", "-shared", "-fPIC", source, "-o", library, "-lm"], check=True)
    loop = ctypes.CDLL(library).loop
    loop.argtypes = [pointer, pointer, pointer, ctypes.c_long]

    def cos_sin(x):
        c, s = np.empty_like(x), np.empty_like(x)
        loop(x.ctypes.data, c.ctypes.data, s.ctypes.data, len(x))
        return c, s

    return cos_sin


def of_mlx(x):
    return np.array(mx.cos(mx.array(x))), np.array(mx.sin(mx.array(x)))


def candle(mode, x):
    """What the program in candle makes of float32."""
    folder = tempfile.gettempdir() + "/candle-tables"
    shutil.copytree(pathlib.Path(__file__).parent / "candle", folder, dirs_exist_ok=True)
    command = ["cargo", "run", "--quiet", "--release", "--manifest-path", folder + "/Cargo.toml", mode]
    return np.frombuffer(subprocess.run(command, input=x.tobytes(), stdout=subprocess.PIPE, check=True).stdout, np.float32)


def of_candle(x):
    return np.split(candle("functions", x), 2)


def of_tinygrad(x):
    return Tensor(x).cos().numpy(), Tensor(x).sin().numpy()


def torch_powers(base):
    """PyTorch's powers as a model has them: a number to the power of a tensor."""
    exponents = torch.arange(0, 65536, 2, dtype=torch.int64).float() / 65536
    return {"base": base, "powers": hashlib.sha256((base**exponents).numpy().astype("<f4").tobytes()).hexdigest()}


def function(name, version, cos_sin):
    blocks = []
    for first in range(0, 10 * MILLION, MILLION):
        c, s = cos_sin(angles(first, MILLION))
        blocks.append(hashlib.sha256(c.astype("<f4").tobytes() + s.astype("<f4").tobytes()).hexdigest())
    c, s = cos_sin(angles(0, MILLION))
    return {"name": name, "version": version, "blocks": blocks, "cos": bits(c[:512]), "sin": bits(s[:512])}


def inputs(n):
    """n float32: element i is ((i*2654435761 + 97) mod 2^24 - 2^23) / 2^21."""
    i = np.arange(n, dtype=np.int64)
    return (((i * 2654435761 + 97) % (1 << 24) - (1 << 23)) / (1 << 21)).astype(np.float32)


def bits(x):
    return "".join(struct.pack(">I", w).hex() for w in np.asarray(x, np.float32).view(np.uint32).reshape(-1).tolist())


def case(name, layout, rotate, factor=0, divisors=None, base=BASE, positions=POSITIONS):
    x = inputs(len(positions) * HEADS * DIM).reshape(len(positions), HEADS, DIM)
    return {
        "name": name, "type": "float32", "layout": layout, "head_dim": DIM, "heads": HEADS, "base": base, "factor": factor, "divisors": divisors,
        "positions": positions, "after": [bits(row) for row in rotate(x)],
    }


def rotate_mlx(traditional):
    def rotate(x):
        y = mx.fast.rope(mx.array(x.transpose(1, 0, 2)[None]), DIM, traditional=traditional, base=BASE, scale=1.0, offset=POSITIONS[0])
        return np.array(y)[0].transpose(1, 0, 2)

    return rotate


def rotate_numpy(x):
    frequencies = (1 / BASE ** (np.arange(0, DIM, 2) / DIM)).astype(np.float32)
    theta = np.outer(np.array(POSITIONS, np.float32), frequencies)[:, None, :]
    cos, sin = np.cos(theta), np.sin(theta)
    a, b = x[..., : DIM // 2], x[..., DIM // 2 :]
    return np.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)


def rotate_torch(x):
    """As transformers' Llama with cosines and sines in bfloat16: vLLM's cache."""
    frequencies = 1.0 / (25000.0 ** (torch.arange(0, DIM, 2, dtype=torch.int64).float() / DIM))
    theta = (frequencies[:, None] @ torch.tensor(POSITIONS).float()[None]).T[:, None]
    cos, sin = theta.cos().bfloat16().float(), theta.sin().bfloat16().float()
    a, b = torch.from_numpy(x).split(DIM // 2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1).numpy()


def rotate_tinygrad(x):
    """As tinygrad.llm.model."""
    frequencies = 1.0 / (BASE ** (Tensor.arange(0, DIM, 2)[: DIM // 2] / DIM))
    theta = Tensor.arange(NEAR[-1] + 1).unsqueeze(1) * frequencies.unsqueeze(0)
    cos, sin = theta.cos().cat(theta.sin(), dim=-1).clone("CPU")[NEAR[0] :].reshape(-1, 1, DIM).chunk(2, dim=-1)
    a, b = Tensor(x).chunk(2, dim=-1)
    return (a * cos - b * sin).cat(b * cos + a * sin, dim=-1).numpy()


class Params(ctypes.Structure):
    _fields_ = [("mem_size", ctypes.c_size_t), ("mem_buffer", pointer), ("no_alloc", ctypes.c_bool)]


def rotate_ggml(mode, factor=1, divisors=None):
    folder = sysconfig.get_paths()["purelib"] + "/pywhispercpp.libs/"
    lib = {n: ctypes.CDLL(glob.glob(folder + n + "-*")[0], mode=ctypes.RTLD_GLOBAL) for n in ("libgomp", "libggml-base", "libggml-cpu")}
    base, cpu = lib["libggml-base"], lib["libggml-cpu"]
    base.ggml_version.restype = ctypes.c_char_p
    assert base.ggml_version() == b"0.13.1"
    long, real = ctypes.c_int64, ctypes.c_float
    for name, result, arguments in (
        ("init", pointer, [Params]),
        ("new_tensor_3d", pointer, [pointer, ctypes.c_int, long, long, long]),
        ("new_tensor_1d", pointer, [pointer, ctypes.c_int, long]),
        ("get_data", pointer, [pointer]),
        ("rope_ext", pointer, [pointer] * 4 + [ctypes.c_int] * 3 + [real] * 6),
        ("new_graph", pointer, [pointer]),
        ("build_forward_expand", None, [pointer, pointer]),
    ):
        f = getattr(base, "ggml_" + name)
        f.restype, f.argtypes = result, arguments
    cpu.ggml_graph_compute_with_ctx.argtypes = [pointer, pointer, ctypes.c_int]

    def rotate(x):
        context = base.ggml_init(Params(64 << 20, None, False))
        tensor = base.ggml_new_tensor_3d(context, 0, DIM, HEADS, len(POSITIONS))
        ctypes.memmove(base.ggml_get_data(tensor), np.ascontiguousarray(x).ctypes.data, x.nbytes)
        positions = base.ggml_new_tensor_1d(context, 26, len(POSITIONS))
        p = np.array(POSITIONS, np.int32)
        ctypes.memmove(base.ggml_get_data(positions), p.ctypes.data, p.nbytes)
        factors = None
        if divisors:
            factors = base.ggml_new_tensor_1d(context, 0, len(divisors))
            d = np.array(divisors, np.float32)
            ctypes.memmove(base.ggml_get_data(factors), d.ctypes.data, d.nbytes)
        y = base.ggml_rope_ext(context, tensor, positions, factors, DIM, mode, 8192, BASE, 1 / factor, int(factor > 1), 1, 32, 1)
        graph = base.ggml_new_graph(context)
        base.ggml_build_forward_expand(graph, y)
        cpu.ggml_graph_compute_with_ctx(context, graph, 1)
        out = np.empty_like(x)
        ctypes.memmove(out.ctypes.data, base.ggml_get_data(y), out.nbytes)
        return out

    return rotate


def main():
    functions = [
        function("glibc", platform.libc_ver()[1], glibc()),
        function("numpy", np.__version__, lambda x: (np.cos(x), np.sin(x))),
        function("MLX", mx.__version__, of_mlx),
        function("candle", "0.11.1", of_candle),
        function("tinygrad", "0.14.0", of_tinygrad),
    ]
    rotations = [
        case("ggml 0.13.1 with glibc 2.36", "HalfSplit", rotate_ggml(2)),
        case("ggml 0.13.1 with glibc 2.36", "Interleaved", rotate_ggml(0)),
        case("ggml 0.13.1 with glibc 2.36", "HalfSplit", rotate_ggml(2, 6), 6),
        case("ggml 0.13.1 with glibc 2.36", "Interleaved", rotate_ggml(0, 1, DIVISORS), 0, DIVISORS),
        case("MLX 0.32.4 on a CPU", "HalfSplit", rotate_mlx(False)),
        case("MLX 0.32.4 on a CPU", "Interleaved", rotate_mlx(True)),
        case("numpy 2.4.6 in float32, on a CPU with AVX2", "HalfSplit", rotate_numpy),
        case("PyTorch 2.15.0's frequencies on a CPU with AVX2, rounded correctly, as in a type of 16 bits", "HalfSplit", rotate_torch, base=25000.0),
        case("candle 0.11.1 with glibc 2.36, in its models with powers of float64", "HalfSplit", lambda x: candle("rotate", x), base=25000.0),
        case("tinygrad 0.14.0 on a CPU with FMA, by clang 14", "HalfSplit", rotate_tinygrad, positions=NEAR),
    ]
    powers = [torch_powers(base) for base in (10000.0, 75000.0, 150000.0, 500000.0, 640000.0, 1e6, 5e6, 8e6, 1e7, 3.2e7, 1e8)]
    path = pathlib.Path(__file__).parent / "engines.json"
    path.write_text(json.dumps({"functions": functions, "rotations": rotations, "powers": powers}, indent=0) + "\n")


if __name__ == "__main__":
    main()
