"""Writes keys.json: the keys that the converters of ollama write for each architecture, and those that the code of
its models reads, in any of several versions.

    python3 keys.py CHECKOUT...
"""

import json
import pathlib
import re
import sys

def converters(checkout):
    """For each converter its architectures and its keys, without the architecture before them."""
    for file in sorted((checkout / "convert").glob("convert_*.go")):
        text = file.read_text()
        for body in re.findall(r"^func \([^)]*\) KV\(.*?^}", text, re.M | re.S):
            architectures = set(re.findall(r'kv\["general.architecture"\] = "([^"]+)"', body))
            if re.search(r'kv\["general.architecture"\] = \w', body):  # a variable
                names = re.findall(r'\barch(?:itecture)? :?= "([^"]+)"', body)
                architectures |= set(names) | {names[0] + suffix for suffix in re.findall(r'\barch \+= "([^"]+)"', body)}
            keys = set()
            for key in re.findall(r'kv\["([^"]+)"\]', body):
                first = key.split(".")[0]
                keys.add(key[len(first) + 1:] if first in architectures else key)
            yield architectures, keys


def models(checkout):
    """The keys that the code of each model reads."""
    for folder in sorted((checkout / "model" / "models").glob("*/")):
        text = "".join(f.read_text() for f in sorted(folder.glob("*.go")) if not f.name.endswith("_test.go"))
        yield folder.name, set(re.findall(r'\bc\.\w+\("([^"]+)"', text))


def main(*checkouts):
    writes, reads = {}, {}
    for checkout in map(pathlib.Path, checkouts):
        for architectures, keys in converters(checkout):
            for name in architectures:
                writes.setdefault(name, set()).update(keys)
        for name, keys in models(checkout):
            reads.setdefault(name, set()).update(keys)
    here = pathlib.Path(__file__).parent
    plain = lambda found: {name: sorted(k for k in keys if not k.startswith(("general.", "tokenizer."))) for name, keys in found.items() if keys}
    (here / "keys.json").write_text(json.dumps({"writes": plain(writes), "reads": plain(reads)}, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
