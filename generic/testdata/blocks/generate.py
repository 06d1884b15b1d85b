"""Golden vectors: what ggml's reference makes of numbers in 4 and 5 bits.

Writes vectors.json: blocks of each format by quantize_row_*_ref of the libggml-base that the
package pywhispercpp has, and what dequantize_row_* reads. Numbers are hexadecimal bits, big-endian.
What C leaves undefined is not among them. With the versions of requirements.txt the file is the same
byte for byte.

    python3 generate.py
"""

import ctypes
import importlib.metadata
import json
import pathlib

import numpy as np

FORMATS = {"q4_0": 18, "q4_1": 20, "q5_0": 22, "q5_1": 24, "iq4_nl": 18}


def bits(x):
    return x.astype(x.dtype.newbyteorder(">")).tobytes().hex()


def numbers():
    """Blocks of one size and of many, with equal magnitudes of both signs, halves, zeros of both signs, scales
    that float16 rounds to subnormal numbers, zero and infinity."""
    i = np.arange(16 * 32, dtype=np.int64)
    x = (((i * 2654435761 + 97) % (1 << 24) - (1 << 23)).astype(np.float32) / np.float32(1 << 21)).reshape(16, 32)
    halves = np.arange(32, dtype=np.float32) / 2 - 8
    x[1] = halves
    x[2] = -halves
    x[3] = np.where(np.arange(32) % 2 == 0, 3, -3)
    x[4] = -x[3]
    x[5] = np.abs(x[5])
    x[5, 20] = -0.0
    x[5, 25] = 0
    x[6] += 100
    x[7] = 5
    x[8] *= np.float32(2**-16)
    x[9] *= np.float32(2**-40)
    x[10] *= np.float32(2**19)
    x[11] *= np.exp2(np.arange(32) % 13 - 6).astype(np.float32)
    x[12] = np.where(np.arange(32) % 3 == 0, -1, np.arange(32) / 32)
    x[13] = -np.abs(x[13])
    return x


def main():
    package = importlib.metadata.distribution("pywhispercpp")
    library = next(f for f in package.files if f.name.startswith("libggml-base") and f.name.endswith(".so.0"))
    ggml = ctypes.CDLL(str(package.locate_file(library)))
    x = numbers()
    result = {"versions": {p: importlib.metadata.version(p) for p in ("numpy", "pywhispercpp")}, "x": bits(x)}
    for name, size in FORMATS.items():
        blocks, values = np.zeros(16 * size, np.uint8), np.zeros_like(x)
        n = ctypes.c_int64(x.size)
        getattr(ggml, f"quantize_row_{name}_ref")(ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(blocks.ctypes.data), n)
        getattr(ggml, f"dequantize_row_{name}")(ctypes.c_void_p(blocks.ctypes.data), ctypes.c_void_p(values.ctypes.data), n)
        result[name] = {"blocks": blocks.tobytes().hex(), "values": bits(values)}
    text = json.dumps(result, indent=1) + "\n"
    pathlib.Path(__file__).with_name("vectors.json").write_text(text)


if __name__ == "__main__":
    main()
