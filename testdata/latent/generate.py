"""Golden vectors: the bytes of caches of latent attention, by the formulas of the engines.

    python3 generate.py            writes vectors.json: bytes of a page, and what they are read as
    python3 generate.py random     writes random.json: of 10,035,200 random tokens the first 4 bytes of
                                   SHA-256 of each 20,480, in 20 minutes;
                                   as float32 of the first 1,003,520

Both take the formulas of FlashMLA (tests/quant.py), of DeepSeek's act_quant and of vLLM (csrc/cache_kernels.cu):
quotients, largest magnitudes and casts in numpy and ml_dtypes. Powers of two come from frexp, which is
exact, where the engines round a logarithm. Rotations are pairs of neighbours by base 10000, in float32.
Numbers are hexadecimal bytes. With the versions of requirements.txt the files are the same byte for byte.
"""

import hashlib
import importlib.metadata
import json
import pathlib
import sys

import ml_dtypes
import numpy as np

E4M3 = ml_dtypes.float8_e4m3fn
BF16 = ml_dtypes.bfloat16
F32 = np.float32
PAGE = 64


def splitmix(i):
    """The numbers of splitmix64 for states i, a uint64 array."""
    with np.errstate(over="ignore"):
        z = (i + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def inputs(first, tokens):
    """Tokens of 576 bfloat16. 64 neighbours have exponents up to one of their own, which is from 2^-42 to
    2^21; in one group of 64 all are zeros."""
    t = np.arange(first, first + tokens, dtype=np.uint64)[:, None]
    of_group = splitmix(np.uint64(1 << 40) + t * np.uint64(9) + np.arange(9, dtype=np.uint64)[None, :])
    top = (of_group & np.uint64(63)) + np.uint64(85)
    top = np.repeat(np.where(of_group >> np.uint64(58) == 0, np.uint64(0), top), 64, axis=1)
    h = splitmix(t * np.uint64(576) + np.arange(576, dtype=np.uint64)[None, :])
    below = (h >> np.uint64(8)) & np.uint64(15) & (h >> np.uint64(16))
    mantissa = np.where(top == 0, np.uint64(0), h & np.uint64(127))
    bits = (h >> np.uint64(63)) << np.uint64(15) | np.where(top == 0, np.uint64(0), top - below) << np.uint64(7) | mantissa
    return bits.astype(np.uint16).view(BF16)


def wide(x, first):
    """Tokens of inputs as 576 float32, with 16 more bits of the mantissa."""
    x = x.view(np.uint16).astype(np.uint32) << 16
    t = np.arange(first, first + len(x), dtype=np.uint64)[:, None]
    h = splitmix(t * np.uint64(576) + np.arange(576, dtype=np.uint64)[None, :]) >> np.uint64(24) & np.uint64(0xFFFF)
    return np.where(x << 1 == 0, x, x | h.astype(np.uint32)).view(F32)


def rotated(x, first):
    """The last 64 numbers of each token, as neighbours that token t rotates by position t mod 32."""
    angle = np.arange(32, dtype=np.float64)[:, None] * np.power(10000.0, -np.arange(32) / 32)[None, :]
    at = (np.arange(first, first + len(x))) % 32
    c, s = np.cos(angle).astype(F32)[at], np.sin(angle).astype(F32)[at]
    a, b = x[:, -64::2].astype(F32), x[:, -63::2].astype(F32)
    y = np.empty((len(x), 64), F32)
    y[:, 0::2], y[:, 1::2] = a * c - b * s, b * c + a * s
    return y


def power(s):
    """The least power of two that is not below s."""
    mantissa, exponent = np.frexp(s)
    return np.ldexp(F32(1), np.where(mantissa == F32(0.5), exponent - 1, exponent)).astype(F32)


RULES = {
    "FloorAmax": lambda amax: power(np.maximum(amax, F32(1e-4)) / F32(448)),
    "FloorScale": lambda amax: power(np.maximum(amax / F32(448), F32(1e-4))),
    "Float32Scale": lambda amax: np.maximum(amax / F32(448), F32(2.0**-126)),
}


def codes(x, group, rule):
    x = x.astype(F32).reshape(len(x), -1, group)
    scale = RULES[rule](np.abs(x).max(axis=2))
    return (x / scale[:, :, None]).astype(E4M3).reshape(len(x), -1).view(np.uint8), scale


def cast(x):
    """To bfloat16, as bytes."""
    return x.astype(BF16).view(np.uint8).reshape(len(x), -1)


def v32(x, first, rule):
    code, scale = codes(x[:, :512], 128, rule)
    return np.concatenate([code, scale.view(np.uint8).reshape(len(x), -1), cast(rotated(x, first))], axis=1).tobytes()


def v4(x, first, rule):
    x = x[:, 64:].astype(BF16)
    code, scale = codes(x[:, :448], 64, rule)
    bytes_of = np.zeros((len(x), 8), np.uint8)
    bytes_of[:, :7] = scale.view(np.uint32) >> 23
    record = np.concatenate([code, cast(rotated(x, first))], axis=1)
    pages = []
    for page in range(0, len(x), PAGE):
        data = record[page : page + PAGE].tobytes() + bytes_of[page : page + PAGE].tobytes()
        pages.append(data + bytes(-len(data) % 576))
    return b"".join(pages)


def indexer(x, first, rule):
    x = np.concatenate([x[:, 448:512].astype(F32), rotated(x, first)], axis=1)
    code, scale = codes(x, 128, rule)
    return b"".join(code[page : page + PAGE].tobytes() + scale[page : page + PAGE].tobytes() for page in range(0, len(x), PAGE))


def flat(x, first, rule):
    x = np.concatenate([x[:, :512].astype(F32), rotated(x, first)], axis=1)
    if rule:
        return np.clip(x * F32(rule), F32(-448), F32(448)).astype(E4M3).tobytes()
    return x.astype(BF16).tobytes()


CASES = [(v32, "DeepSeekV32", rule) for rule in RULES]
CASES += [(v4, "DeepSeekV4", rule) for rule in ("FloorAmax", "FloorScale")]
CASES += [(indexer, "DeepSeekIndexer", "FloorAmax"), (indexer, "DeepSeekIndexer", "Float32Scale")]
FLAT = [(flat, "LatentE4M3", 37.5), (flat, "LatentBFloat16", 0)]


def hard(tokens):
    """float32 at the edges of rules: largest magnitudes at and next to 448*2^k, and at the floors."""
    x = inputs(7, tokens).astype(F32)
    edge = F32(448) * np.ldexp(F32(1), np.arange(tokens * 9) % 60 - 40).astype(F32)
    floors = np.array([1e-4, 448e-4, 448 * 2.0**-13, 448 * 2.0**-22, 2.0**-126, 448 * 2.0**-126, 0], F32)
    edge[: 3 * len(floors)] = np.repeat(floors, 3)
    edge = np.where(np.arange(len(edge)) % 3 == 1, np.nextafter(edge, F32(np.inf)), edge)
    edge = np.where(np.arange(len(edge)) % 3 == 2, np.nextafter(edge, F32(0)), edge)
    group = x[:, :512].reshape(tokens, 8, 64)
    edge = edge.reshape(tokens, 9)[:, :8, None]
    group *= np.ldexp(F32(1), -60)
    scaled = np.abs(group).max(axis=2, keepdims=True)
    group *= np.where(scaled > 0, edge / np.maximum(scaled, F32(2.0**-149)), F32(0)) * F32(0.9)
    group[:, :, 5:6] = edge
    group[:, :, 6:7] = -edge / F32(448) * (np.arange(8)[None, :, None] + F32(0.5)) * F32(2)  # halves between codes
    return x


def vectors():
    cases = []
    for name, x in (("bfloat16", inputs(0, 3).astype(F32)), ("float32", hard(5))):
        for f, layout, rule in CASES + FLAT:
            cases.append({"name": name, "format": layout, "rule": str(rule), "bytes": f(x, 0, rule).hex()})
        if name == "float32":
            cases.append({"name": name, "format": "inputs", "rule": "", "bytes": x.tobytes().hex()})
    return cases


def random():
    chunk, chunks = 20480, 490
    cases = [(*c, "") for c in CASES] + [(*c, " float32") for c in CASES if c[0] != v4]
    digests = dict.fromkeys([layout + " " + rule + source for _, layout, rule, source in cases], "")
    for i in range(chunks):
        x = inputs(i * chunk, chunk)
        tokens = {"": x, " float32": wide(x, i * chunk)}
        for f, layout, rule, source in cases if i < 49 else cases[: len(CASES)]:
            digests[layout + " " + rule + source] += hashlib.sha256(f(tokens[source], i * chunk, rule)).hexdigest()[:8]
        print(i, flush=True)
    return {"tokens": chunk * chunks, "chunk": chunk, "digests": digests}


def main():
    folder = pathlib.Path(__file__).parent
    versions = {name: importlib.metadata.version(name) for name in ("numpy", "ml_dtypes")}
    if sys.argv[1:] == ["random"]:
        (folder / "random.json").write_text(json.dumps({"versions": versions, **random()}, indent=1) + "\n")
        return
    (folder / "vectors.json").write_text(json.dumps({"versions": versions, "cases": vectors()}, indent=1) + "\n")


if __name__ == "__main__":
    main()
