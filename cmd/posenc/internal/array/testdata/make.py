"""Writes the arrays that the tests read, by numpy, ml_dtypes, safetensors and PyTorch.

    python make.py

All hold i/8 - 1 for i = 0 to 23 (integers: i - 3, or i where they have no sign), shape
(2, 3, 4), unless the name says something else. Made with Python 3.11, numpy 2.4.6,
ml_dtypes 0.6.0, safetensors 0.8.0 and PyTorch 2.15.0.
"""

import ml_dtypes
import numpy as np
import safetensors
import safetensors.numpy
import safetensors.torch
import torch

x = (np.arange(24) / 8 - 1).reshape(2, 3, 4)
i = np.arange(24).reshape(2, 3, 4)

arrays = {
    "float16": x.astype(np.float16),
    "float32": x.astype(np.float32),
    "float64": x,
    "bfloat16": x.astype(ml_dtypes.bfloat16),
    "float32_big": x.astype(">f4"),
    "float32_fortran": np.asfortranarray(x.astype(np.float32)),
    "int8": (i - 3).astype(np.int8),
    "int16": (i - 3).astype(np.int16),
    "int32": (i - 3).astype(np.int32),
    "int64_big": (i - 3).astype(">i8"),
    "uint8": i.astype(np.uint8),
    "uint16": i.astype(np.uint16),
    "uint32": i.astype(np.uint32),
    "uint64": i.astype(np.uint64),
    "unread_bool": i > 3,
    "unread_text": np.array(["a", "bc"]),
    "unread_record": np.zeros(2, dtype=[("a", "<f4"), ("b", "<i4")]),
    "scalar": np.float32(0.5),
    "empty": np.zeros((0, 4), np.float32),
}
np.savez("stored.npz", **arrays)
np.savez_compressed("deflated.npz", **arrays)
np.save("float32.npy", arrays["float32"])
for version in (2, 3):
    with open(f"version{version}.npy", "wb") as f:
        np.lib.format.write_array(f, arrays["float16"], version=(version, 0))

numbers = {k: v for k, v in arrays.items() if k.startswith(("float", "int", "uint", "unread_bool", "empty")) and not k.endswith(("_big", "_fortran"))}
safetensors.numpy.save_file(numbers, "numpy.safetensors", metadata={"README": "by numpy"})
safetensors.torch.save_file(
    {k: torch.tensor(x).to(getattr(torch, k)) for k in ("float16", "float32", "float64", "bfloat16")} | {"scalar": torch.tensor(0.5)},
    "torch.safetensors",
)
# Types that are not read leave the others readable.
fp8 = np.zeros((2, 3, 4), np.uint8)
safetensors.serialize_file(
    {
        name: safetensors.TensorSpec(dtype=dtype, shape=a.shape, data_ptr=a.ctypes.data, data_len=a.nbytes)
        for name, dtype, a in (("float32", "float32", arrays["float32"]), ("unread_e4m3", "float8_e4m3fn", fp8), ("unread_e8m0", "float8_e8m0fnu", fp8))
    },
    "unread.safetensors",
)
torch.save({"float32": torch.tensor(x)}, "torch.pt")
