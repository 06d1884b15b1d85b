"""python3 read.py ../1"""

import struct
import sys

folder = sys.argv[1]
with open(f"{folder}/data.bin", "rb") as f:
    data = f.read()
with open(f"{folder}/index.txt", encoding="utf-8") as f:
    version, *lines = f.read().splitlines()
assert version == "posenc-vectors 1", version
for line in lines:
    name, kind, first, count, shape = line.split()
    letter = {"float32": "f", "float64": "d", "int64": "q"}.get(kind)
    if letter is None:
        sys.exit(f"{name} of {kind}: want float32, float64 or int64")
    values = struct.unpack_from(f"<{count}{letter}", data, int(first))
    total = 0.0  # sum() rounds once
    for v in values:
        total += v
    print(name, kind, shape, f"{total:.6f}")
