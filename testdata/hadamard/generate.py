"""Golden vectors: the Hadamard transform of ggml, and its bytes of Q8_0 after it.

Writes vectors.json: for each block the transformed numbers as hexadecimal float32, and
the bytes of their blocks of Q8_0, which the package gguf of llama.cpp makes. Inputs are the
formula of testdata/rmsnorm/generate.py. The steps are those of ggml's
ggml_compute_forward_fwht_f32 (ggml/src/ggml-cpu/ops.cpp, read in 2026), in float32: the
factor 1.0f/sqrtf(n) first, then sums and differences at distances 1, 2, 4, ...

    python3 generate.py
"""

import importlib.metadata
import json
import pathlib

import gguf
import numpy as np


def inputs(n):
    i = np.arange(n, dtype=np.int64)
    return ((i * 2654435761 + 97) % (1 << 24) - (1 << 23)).astype(np.float32) / np.float32(1 << 21)


def fwht(x):
    n = len(x)
    x = x * (np.float32(1) / np.sqrt(np.float32(n)))
    assert x.dtype == np.float32
    h = 1
    while h < n:
        u, v = np.split(x.reshape(-1, 2, h), 2, axis=1)
        x = np.concatenate([u + v, u - v], axis=1).reshape(n)
        h *= 2
    return x


cases = []
for block in (32, 64, 128, 256, 512):
    y = fwht(inputs(block))
    q8 = gguf.quants.quantize(y, gguf.GGMLQuantizationType.Q8_0)
    cases.append({"block": block, "float32": y.astype(">f4").tobytes().hex(), "q8_0": q8.tobytes().hex()})
versions = {p: importlib.metadata.version(p) for p in ("gguf", "numpy")}
text = json.dumps({"versions": versions, "cases": cases}, indent=1)
pathlib.Path(__file__).with_name("vectors.json").write_text(text + "\n")
