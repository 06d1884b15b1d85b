"""Golden vectors: what ggml's reference makes of numbers in 4, 5 and 8 bits.

    python3 generate.py            writes vectors.json: blocks of 4 and 5 bits by quantize_row_*_ref of the
                                   libggml-base that the package pywhispercpp has, and what dequantize_row_*
                                   reads. Numbers are hexadecimal bits, big-endian.
    python3 generate.py random     writes random.json: of 1,000,341,504 random blocks of each format, and
                                   of Q8_0, the first 4 bytes of SHA-256 of each 1,048,576, in an hour

What C leaves undefined is not among the numbers. With the versions of requirements.txt the files are the same
byte for byte.
"""

import ctypes
import hashlib
import importlib.metadata
import json
import pathlib
import sys

import numpy as np

FORMATS = {"q4_0": 18, "q4_1": 20, "q5_0": 22, "q5_1": 24, "iq4_nl": 18}
SIZES = FORMATS | {"q8_0": 34}


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


CHUNK, CALL = 1 << 20, 1 << 15  # blocks of a digest, and of a call of the reference
CHUNKS = 954


def splitmix(i):
    """The numbers of splitmix64 for states i, a uint64 array."""
    with np.errstate(over="ignore"):
        z = (i + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def random(first, blocks):
    """Blocks with exponents up to one of their own, from 2^-30 to 2^17. Bits 56 to 58 of the block's
    number say which they are: of few significands, so that magnitudes are equal with both signs; next to
    midpoints between sixteenths, the first number a power of two; with zeros of both signs; beside a number
    that is added to all; or of all significands."""
    i = np.arange(first, first + blocks, dtype=np.uint64)
    own = splitmix(np.uint64(1 << 40) + i)
    kind = (own >> np.uint64(56) & np.uint64(7)).astype(np.uint32)[:, None]
    top = (own & np.uint64(0xFFFF)).astype(np.uint32)[:, None] % np.uint32(48) + np.uint32(97)
    h = splitmix((i * np.uint64(16))[:, None] + np.arange(16, dtype=np.uint64)[None, :])
    h = h.view(np.uint32).reshape(blocks, 32)
    below = (h >> np.uint32(23)) & (h >> np.uint32(27)) & np.uint32(15)
    significand = h & np.uint32(0x7FFFFF)
    significand = np.where(kind == 0, significand & np.uint32(0x600000), significand)
    midpoint = (significand & np.uint32(0x780000)) + np.uint32(0x3FFFF) + significand % np.uint32(3)
    significand = np.where(kind == 1, midpoint, significand)
    bits = (h & np.uint32(1 << 31)) | (top - below) << np.uint32(23) | significand
    bits[:, 0] = np.where(kind[:, 0] == 1, bits[:, 0] & np.uint32(1 << 31) | (top[:, 0] + np.uint32(1)) << np.uint32(23), bits[:, 0])
    bits[:, 1:] = np.where((kind == 2) & (h[:, 1:] & np.uint32(7) != 0), h[:, 1:] & np.uint32(1 << 31), bits[:, 1:])
    x = bits.view(np.float32)
    return np.where(kind == 3, x + (top << np.uint32(23)).view(np.float32), x)


def digests(ggml):
    """Continues random.json, which is written after each chunk."""
    path = pathlib.Path(__file__).with_name("random.json")
    result = json.loads(path.read_text()) if path.exists() else {"chunk": CHUNK, "digests": {name: "" for name in SIZES}}
    for chunk in range(len(result["digests"]["q8_0"]) // 8, CHUNKS):
        sums = {name: hashlib.sha256() for name in SIZES}
        for first in range(chunk * CHUNK, (chunk + 1) * CHUNK, CALL):
            x = np.ascontiguousarray(random(first, CALL))
            for name, size in SIZES.items():
                y = np.zeros(CALL * size, np.uint8)
                getattr(ggml, f"quantize_row_{name}_ref")(ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(y.ctypes.data), ctypes.c_int64(x.size))
                sums[name].update(y)
        for name in SIZES:
            result["digests"][name] += sums[name].hexdigest()[:8]
        path.write_text(json.dumps(result, indent=1) + "\n")


def main():
    package = importlib.metadata.distribution("pywhispercpp")
    library = next(f for f in package.files if f.name.startswith("libggml-base") and f.name.endswith(".so.0"))
    ggml = ctypes.CDLL(str(package.locate_file(library)))
    if sys.argv[1:] == ["random"]:
        digests(ggml)
        return
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
