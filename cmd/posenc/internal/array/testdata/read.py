"""Reads what posenc writes by numpy, ml_dtypes and safetensors: written.npz and
written.safetensors, which a test compares with what it writes.

    go test -run TestWrite . -update && (cd testdata && python read.py)

Run with numpy 2.4.6, ml_dtypes 0.6.0, safetensors 0.8.0 and PyTorch 2.15.0.
"""

import ml_dtypes
import numpy as np
import safetensors
import safetensors.torch
import torch

x = (np.arange(24) / 8 - 1).reshape(2, 3, 4)
i = np.arange(24).reshape(2, 3, 4) - 3

z = np.load("written.npz")
assert z["README.txt"] == "What this is: grüße\n".encode()
for name in ("float16", "float32", "float64"):
    assert z[name].dtype == name and (z[name] == x).all(), name
assert (z["bfloat16"].view(ml_dtypes.bfloat16).astype(float) == x).all()
assert z["positions"].dtype == np.int64 and (z["positions"] == i).all()
assert z["scalar"].shape == () and z["scalar"] == 0.5
assert z["empty"].shape == (0, 4)
assert len(z.files) == 8

t = safetensors.torch.load_file("written.safetensors")
for name in ("float16", "float32", "float64", "bfloat16"):
    assert t[name].dtype == getattr(torch, name) and (t[name].double().numpy() == x).all(), name
assert t["positions"].dtype == torch.int64 and (t["positions"].numpy() == i).all()
assert t["scalar"].shape == () and t["scalar"] == 0.5
assert t["empty"].shape == (0, 4)
assert len(t) == 7
with safetensors.safe_open("written.safetensors", "np") as f:
    assert f.metadata() == {"README": "What this is: grüße\n"}
print("ok")
