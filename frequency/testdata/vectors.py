"""Writes vectors.json: ladders of published and random parameters.

    python vectors.py > vectors.json        (versions: requirements.txt)

"exact" evaluates each rule's equation by mpmath with 300 bits and rounds once;
the same with 450 bits must give the same. "float32" repeats the operations of
transformers 5.23.0 (modeling_rope_utils.py) and, for ntk and ntk_mixed, of
vLLM, each in the precision that torch uses, with powers, logarithms and
exponentials correctly rounded by mpmath. Floats are written as C99 hex.
"""

import json
import math
import random
import sys
from fractions import Fraction

import numpy as np
from mpmath import mp, mpf

f32 = np.float32
np.seterr(all="ignore")


def to_fraction(x):
    sign, man, exp, _ = mpf(x)._mpf_
    value = Fraction(int(man)) * Fraction(2) ** int(exp)
    return -value if sign else value


def nearest(x):
    """float64 nearest to x; Python rounds the quotient of two integers once."""
    q = to_fraction(x)
    return q.numerator / q.denominator


def nearest32(x):
    """float32 nearest to x > 0 in the normal range, without double rounding."""
    q = to_fraction(x)
    exponent = math.frexp(nearest(x))[1]
    ulp = Fraction(2) ** (max(exponent, -125) - 24)
    return f32(float(round(q / ulp) * ulp))


def pow32(x, y):
    return nearest32(mpf(float(x)) ** mpf(float(y)))


# The equations.


def inverse(base, i, dim):
    return mpf(base) ** (-mpf(2 * i) / dim)


def default(dim, base):
    return [inverse(base, i, dim) for i in range(dim // 2)], 1, 1


def linear(dim, base, factor):
    return [inverse(base, i, dim) / mpf(factor) for i in range(dim // 2)], 1, 1


def dynamic(dim, base, factor, max_positions, seq_len):
    n = max(max_positions, seq_len)
    stretch = mpf(factor) * n / max_positions - (mpf(factor) - 1)
    new = mpf(base) * stretch ** (mpf(dim) / (dim - 2))
    return [inverse(new, i, dim) for i in range(dim // 2)], 1, 1


def ntk(dim, base, factor):
    new = mpf(base) * mpf(factor)
    return [inverse(new, i, dim) / mpf(factor) ** (mpf(2) / dim) for i in range(dim // 2)], 1, 1


def ntk_mixed(dim, base, factor, mixed_b):
    a = mp.log(mpf(factor)) / (mpf(dim) / 2) ** mpf(mixed_b)
    return [inverse(base, i, dim) / mp.exp(a * mpf(i + 1) ** mpf(mixed_b)) for i in range(dim // 2)], 1, 1


def ntk_alpha(dim, base, alpha):
    new = mpf(base) * mpf(alpha) ** (mpf(dim) / (dim - 2))
    return [inverse(new, i, dim) for i in range(dim // 2)], 1, 1


def yarn(dim, base, factor, original, beta_fast=32, beta_slow=1, untruncated=False, extrapolation=1,
         attention_factor=0, mscale=0, mscale_all_dim=0, multiplier=1, scale_softmax=False, logarithmic=False):
    s = mpf(factor)

    def corner(turns):
        return dim * mp.log(original / (2 * mp.pi * mpf(turns))) / (2 * mp.log(mpf(base)))

    low, high = corner(beta_fast), corner(beta_slow)
    if not untruncated:
        low, high = mp.floor(low), mp.ceil(high)
    low, high = max(low, mpf(0)), min(high, mpf(dim - 1))
    if low == high:
        high += mpf(1) / 1000
    frequencies = []
    for i in range(dim // 2):
        ramp = min(max((i - low) / (high - low), mpf(0)), mpf(1))
        keep = (1 - ramp) * mpf(extrapolation)
        w = inverse(base, i, dim)
        frequencies.append(w * s ** (keep - 1) if logarithmic else w / s * (1 - keep) + w * keep)

    def g(m):
        return mpf(1) if s <= 1 else 1 + mpf(m) * mp.log(s) / 10

    scaling = mpf(attention_factor)
    if not attention_factor:
        scaling = g(mscale) / g(mscale_all_dim) if mscale and mscale_all_dim else g(1)
    return frequencies, scaling * mpf(multiplier), g(mscale_all_dim) ** 2 if scale_softmax else 1


def longrope(dim, base, short, long, original, factor, seq_len, short_attention=0, long_attention=0):
    factors, attention = (long, long_attention) if seq_len > original else (short, short_attention)
    scaling = mpf(attention)
    if not attention:
        scaling = mpf(1) if factor <= 1 else mp.sqrt(1 + mp.log(mpf(factor)) / mp.log(mpf(original)))
    return [inverse(base, i, dim) / mpf(factors[i]) for i in range(dim // 2)], scaling, 1


def llama3(dim, base, factor, low, high, original):
    s, low, high = mpf(factor), mpf(low), mpf(high)
    frequencies = []
    for i in range(dim // 2):
        w = inverse(base, i, dim)
        wavelength = 2 * mp.pi / w
        if wavelength < original / high:
            frequencies.append(w)
        elif wavelength > original / low:
            frequencies.append(w / s)
        else:
            t = (original / wavelength - low) / (high - low)
            frequencies.append((1 - t) * w / s + t * w)
    return frequencies, 1, 1


def proportional(dim, base, partial, factor):
    rotated = int(partial * dim // 2)
    return [inverse(base, i, dim) / mpf(factor) if i < rotated else mpf(0) for i in range(dim // 2)], 1, 1


def factors(dim, base, factors):
    return [inverse(base, i, dim) / mpf(factors[i]) for i in range(dim // 2)], 1, 1


# The operations of the references. A number that meets a float32 tensor is
# rounded to float32; a number divided by a tensor is its product with the
# tensor's reciprocal.


def powers32(base, dim, n=None):
    return [pow32(f32(base), f32(2 * i) / f32(dim)) for i in range(dim // 2 if n is None else n)]


def default32(dim, base):
    return [f32(1) / p for p in powers32(base, dim)], 1.0, 1.0


def linear32(dim, base, factor):
    return [f32(1) / p / f32(factor) for p in powers32(base, dim)], 1.0, 1.0


def dynamic32(dim, base, factor, max_positions, seq_len):
    if seq_len > max_positions:
        stretch = f32(factor) * f32(seq_len) / f32(max_positions) - f32(factor - 1)
        base = f32(base) * nearest32(mpf(float(stretch)) ** mpf(dim / (dim - 2)))
    else:
        base = base * ((factor * max_positions / max_positions) - (factor - 1)) ** (dim / (dim - 2))
    return default32(dim, float(base))


def ntk32(dim, base, factor):
    return [f32(1) / p / f32(factor ** (2 / dim)) for p in powers32(base * factor, dim)], 1.0, 1.0


def ntk_mixed32(dim, base, factor, mixed_b):
    a = nearest32(mp.log(mpf(float(f32(factor))))) / f32((dim / 2) ** mixed_b)
    divisors = [nearest32(mp.exp(mpf(float(a * pow32(i + 1, f32(mixed_b)))))) for i in range(dim // 2)]
    return [f32(1) / p / d for p, d in zip(powers32(base, dim), divisors)], 1.0, 1.0


def ntk_alpha32(dim, base, alpha):
    return default32(dim, base * alpha ** (dim / (dim - 2)))


def yarn32(dim, base, factor, original, beta_fast=32, beta_slow=1, untruncated=False, extrapolation=1,
           attention_factor=0, mscale=0, mscale_all_dim=0, multiplier=1, scale_softmax=False, logarithmic=False):
    def corner(turns):
        return (dim * math.log(original / (turns * 2 * math.pi))) / (2 * math.log(base))

    low, high = corner(beta_fast), corner(beta_slow)
    if not untruncated:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, dim - 1)
    if low == high:
        high += 0.001
    frequencies = []
    for i, p in enumerate(powers32(base, dim)):
        extrapolated = f32(1) / p
        interpolated = f32(1) / (f32(factor) * p)
        ramp = np.clip((f32(i) - f32(low)) / f32(high - low), f32(0), f32(1))
        keep = (f32(1) - ramp) * f32(extrapolation)
        mixed = interpolated * (f32(1) - keep) + extrapolated * keep
        if logarithmic:
            logs = [nearest32(mp.log(mpf(float(w)))) for w in (extrapolated, interpolated)]
            mixed = nearest32(mp.exp(mpf(float(logs[0] * keep + logs[1] * (f32(1) - keep)))))
        frequencies.append(mixed)

    def g(m):
        return 1.0 if factor <= 1 else 0.1 * m * math.log(factor) + 1.0

    scaling = attention_factor
    if not attention_factor:
        scaling = g(mscale) / g(mscale_all_dim) if mscale and mscale_all_dim else g(1)
    return frequencies, scaling * multiplier, g(mscale_all_dim) * g(mscale_all_dim) if scale_softmax else 1.0


def longrope32(dim, base, short, long, original, factor, seq_len, short_attention=0, long_attention=0):
    factors, attention = (long, long_attention) if seq_len > original else (short, short_attention)
    scaling = attention
    if not attention:
        scaling = 1.0 if factor <= 1 else math.sqrt(1 + math.log(factor) / math.log(original))
    return [f32(1) / (f32(d) * p) for d, p in zip(factors, powers32(base, dim))], scaling, 1.0


def llama332(dim, base, factor, low, high, original):
    frequencies = []
    for p in powers32(base, dim):
        w = f32(1) / p
        wavelength = f32(1) / w * f32(2 * math.pi)
        scaled = w / f32(factor) if wavelength > f32(original / low) else w
        if not wavelength < f32(original / high) and not wavelength > f32(original / low):
            t = (f32(1) / wavelength * f32(original) - f32(low)) / f32(high - low)
            scaled = (f32(1) - t) * scaled / f32(factor) + t * scaled
        frequencies.append(scaled)
    return frequencies, 1.0, 1.0


def proportional32(dim, base, partial, factor):
    rotated = int(partial * dim // 2)
    turning = [f32(1) / p / f32(factor) for p in powers32(base, dim, rotated)]
    return turning + [f32(0)] * (dim // 2 - rotated), 1.0, 1.0


def factors32(dim, base, factors):
    return [f32(1) / p / f32(d) for p, d in zip(powers32(base, dim), factors)], 1.0, 1.0


RULES = {
    "Default": (default, default32),
    "Linear": (linear, linear32),
    "DynamicNTK": (dynamic, dynamic32),
    "NTK": (ntk, ntk32),
    "NTKMixed": (ntk_mixed, ntk_mixed32),
    "NTKAlpha": (ntk_alpha, ntk_alpha32),
    "YaRN": (yarn, yarn32),
    "LongRoPE": (longrope, longrope32),
    "Llama3": (llama3, llama332),
    "Proportional": (proportional, proportional32),
    "Factors": (factors, factors32),
}


def parameters():
    rng = random.Random(20260801)

    def pick(*choices):
        return rng.choice(choices)

    def a_base():
        return pick(1e4, 5e5, 1e6, 1e7, rng.uniform(2, 1e6), 1.0625)

    def a_dim():
        return pick(8, 20, 32, 48)

    def a_list(n, top):
        return [round(rng.uniform(1, top), 6) for _ in range(n)]

    yield "Default", "Llama 3", dict(dim=128, base=500000.0)
    yield "Default", "Phi 2", dict(dim=32, base=10000.0)
    yield "Linear", "Gemma 3, full attention", dict(dim=256, base=1e6, factor=8.0)
    for seq_len in (0, 4096, 4097, 8192, 131072):
        yield "DynamicNTK", "Llama 2 with factor 2", dict(dim=128, base=10000.0, factor=2.0, max_positions=4096, seq_len=seq_len)
    yield "NTK", "GTE multilingual", dict(dim=64, base=20000.0, factor=8.0)
    yield "NTKMixed", "the article's b", dict(dim=128, base=10000.0, factor=8.0, mixed_b=0.625)
    yield "NTKAlpha", "HunYuan", dict(dim=128, base=10000.0, alpha=1000.0)
    yield "YaRN", "Qwen 2.5", dict(dim=128, base=1e6, factor=4.0, original=32768)
    yield "YaRN", "gpt-oss", dict(dim=64, base=150000.0, factor=32.0, original=4096, untruncated=True)
    yield "YaRN", "DeepSeek V2", dict(dim=64, base=10000.0, factor=40.0, original=4096, mscale=0.707, mscale_all_dim=0.707, scale_softmax=True)
    yield "YaRN", "DeepSeek V3", dict(dim=64, base=10000.0, factor=40.0, original=4096, mscale=1.0, mscale_all_dim=1.0, scale_softmax=True)
    yield "YaRN", "Ministral 3", dict(dim=128, base=1e6, factor=16.0, original=16384, mscale=1.0, mscale_all_dim=1.0)
    yield "YaRN", "mscale without mscale_all_dim", dict(dim=64, base=10000.0, factor=40.0, original=4096, mscale=0.707)
    yield "YaRN", "ggml's grid", dict(dim=80, base=10000.0, factor=1.4245, original=512, extrapolation=0.7465, multiplier=1.4245)
    yield "YaRN", "Grok's yarn_log", dict(dim=128, base=208533496.0, factor=16.0, original=8192, beta_fast=8.0, logarithmic=True)
    yield "YaRN", "Grok's yarn_log, extrapolation", dict(dim=64, base=10000.0, factor=4.0, original=4096, extrapolation=0.5, logarithmic=True)
    yield "YaRN", "a step: equal betas", dict(dim=16, base=10000.0, factor=4.0, original=4096, beta_fast=8.0, beta_slow=8.0, untruncated=True)
    yield "YaRN", "a step: both corners 0", dict(dim=8, base=1e6, factor=4.0, original=6)
    for seq_len in (4096, 4097):
        yield "LongRoPE", "the scale of Phi 3 128k", dict(dim=96, base=10000.0, short=a_list(48, 2), long=a_list(48, 64), original=4096, factor=32.0, seq_len=seq_len)
        yield "LongRoPE", "the mscales of Phi 3.5 MoE", dict(dim=16, base=10000.0, short=a_list(8, 2), long=a_list(8, 64), original=4096, factor=32.0, seq_len=seq_len, short_attention=1.243163121016122, long_attention=1.243163121016122)
    yield "Llama3", "Llama 3.1", dict(dim=128, base=500000.0, factor=8.0, low=1.0, high=4.0, original=8192)
    yield "Llama3", "Llama 3.2", dict(dim=64, base=500000.0, factor=32.0, low=1.0, high=4.0, original=8192)
    yield "Proportional", "Gemma 4, full attention", dict(dim=512, base=1e6, partial=0.25, factor=1.0)
    yield "Proportional", "a product that rounds up to 6", dict(dim=20, base=10000.0, partial=0.3, factor=1.0)
    yield "Factors", "those of a Gemma 4 GGUF file", dict(dim=16, base=1e6, factors=[1.0] * 2 + [1e30] * 6)
    for _ in range(6):
        dim, base, factor = a_dim(), a_base(), rng.uniform(0.5, 64)
        original = pick(512, 2048, 8192, rng.randrange(512, 1 << 17))
        yield "Default", "random", dict(dim=dim, base=base)
        yield "Linear", "random", dict(dim=dim, base=base, factor=factor)
        yield "DynamicNTK", "random", dict(dim=dim, base=base, factor=factor, max_positions=original, seq_len=rng.randrange(40 * original))
        yield "NTK", "random", dict(dim=dim, base=base, factor=factor + 1)
        yield "NTKMixed", "random", dict(dim=dim, base=base, factor=factor, mixed_b=rng.uniform(0, 2))
        yield "NTKAlpha", "random", dict(dim=dim, base=base, alpha=rng.uniform(1, 1000))
        yield "YaRN", "random", dict(
            dim=dim, base=pick(1e4, 1e6, rng.uniform(100, 1e6)), factor=factor, original=original,
            beta_fast=rng.uniform(4, 64), beta_slow=rng.uniform(0.5, 4), untruncated=pick(False, True),
            extrapolation=rng.uniform(0.1, 1), mscale=rng.uniform(0.1, 2), mscale_all_dim=rng.uniform(0.1, 2),
            multiplier=rng.uniform(0.5, 2), scale_softmax=pick(False, True))
        yield "YaRN", "random attention factor", dict(dim=dim, base=1e4, factor=factor, original=original, attention_factor=rng.uniform(0.1, 2))
        yield "LongRoPE", "random", dict(dim=dim, base=base, short=a_list(dim // 2, 3), long=a_list(dim // 2, 100), original=original, factor=factor, seq_len=rng.randrange(2 * original))
        low = rng.uniform(0.5, 2)
        yield "Llama3", "random", dict(dim=dim, base=base, factor=factor, low=low, high=low + rng.uniform(0.1, 8), original=original)
        yield "Proportional", "random", dict(dim=dim, base=base, partial=rng.random(), factor=factor)
        yield "Factors", "random", dict(dim=dim, base=base, factors=a_list(dim // 2, 50))
    for base in (1e4, 1e5, 150000.0, 160000.0, 5e5, 1e6, 5e6, 8e6, 1e7, 1e9, 2.0, 65536.0, 1.0625, 10000.5):
        for dim in (2, 4, 6, 16, 20, 32, 64, 80, 96, 128):
            yield "Default", "bases", dict(dim=dim, base=base)
    for base in (sys.float_info.max, math.nextafter(1, 2)):  # float32 has infinity and 1
        yield "Default", "bases of float64 alone", dict(dim=96, base=base)
    eight = dict(dim=8, base=10000.0)
    yield "NTKMixed", "Linear", dict(eight, factor=3.0, mixed_b=0.0)
    yield "DynamicNTK", "NTKAlpha of 3", dict(eight, factor=2.0, max_positions=8, seq_len=16)
    yield "Llama3", "Llama 4: equal factors", dict(dim=128, base=500000.0, factor=16.0, low=1.0, high=1.0, original=8192)
    shorter = dict(dim=64, base=10000.0, original=4096, mscale=2.0, mscale_all_dim=3.0)
    yield "YaRN", "a shorter sequence scales nothing", dict(shorter, factor=0.5, scale_softmax=True)
    yield "YaRN", "an attention factor replaces both mscales", dict(shorter, factor=4.0, attention_factor=1.25)
    for seq_len in (0, 4096, 4097, 2**31 - 1):
        yield "LongRoPE", "a switch", dict(eight, short=[2.0] * 4, long=[4.0] * 4, original=4096, factor=0.0, seq_len=seq_len, short_attention=1.5, long_attention=2.5)


def evaluate(exact, values, precision):
    mp.prec = precision
    frequencies, scaling, softmax = exact(**values)
    return [nearest(w) for w in frequencies], nearest(scaling), nearest(softmax)


def main():
    print("[")
    cases = list(parameters())
    for number, (rule, name, values) in enumerate(cases):
        exact, float32 = RULES[rule]
        result = evaluate(exact, values, 300)
        assert result == evaluate(exact, values, 450), (rule, name)
        case = {"rule": rule, "name": name, "parameters": values}
        results = {"exact": result}
        if f32(1) < f32(values["base"]) < np.inf:
            results["float32"] = float32(**values)
        for key, (frequencies, scaling, softmax) in results.items():
            case[key] = {
                "inv_freq": " ".join(float(w).hex() for w in frequencies),
                "scaling": float(scaling).hex(),
                "softmax_scale": float(softmax).hex(),
            }
        print(json.dumps(case) + ("," if number + 1 < len(cases) else ""))
    print("]")


if __name__ == "__main__":
    main()
