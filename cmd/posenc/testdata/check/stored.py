"""Writes keys as caches of 8-bit numbers store them, for the tests of posenc check, of the heads that
make.py wrote: right rotations and ones with faults.

    python stored.py

Made with Python 3.11, gguf 0.19.0, PyTorch 2.13.0, numpy 2.4.6 and safetensors 0.8.0.
"""

import numpy as np
import safetensors.torch
import torch
from gguf import GGMLQuantizationType, quants

heads = {name: np.load(f"llama_{name}.npy") for name in ("after", "interleaved", "one_later", "twice", "unscaled")}
arrays = {}

# ggml: blocks of 32 numbers with a float16, [1][heads][tokens][2 blocks of 34 bytes].
for name in ("after", "interleaved", "unscaled"):
    arrays[f"q8_0_{name}"] = torch.from_numpy(quants.quantize(heads[name], GGMLQuantizationType.Q8_0))


# vLLM, int8 and FP8 for each token and head: [1][heads][tokens], here the scales behind them.
def by_head(x, most):
    return torch.from_numpy(x).abs().amax(-1, keepdim=True).clamp(min=1e-10) / most


def int8(x):
    scale = by_head(x, 127)
    return (torch.from_numpy(x) / scale).round().clamp(-128, 127).to(torch.int8), scale[..., 0].contiguous()


for name in ("after", "one_later"):
    arrays[f"int8_{name}"], arrays[f"int8_{name}_scale"] = int8(heads[name])
for name in ("after", "twice"):
    scale = by_head(heads[name], 448)
    arrays[f"e4m3_{name}"] = (torch.from_numpy(heads[name]) / scale).to(torch.float8_e4m3fn)
    arrays[f"e4m3_{name}_scale"] = scale[..., 0].contiguous()

# One scale for all numbers: 0.02 and 0.5.
arrays["e4m3_one"] = (torch.from_numpy(heads["after"]) / 0.02).to(torch.float8_e4m3fn)
arrays["e5m2_after"] = (torch.from_numpy(heads["after"]) / 0.5).to(torch.float8_e5m2)
arrays["e5m2_one_later"] = (torch.from_numpy(heads["one_later"]) / 0.5).to(torch.float8_e5m2)

# A matrix of Hadamard between: as llama.cpp does before Q8_0.
matrix = np.ones((1, 1), np.float32)
while len(matrix) < 64:
    matrix = np.block([[matrix, matrix], [matrix, -matrix]])
for name in ("after", "unscaled"):
    arrays[f"hadamard_{name}"] = torch.from_numpy(quants.quantize(heads[name] @ matrix / np.float32(8), GGMLQuantizationType.Q8_0))

# Faults of storing: codes cut off in place of rounded, and the scale of one head.
codes, scale = torch.from_numpy(heads["after"]) / by_head(heads["after"], 127), by_head(heads["after"], 127)
arrays["int8_cut"] = codes.to(torch.int8)
wrong = scale[..., 0].clone()
wrong[0, 2] *= 2
arrays["int8_wrong_scale"] = wrong
safetensors.torch.save_file(arrays, "stored.safetensors")
arrays["q8_0_after"].numpy().tofile("llama_q8_0.bin")
