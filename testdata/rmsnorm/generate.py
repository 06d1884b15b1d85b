"""Golden vectors: what the norms of Hugging Face transformers compute.

Writes vectors.json: for each module its epsilon and its output in float32, and
where it rounds to bfloat16 once, in bfloat16, as hexadecimal bits. Inputs are a
formula. With the versions of requirements.txt and a CPU with AVX2 the file is
the same byte for byte.

    python3 generate.py
"""

import importlib.metadata
import json
import os
import pathlib
import struct

# PyTorch's loops differ by vector width; this is the width of every x86-64-v3 CPU.
os.environ["ATEN_CPU_CAPABILITY"] = "avx2"

import torch
from transformers.models.gemma3.modeling_gemma3 import Gemma3RMSNorm
from transformers.models.olmo2.modeling_olmo2 import Olmo2RMSNorm
from transformers.models.qwen3.modeling_qwen3 import Qwen3RMSNorm

torch.set_num_threads(1)


def inputs(start, n):
    """n float32: element i, counted from start, is
    ((i*2654435761 + 97) mod 2^24 - 2^23) / 2^21."""
    i = torch.arange(start, start + n, dtype=torch.int64)
    return ((i * 2654435761 + 97) % (1 << 24) - (1 << 23)).to(torch.float32) / (1 << 21)


def case(name, module, rows, n, eps, unit_offset, dtypes):
    norm = module(n, eps=eps)
    with torch.no_grad():
        norm.weight.copy_(inputs(1 << 20, n))
        x = inputs(0, rows * n).reshape(rows, n)
        outputs = {}
        for dtype in dtypes:
            y = norm(x.to(dtype)).to(dtype)
            if dtype == torch.float32:
                outputs["float32"] = "".join(struct.pack(">f", v).hex() for v in y.flatten().tolist())
            else:
                outputs["bfloat16"] = "".join(struct.pack(">f", v).hex()[:4] for v in y.float().flatten().tolist())
    return {"module": name, "rows": rows, "elements": n, "epsilon": eps, "unit_offset": unit_offset, **outputs}


cases = [
    case("Qwen3RMSNorm", Qwen3RMSNorm, 3, 128, 1e-6, False, [torch.float32]),
    case("Gemma3RMSNorm", Gemma3RMSNorm, 2, 256, 1e-6, True, [torch.float32, torch.bfloat16]),
    case("Olmo2RMSNorm", Olmo2RMSNorm, 1, 1024, 1e-6, False, [torch.float32, torch.bfloat16]),
]
versions = {p: importlib.metadata.version(p) for p in ("torch", "transformers")}
text = json.dumps({"versions": versions, "cases": cases}, indent=1)
pathlib.Path(__file__).with_name("vectors.json").write_text(text + "\n")
