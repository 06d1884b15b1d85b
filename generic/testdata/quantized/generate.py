"""Golden vectors: what ml_dtypes and gguf make of numbers in 8 bits.

Writes vectors.json: the values of all codes of E4M3FN and E5M2; float32 next to all
midpoints of codes, clamped, and their codes; blocks of Q8_0 and what they are read as;
rows with a scale, by numpy's float32. Numbers are hexadecimal bits, big-endian. With the
versions of requirements.txt the file is the same byte for byte.

    python3 generate.py
"""

import importlib.metadata
import json
import pathlib

import ml_dtypes
import numpy as np
from gguf import GGMLQuantizationType
from gguf.quants import dequantize, quantize

FORMATS = {"e4m3": (ml_dtypes.float8_e4m3fn, 448), "e5m2": (ml_dtypes.float8_e5m2, 57344)}


def inputs(n):
    """n float32: element i is ((i*2654435761 + 97) mod 2^24 - 2^23) / 2^21."""
    i = np.arange(n, dtype=np.int64)
    return (((i * 2654435761 + 97) % (1 << 24) - (1 << 23)).astype(np.float32)) / np.float32(1 << 21)


def bits(x):
    return x.astype(x.dtype.newbyteorder(">")).tobytes().hex()


def hard(dtype, largest):
    """float32 at and next to all codes and midpoints of codes, and extremes."""
    values = np.arange(256, dtype=np.uint8).view(dtype).astype(np.float32)
    values = np.unique(np.abs(values[np.isfinite(values)]))
    x = np.concatenate([values, (values[:-1] + values[1:]) / np.float32(2)])
    x = np.concatenate([x, np.nextafter(x, np.float32(0)), np.nextafter(x, np.float32(np.inf))])
    extremes = np.array([np.inf, 3.4028235e38, 1e-45, 1.1754944e-38, largest * 1.0625, largest * 1.07], np.float32)
    x = np.concatenate([x, extremes])
    return np.concatenate([x, -x])


def clamped(x, dtype, largest):
    return np.clip(x, np.float32(-largest), np.float32(largest)).astype(dtype).view(np.uint8)


def blocks():
    """Rows of 256 numbers: of one size, of many sizes, with zeros, with halves to round."""
    x = inputs(16 * 256).reshape(16, 256)
    scales = np.exp2(np.arange(16) - 8).astype(np.float32)
    x = x * scales[:, None]
    x[3, 32:64] = 0
    x[4] *= np.exp2(np.arange(256) % 13 - 6).astype(np.float32)
    halves = np.arange(256, dtype=np.float32) / 2 - 63.5
    halves[::32] = 127
    x[5] = halves
    x[6] = -halves * np.float32(0.25)
    return x


def rows(x, largest):
    """Scales of rows and the quotients by them."""
    amax = np.abs(x).max(axis=1)
    scale = np.maximum(amax / np.float32(largest), np.float32(1e-6))
    return scale, (x / scale[:, None]).astype(np.float32)


def main():
    result = {"versions": {p: importlib.metadata.version(p) for p in ("gguf", "ml_dtypes", "numpy")}}
    for name, (dtype, largest) in FORMATS.items():
        x = hard(dtype, largest)
        values = np.arange(256, dtype=np.uint8).view(dtype).astype(np.float32)
        result[name] = {"values": bits(values), "x": bits(x), "codes": clamped(x, dtype, largest).tobytes().hex()}
    x = blocks()
    q8 = quantize(x, GGMLQuantizationType.Q8_0)
    int8_scale, quotient = rows(x, 127)
    e4m3_scale, e4m3_quotient = rows(x, 448)
    result["rows"] = {
        "x": bits(x),
        "q8_0": q8.tobytes().hex(),
        "q8_0_values": bits(dequantize(q8, GGMLQuantizationType.Q8_0)),
        "int8_scales": bits(int8_scale),
        "int8": np.clip(np.rint(quotient), -128, 127).astype(np.int8).tobytes().hex(),
        "e4m3_scales": bits(e4m3_scale),
        "e4m3": clamped(e4m3_quotient, ml_dtypes.float8_e4m3fn, 448).tobytes().hex(),
    }
    text = json.dumps(result, indent=1) + "\n"
    pathlib.Path(__file__).with_name("vectors.json").write_text(text)


if __name__ == "__main__":
    main()
