"""Time PyTorch eager, on one thread, as this benchmark times posenc.

    python torch.py [ROUNDS]

prints a line in the format of Go benchmarks for each of ROUNDS samples, 12 where
nothing is said, of each operation, taken alternately. The names are those of
`go run -C bench .`, so that benchstat compares both; f16 is only here. Needs
the package torch.

Tables and operators are those of Hugging Face transformers (half) and of Meta's
Llama (interleaved), with the frequencies made before and all else in each call.
"""

import sys

# This file has the name of the package that it imports.
sys.path.pop(0)

import time

import torch

HEADS, DIM, BASE = 32, 128, 500000.0  # as in setting.go
SHORTEST = 1e-3  # seconds, of a sample

FREQUENCIES = BASE ** (-torch.arange(0, DIM, 2, dtype=torch.float64) / DIM)
FREQUENCIES32 = FREQUENCIES.float()


def tables(rows, dtype):
    positions, frequencies = torch.arange(rows, dtype=dtype), FREQUENCIES.to(dtype)

    def call():
        angles = torch.outer(positions, frequencies)
        return angles.cos().float(), angles.sin().float()

    return call


def angles(limit):
    a = (2 * torch.rand(4096) - 1) * limit
    cos, sin = torch.empty_like(a), torch.empty_like(a)
    return lambda: (torch.cos(a, out=cos), torch.sin(a, out=sin))


def positions_of(tokens):
    return torch.tensor([4321]) if tokens == 1 else torch.arange(tokens)


def half(tokens, dtype):
    x = torch.ones(1, tokens, HEADS, DIM, dtype=dtype).transpose(1, 2)
    positions = positions_of(tokens)

    def call():
        angles = positions[:, None].float() * FREQUENCIES32
        both = torch.cat((angles, angles), dim=-1)
        cos, sin = both.cos().to(dtype), both.sin().to(dtype)
        rotated = torch.cat((-x[..., DIM // 2 :], x[..., : DIM // 2]), dim=-1)
        return x * cos + rotated * sin

    return call


def interleaved(tokens, dtype):
    x = torch.ones(1, tokens, HEADS, DIM, dtype=dtype)
    positions = positions_of(tokens)

    def call():
        angles = positions[:, None].float() * FREQUENCIES32
        turns = torch.polar(torch.ones_like(angles), angles)[:, None]
        pairs = torch.view_as_complex(x.float().reshape(1, tokens, HEADS, DIM // 2, 2))
        return torch.view_as_real(pairs * turns).flatten(3).to(dtype)

    return call


def cases():
    for rows in (4096, 131072):
        yield f"tables-{rows}/peer=PyTorch-double", tables(rows, torch.float64)
        yield f"tables-{rows}/peer=PyTorch-float", tables(rows, torch.float32)
    for limit in (100, 1000000):
        yield f"angles-below-{limit}/peer=PyTorch", angles(limit)
    for tokens in (1, 512):
        yield f"operator-{tokens}-half/peer=PyTorch", half(tokens, torch.float32)
        yield f"operator-{tokens}-interleaved/peer=PyTorch", interleaved(tokens, torch.float32)
    for tokens in (1, 1024):  # of as many bytes
        yield f"operator-f16-{tokens}-half/peer=PyTorch", half(tokens, torch.float16)
        yield f"operator-f16-{tokens}-interleaved/peer=PyTorch", interleaved(tokens, torch.float16)


def sample(call, calls):
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - start) / calls


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    torch.set_num_threads(1)
    with torch.inference_mode():
        measured = []
        for name, call in cases():
            sample(call, 1)  # what runs for the first time says little
            measured.append((name, call, 1 + int(SHORTEST / sample(call, 1))))
        for _ in range(rounds):
            for name, call, calls in measured:
                sample(call, 1)
                ns = 1e9 * sample(call, calls)
                print(f"BenchmarkPeers/op={name} \t{calls}\t{ns:.1f} ns/op", flush=True)


if __name__ == "__main__":
    main()
