"""The engines' own code against random.json: the bytes that it makes of the same tokens.

    python3 engines.py FLASHMLA VLLM [CHUNKS]      490 chunks of 20,480 tokens, or CHUNKS of them

FLASHMLA is a clone of FlashMLA, VLLM the unpacked source of vLLM. Their functions are taken out of their files and run
as they are, on CPUs. vLLM's CPU writers, in C++, are compiled with the AVX-512 intrinsics as loops, and the headers
of torch. DeepSeek's act_quant needs a GPU: act_quant below is what it does, in torch. It writes
engines.json: how many chunks of each engine have the bytes that random.json has digests of, which Go's
tests compare with posenc, and what differs where some do. It takes 15 minutes, and torch beside requirements.txt.
"""

import ast
import collections
import concurrent.futures
import ctypes
import hashlib
import importlib.metadata
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import torch

import generate

CHUNK, PIECE, PAGE = 20480, 512, generate.PAGE
FOLDER = pathlib.Path(__file__).parent


def functions(path, names, scope):
    """Runs the functions of those names in a file, without the rest of it."""
    tree = ast.parse(path.read_text())
    tree.body = [n for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef)) and n.name in names]
    assert len(tree.body) == len(names), (path, names)
    exec(compile(tree, str(path), "exec"), scope)
    return scope


# The intrinsics of AVX-512 that vLLM's writers use, as vectors that gcc makes of what the CPU has.
INTRINSICS = r"""
#include <immintrin.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <c10/util/BFloat16.h>
#include <c10/util/Float8_e4m3fn.h>
namespace at { using c10::BFloat16; using c10::Float8_e4m3fn; }
typedef float F __attribute__((vector_size(64)));
typedef int32_t I __attribute__((vector_size(64)));
typedef uint32_t U __attribute__((vector_size(64)));
typedef uint16_t K;
#define EACH for (int i = 0; i < 16; i++)
static inline I set1(int32_t v) { I r; EACH r[i] = v; return r; }
static inline F set1f(float v) { F r; EACH r[i] = v; return r; }
static inline K where(I c) { K k = 0; EACH k |= (c[i] != 0) << i; return k; }
static inline I choose(I a, K k, I b) { I r; EACH r[i] = k >> i & 1 ? b[i] : a[i]; return r; }
static inline I widen(__m256i v) { uint16_t h[16]; memcpy(h, &v, 32); I r; EACH r[i] = h[i]; return r; }
static inline __m128i low8(I v) { uint8_t b[16]; EACH b[i] = uint8_t(v[i]); __m128i r; memcpy(&r, b, 16); return r; }
static inline I least(I a, I b) { I r; EACH r[i] = std::min(a[i], b[i]); return r; }
static inline F leastf(F a, F b) { F r; EACH r[i] = a[i] < b[i] ? a[i] : b[i]; return r; }
static inline F mostf(F a, F b) { F r; EACH r[i] = a[i] > b[i] ? a[i] : b[i]; return r; }
static inline float reduce(F v) { float r = v[0]; EACH r = std::max(r, v[i]); return r; }
#define __m512 F
#define __m512i I
#define __mmask16 K
#define _mm512_castps_si512(v) ((I)(v))
#define _mm512_castsi512_ps(v) ((F)(v))
#define _mm512_set1_epi32(v) set1(int32_t(v))
#define _mm512_set1_ps(v) set1f(v)
#define _mm512_setzero_si512() set1(0)
#define _mm512_and_si512(a, b) ((a) & (b))
#define _mm512_or_si512(a, b) ((a) | (b))
#define _mm512_srli_epi32(a, n) ((I)((U)(a) >> (n)))
#define _mm512_slli_epi32(a, n) ((I)((U)(a) << (n)))
#define _mm512_add_epi32(a, b) ((a) + (b))
#define _mm512_sub_epi32(a, b) ((a) - (b))
#define _mm512_min_epi32(a, b) least(a, b)
#define _mm512_cmpneq_epi32_mask(a, b) where((a) != (b))
#define _mm512_cmpeq_epi32_mask(a, b) where((a) == (b))
#define _mm512_cmplt_epi32_mask(a, b) where((a) < (b))
#define _mm512_maskz_mov_epi32(k, a) choose(set1(0), k, a)
#define _mm512_mask_mov_epi32(a, k, b) choose(a, k, b)
#define _mm512_mask_add_epi32(a, k, b, c) choose(a, k, (b) + (c))
#define _mm512_cvtepi32_epi8(v) low8(v)
#define _mm512_cvtepu16_epi32(v) widen(v)
#define _mm512_mul_ps(a, b) ((a) * (b))
#define _mm512_max_ps(a, b) mostf(a, b)
#define _mm512_min_ps(a, b) leastf(a, b)
#define _mm512_reduce_max_ps(v) reduce(v)
#define _mm512_store_ps(p, v) memcpy(p, &(v), 64)
"""


def writer(folder, source):
    """A function of vLLM's file that writes the tiles of tokens."""
    text = (folder / "csrc/cpu/sgl-kernels" / source).read_text()
    start = text.index("inline __m128i cvt_fp32x16_to_fp8x16")
    body = text[start : text.index("#endif", start)]
    constants = "\n".join(re.findall(r"^constexpr .* k(?:Fp8Max|Fp8Min|QuantEps|QuantBlock) = .*$", text, re.M))
    loop = "for (long i = 0; i < tiles; i++) scales[i] = quantize_tile_avx512((const at::BFloat16*)x + 64 * i, y + 64 * i);"
    code = INTRINSICS + constants + "\n" + body + '\nextern "C" void run(const void* x, uint8_t* y, uint8_t* scales, long tiles) { ' + loop + " }\n"
    include = pathlib.Path(torch.__file__).parent / "include"
    with tempfile.TemporaryDirectory() as place:
        path = pathlib.Path(place, "writer.cpp")
        path.write_text(code)
        library = pathlib.Path(place, "writer.so")
        # Without -ffp-contract products and sums stay apart; AVX-512 has no meaning in plain loops.
        subprocess.run(["g++", "-O2", "-mavx2", "-mf16c", "-ffp-contract=off", "-std=c++20", "-shared", "-fPIC", "-w", "-Wno-psabi", "-I", include, path, "-o", library], check=True)
        run = ctypes.CDLL(str(library)).run
    run.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long]

    def write(x):
        y, scales = torch.empty(len(x), 448, dtype=torch.uint8), torch.empty(len(x), 7, dtype=torch.uint8)
        x = x[:, :448].contiguous()
        run(x.data_ptr(), y.data_ptr(), scales.data_ptr(), 7 * len(x))
        return y, scales

    return write


def act_quant(x):
    """act_quant of DeepSeek V3.2, inference/kernel.py, with round_scale: tiles of 128."""
    x = x.float().unflatten(-1, (-1, 128))
    amax = x.abs().amax(dim=-1, keepdim=True).clamp_min(1e-4)
    bits = (amax * torch.tensor(1 / 448.0, dtype=torch.float32)).view(torch.int32)
    exponent = ((bits >> 23) & 0xFF) - 127 + ((bits & ((1 << 23) - 1)) != 0).int()
    scale = ((exponent + 127) << 23).view(torch.float32)
    codes = (x / scale).clamp(-448.0, 448.0).to(torch.float8_e4m3fn)
    return codes.flatten(-2).view(torch.uint8), scale.squeeze(-1)


def page(codes, rope, scales):
    """Pages of DeepSeek V4."""
    n = len(codes) // PAGE
    record = torch.cat([codes, rope], dim=1).view(n, -1)
    eight = torch.nn.functional.pad(scales, (0, 1)).view(n, -1)
    return torch.nn.functional.pad(torch.cat([record, eight], dim=1), (0, -584 * PAGE % 576))


def setup(flashmla, vllm):
    global FLASHMLA, INDEXER, WRITERS
    torch.set_num_threads(1)
    FLASHMLA = {}
    exec(compile((flashmla / "tests/quant.py").read_text(), "quant.py", "exec"), FLASHMLA)
    INDEXER = {"torch": torch, "mqa_logits_use_mx_scales": lambda: False}
    functions(vllm / "vllm/utils/deep_gemm.py", ["_ceil_to_ue8m0"], INDEXER)
    functions(vllm / "tests/kernels/attention/test_deepgemm_attention.py", ["kv_cache_cast_to_fp8", "encode_indexer_scales"], INDEXER)
    WRITERS = {name: writer(vllm, name + ".cpp") for name in ("compressor", "store_cache")}


def chunk(i):
    """The digests of a chunk by each engine, and what differs where some bytes do."""
    found, counts = collections.defaultdict(hashlib.sha256), collections.Counter()
    for first in range(i * CHUNK, (i + 1) * CHUNK, PIECE):
        piece(first, found, counts)
    return {key: value.hexdigest()[:8] for key, value in found.items()}, counts


def piece(first, found, counts):
    add = lambda engine, format, t: found[engine + ": " + format].update(t.contiguous().view(torch.uint8).numpy())
    x = generate.inputs(first, PIECE)
    tail = generate.rotated(x, first)
    bf16 = lambda a: torch.from_numpy(np.ascontiguousarray(a).view(np.int16)).view(torch.bfloat16)
    latent, rope = bf16(x), bf16(tail.astype(generate.BF16))
    layout = FLASHMLA["FP8KVCacheLayout"]
    quantize = lambda t, kind: FLASHMLA["quantize_k_cache"](t.reshape(PIECE // PAGE, PAGE, 1, -1), kind)

    add("FlashMLA tests/quant.py", "DeepSeekV32 FloorScale", quantize(torch.cat([latent[:, :512], rope], 1), layout.V32_FP8Sparse))
    v4 = torch.cat([latent[:, 64:512], rope], 1)
    pages = quantize(v4, layout.MODEL1_FP8Sparse).view(torch.uint8).reshape(PIECE // PAGE, -1).clone()
    pages[:, PAGE * 576 :].view(-1, PAGE, 8)[:, :, 7] = 0  # which the engine leaves as it was
    add("FlashMLA tests/quant.py", "DeepSeekV4 FloorScale", torch.nn.functional.pad(pages, (0, -584 * PAGE % 576)))

    ropes = rope.view(torch.uint8)
    codes, scales = WRITERS["compressor"](v4)
    add("vLLM csrc/cpu/sgl-kernels/compressor.cpp", "DeepSeekV4 FloorScale", page(codes, ropes, scales))
    cut, same = WRITERS["store_cache"](v4)
    differs = cut != codes
    scaled = v4[:, :448].float().unflatten(1, (7, 64)) * torch.exp2(127.0 - scales.float())[:, :, None]
    assert torch.equal(same, scales) and not differs[scaled.flatten(1).abs() >= 2.0**-6].any() and not (cut[differs] & 0x7F).any()
    counts["vLLM csrc/cpu/sgl-kernels/store_cache.cpp: codes that are 0, where the nearest is below 2^-6"] += int(differs.sum())

    codes, scales = act_quant(latent[:, :512])
    add("DeepSeek act_quant, as torch", "DeepSeekV32 FloorAmax", torch.cat([codes, scales.view(torch.uint8), ropes], 1))
    key = torch.cat([latent[:, 448:512].float(), torch.from_numpy(tail)], 1)
    codes, scales = act_quant(key)
    add("DeepSeek act_quant, as torch", "DeepSeekIndexer FloorAmax", torch.cat([codes.view(-1, PAGE * 128), scales.view(torch.uint8).view(-1, PAGE * 4)], 1))

    # Where numbers are float32, not bfloat16, engines that round a logarithm take a scale that is too small for
    # largest magnitudes just above 448 times a power of two.
    def compare(name, got, scale, want, right, x, group):
        other = scale != right
        above = (np.abs(x).max(axis=2)[other] / generate.F32(448)).view(np.uint32) & 0x7FFFFF
        assert (scale[other] * 2 == right[other]).all() and (above > 0).all() and (above <= 8).all()
        assert (got == want)[np.repeat(~other, group, axis=1)].all()
        counts[name + ", float32: groups"] += other.size
        counts[name + ", float32: groups whose scale is half as large, 1 to 8 units in the last place above a power of two"] += int(other.sum())

    got = INDEXER["kv_cache_cast_to_fp8"](key.view(-1, PAGE, 1, 128)).view(-1, PAGE * 132)
    scale = got[:, PAGE * 128 :].contiguous().view(torch.float32).view(-1, 1).numpy()
    compare("vLLM tests, kv_cache_cast_to_fp8", got[:, : PAGE * 128].reshape(-1, 128).numpy(), scale, codes.numpy(), scales.numpy(), key.view(-1, 1, 128).numpy(), 128)

    wide = np.ascontiguousarray(generate.wide(x, first))
    record = quantize(torch.from_numpy(wide), layout.V32_FP8Sparse).view(torch.uint8).reshape(PIECE, -1)
    scale = record[:, 512:528].contiguous().view(torch.float32).numpy()
    want, right = generate.codes(wide[:, :512], 128, "FloorScale")
    compare("FlashMLA tests/quant.py, DeepSeekV32", record[:, :512].numpy(), scale, want, right, wide[:, :512].reshape(PIECE, 4, 128), 128)


def main():
    flashmla, vllm = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    random = json.loads((FOLDER / "random.json").read_text())
    chunks = int(sys.argv[3]) if len(sys.argv) > 3 else random["tokens"] // CHUNK
    equal, counts = collections.Counter(), collections.Counter()
    with concurrent.futures.ProcessPoolExecutor(len(os.sched_getaffinity(0)), initializer=setup, initargs=(flashmla, vllm)) as pool:
        for i, (found, differences) in enumerate(pool.map(chunk, range(chunks))):
            for name, got in found.items():
                equal[name] += got == random["digests"][name.split(": ")[1]][8 * i :][:8]
            counts.update(differences)
            print(i, flush=True)
    versions = {name: importlib.metadata.version(name) for name in ("torch", "numpy", "ml_dtypes")}
    commit = subprocess.run(["git", "-C", flashmla, "rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip()
    result = {"versions": versions | {"FlashMLA": commit, "vLLM": (vllm / "PKG-INFO").read_text().split("\nVersion: ")[1].split("\n")[0]}, "tokens": chunks * CHUNK, "equal chunks": equal, "counts": counts}
    (FOLDER / "engines.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
