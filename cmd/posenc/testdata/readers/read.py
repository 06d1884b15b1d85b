"""Reads what posenc vectors writes with numpy and safetensors, and writes what they find
to readers.txt, which a test compares with what was to be written.

    python3 read.py POSENC

POSENC is the program. Versions are those of requirements.txt.
"""

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
from safetensors import deserialize, safe_open

FOLDER = Path(__file__).parent
CONFIGS = FOLDER.parents[3] / "modelconfig/testdata/transformers/configs"

TYPES = {"|V2": "bfloat16", "BF16": "bfloat16", "F16": "float16", "F32": "float32", "F64": "float64", "I64": "int64"}


def digest(data):
    return hashlib.sha256(data).hexdigest()


lines = []
for name in ("gemma-3-27b-it", "Qwen2.5-VL-7B-Instruct"):
    for ending in ("npz", "safetensors"):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"vectors.{ending}"
            # In the folder of the configuration: the README has its path.
            subprocess.run([sys.argv[1], "vectors", f"{name}.json", "--positions", "0,1,511", "--out", path], check=True, cwd=CONFIGS, stdout=subprocess.DEVNULL)
            if ending == "npz":
                readme = zipfile.ZipFile(path).read("README.txt")
                with np.load(path) as z:
                    arrays = {key: z[key] for key in z.files if not key.endswith(".txt")}
                found = {key: (TYPES.get(str(a.dtype), str(a.dtype)), a.shape, a.tobytes()) for key, a in arrays.items()}
            else:
                with safe_open(path, "numpy") as f:
                    readme = f.metadata()["README"].encode()
                # safetensors.numpy has no bfloat16
                found = {key: (TYPES[a["dtype"]], a["shape"], bytes(a["data"])) for key, a in deserialize(path.read_bytes())}
            lines.append(f"{name} {ending} README {digest(readme)}")
            for key in sorted(found):
                kind, shape, data = found[key]
                lines.append(f"{name} {ending} {key} {kind} {','.join(map(str, shape))} {digest(data)}")
(FOLDER / "readers.txt").write_text("\n".join(lines) + "\n")
