"""Compares rope_types.json with a checkout of llama.cpp: which architectures are new, and
which have another rope type.

    python3 new.py CHECKOUT
"""

import json
import pathlib
import re
import sys


def rope_types(names, model):
    """The rope types that llama_model_rope_type returns for each architecture, one or
    several, and none for those that do not rotate."""
    architectures = dict(re.findall(r'\{\s*(LLM_ARCH_\w+),\s*"([^"]+)"\s*\}', names))
    body = model.split("llama_rope_type llama_model_rope_type(", 1)[1].split("\n}", 1)[0]
    types = {}
    for group in re.finditer(r"((?:^\s*case LLM_ARCH_\w+:.*\n)(?:^\s*(?:case LLM_ARCH_\w+:.*|//.*)?\n)*)((?:(?!^\s*case ).*\n)*)", body, re.M):
        found = set(re.findall(r"LLAMA_ROPE_TYPE_(\w+)", group[2])) - {"NONE"}
        for arch in re.findall(r"case (LLM_ARCH_\w+):", group[1]):
            if arch in architectures:
                types[architectures[arch]] = found
    return types


def main(checkout):
    source = pathlib.Path(checkout) / "src"
    llama = rope_types((source / "llama-arch.cpp").read_text(), (source / "llama-model.cpp").read_text())
    here = {}
    for rope_type, names in json.loads((pathlib.Path(__file__).parent / "rope_types.json").read_text()).items():
        for name in names:
            here[name] = set(re.findall(r"[A-Z]{4,}", rope_type))
    for name, types in sorted(llama.items()):
        if types != here.get(name, set()):
            print(f"{name}: {', '.join(sorted(types)) or 'none'}, here {', '.join(sorted(here.get(name, set()))) or 'none'}")
    for name in sorted(here.keys() - llama.keys()):
        print(f"{name}: not in this llama.cpp")


if __name__ == "__main__":
    main(*sys.argv[1:])
