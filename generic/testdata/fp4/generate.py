"""Golden vectors of MXFP4 and NVFP4.

    python3 generate.py            writes vectors.json: blocks by the formulas of OCP MX 1.0 and of torchao, with
                                   the casts to E2M1 and E4M3 of ml_dtypes, and their numbers. Numbers are
                                   hexadecimal bits, big-endian.
    python3 generate.py random     writes random.json: of the first 100,663,296 blocks of random in
                                   ../blocks/generate.py, the first 4 bytes of SHA-256 of what torchao makes
                                   of each 1,048,576, in a quarter of an hour

RCEIL gets them without the lower 16 bits, as bfloat16: torchao rounds logarithms in float32, which is wrong for
some float32. With the versions of requirements.txt the files are the same byte for byte.
"""

import hashlib
import importlib.metadata
import importlib.util
import json
import pathlib
import sys

import ml_dtypes
import numpy as np

E2M1, E4M3 = ml_dtypes.float4_e2m1fn, ml_dtypes.float8_e4m3fn


def bits(x):
    return x.astype(x.dtype.newbyteorder(">")).tobytes().hex()


def numbers():
    """Blocks of 32: ties of codes, largest magnitudes where the rules of the scale part, subnormal scales, zeros
    of both signs, the largest float32."""
    i = np.arange(24 * 32, dtype=np.int64)
    x = (((i * 2654435761 + 97) % (1 << 24) - (1 << 23)).astype(np.float32) / np.float32(1 << 21)).reshape(24, 32)
    ties = np.arange(32, dtype=np.float32) / 4 - 4
    x[1], x[2] = ties, -ties
    x[3] = np.nextafter(ties, np.float32(9))
    x[4] = np.nextafter(ties, np.float32(-9))
    for row, amax in enumerate([6, np.nextafter(np.float32(6), np.float32(7)), 7, np.nextafter(np.float32(7), np.float32(0)), 8, 3.5]):
        x[5 + row] *= np.float32(0.25)
        x[5 + row, 7 + row] = amax
    x[11] = 0
    x[11, ::2] = -0.0
    x[12] *= np.float32(2**-100) * np.float32(2**-24)
    x[13] *= np.float32(2**-100) * np.float32(2**-26)
    x[14] *= np.float32(2**-100) * np.float32(2**-45)
    x[15] *= np.float32(2**-9)
    x[16] *= np.float32(2**9)
    x[17] *= np.float32(2**124)
    x[17, 5] = np.finfo(np.float32).max
    x[18] *= np.exp2(np.arange(32) % 13 - 6).astype(np.float32)
    x[19] = np.ldexp(np.float32(6), np.arange(32) % 5 - 2)
    x[20] *= np.float32(1.5 * 2**-126)
    return x


def codes(y):
    return np.clip(y, -6, 6).astype(np.float32).astype(E2M1)


def packed(scale, code):
    q = code.view(np.uint8)
    return np.concatenate([scale.reshape(-1, 1), q[:, ::2] | q[:, 1::2] << 4], axis=1).tobytes().hex()


def mxfp4(x, rule):
    amax = np.abs(x).max(axis=1)
    if rule == "rceil":
        m, e = np.frexp((amax / np.float32(6)).astype(np.float64))
        e = np.where(m == 0.5, e - 1, e)
    else:
        e = ((amax.view(np.int32) + (1 << 21 if rule == "even" else 0)) >> 23) - 129
    e = np.where(amax == 0, -127, np.clip(e, -127, 127))
    code = codes(x.astype(np.float64) / np.ldexp(1.0, e)[:, None])
    with np.errstate(over="ignore"):
        values = (code.astype(np.float64) * np.ldexp(1.0, e)[:, None]).astype(np.float32)
    return {"blocks": packed((e + 127).astype(np.uint8), code), "values": bits(values)}


def nvfp4(x):
    x = x.reshape(-1, 16)
    amax = np.abs(x).max(axis=1)
    scale = np.clip(amax / np.float32(6), np.float32(2**-6), np.float32(448)).astype(E4M3)
    wide = scale.astype(np.float32)
    code = codes(x * (np.float32(1) / wide)[:, None])
    return {"blocks": packed(scale.view(np.uint8), code), "values": bits(code.astype(np.float32) * wide[:, None])}


CHUNKS, CHUNK, CALL = 96, 1 << 20, 1 << 15  # digests, blocks of a digest and of a call


def digests():
    import torch
    from torchao.prototype.mx_formats.config import ScaleCalculationMode
    from torchao.prototype.mx_formats.mx_tensor import to_mx
    from torchao.prototype.mx_formats.nvfp4_tensor import nvfp4_quantize

    here = pathlib.Path(__file__)
    spec = importlib.util.spec_from_file_location("blocks", here.parent.parent / "blocks" / "generate.py")
    blocks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(blocks)
    upper = lambda x: (x.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
    mx = lambda mode: lambda x: to_mx(x, torch.float4_e2m1fn_x2, 32, mode)
    rules = {
        "mxfp4floor": lambda x: mx(ScaleCalculationMode.FLOOR)(torch.from_numpy(x)),
        "mxfp4rceil": lambda x: mx(ScaleCalculationMode.RCEIL)(torch.from_numpy(upper(x))),
        "mxfp4even": lambda x: mx(ScaleCalculationMode.EVEN)(torch.from_numpy(x)),
        "nvfp4": lambda x: nvfp4_quantize(torch.from_numpy(x)),
    }
    result = {"chunk": CHUNK, "digests": {name: "" for name in rules}}
    for chunk in range(CHUNKS):
        sums = {name: hashlib.sha256() for name in rules}
        for first in range(chunk * CHUNK, (chunk + 1) * CHUNK, CALL):
            x = np.ascontiguousarray(blocks.random(first, CALL))
            for name, rule in rules.items():
                scale, code = rule(x)
                scale = scale.view(torch.uint8).numpy().reshape(-1, 1)
                sums[name].update(np.concatenate([scale, code.numpy().reshape(len(scale), -1)], axis=1).tobytes())
        for name in rules:
            result["digests"][name] += sums[name].hexdigest()[:8]
        here.with_name("random.json").write_text(json.dumps(result, indent=1) + "\n")


def main():
    if sys.argv[1:] == ["random"]:
        digests()
        return
    x = numbers()
    result = {"versions": {p: importlib.metadata.version(p) for p in ("ml_dtypes", "numpy")}, "x": bits(x)}
    for rule in ("floor", "rceil", "even"):
        result["mxfp4" + rule] = mxfp4(x, rule)
    result["nvfp4"] = nvfp4(x)
    text = json.dumps(result, indent=1) + "\n"
    pathlib.Path(__file__).with_name("vectors.json").write_text(text)


if __name__ == "__main__":
    main()
