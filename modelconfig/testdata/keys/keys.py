"""Keys: what the position code of transformers, vLLM, SGLang and llama.cpp reads of config.json.

    python3 keys.py NAME=VERSION=FOLDER...   write keys.json.gz and ../../internal/huggingface/positionkeys.go

Each folder is the Python source of one project. See README.md for the rules.
"""

import ast
import collections
import gzip
import json
import pathlib
import re
import sys
import textwrap

HERE = pathlib.Path(__file__).parent
OUT = HERE / "keys.json.gz"
GO = HERE.parent.parent / "internal/huggingface/positionkeys.go"
# A class, a function, a variable or a block of parameters that is about positions.
ABOUT = re.compile(r"rope|rotary|rotate|alibi|fope|sinusoid|yarn|ntk|position|relative|pos_?emb|inv_freq|attn_scale|llama_?4_scaling", re.I)
ORDINARY = re.compile(r"propert|europe|proper", re.I)
BLOCK = re.compile(r"rope|rotary", re.I)
CONFIG = re.compile(r"(config|cfg|hparams|hyperparameters)$", re.I)
KEY = re.compile(r"[a-z][a-z0-9_]*$", re.I)
READS = {"get", "pop", "find_hparam", "setdefault"}


def about(name):
    return bool(name and ABOUT.search(ORDINARY.sub("", name)))


def name_of(node):
    """The last name of an expression: config of self.config, hparams of self.hparams."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Call):
        return name_of(node.func)
    if isinstance(node, ast.Subscript):
        return name_of(node.value)
    return ""


def texts(node):
    """The strings of an argument: one, or a list of other names of a key."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, (ast.List, ast.Tuple)):
        return [t for n in node.elts for t in texts(n)]
    return []


def read_of(node):
    """What an expression reads: the object and the keys."""
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        return node.value, [node.attr]
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        return node.value, texts(node.slice)
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
        return node.comparators[0], texts(node.left)
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id in ("getattr", "hasattr", "getattr_iter") and len(node.args) > 1:
            return node.args[0], texts(node.args[1])
        if isinstance(node.func, ast.Attribute) and node.func.attr in READS and node.args:
            base = node.func.value
            return (ast.Name("hparams") if node.func.attr == "find_hparam" else base), texts(node.args[0])
    return None, []


class Reader(ast.NodeVisitor):
    def __init__(self, counts, options):
        self.counts, self.options, self.inside = counts, options, [False]

    def within(self, inside, *nodes):
        self.inside.append(self.inside[-1] or inside)
        for node in nodes:
            self.visit(node)
        self.inside.pop()

    def visit_FunctionDef(self, node):
        self.within(about(node.name), *node.body)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node):
        # A model may be named for its positions (RoFormer, RoPEBert): its parts are not.
        self.within(about(node.name) and not re.search("model|layer|block|encoder|decoder|for[A-Z]|config", node.name, re.I), *node.body)

    def visit_Assign(self, node):
        self.within(any(about(name_of(t)) for t in node.targets), node.value)

    def visit_AnnAssign(self, node):
        if node.value:
            self.within(about(name_of(node.target)), node.value)

    def visit_keyword(self, node):
        self.within(about(node.arg), node.value)

    def visit_Compare(self, node):
        self.read(node)
        self.generic_visit(node)

    def visit_If(self, node):
        # The condition decides about positions where a short body is about nothing else.
        body = [n for s in node.body for n in ast.walk(s)]
        calls = [name_of(n.func) for n in body if isinstance(n, ast.Call)]
        self.within(len(node.body) == 1 and any(map(about, calls)), node.test)
        self.within(False, *node.body, *node.orelse)

    def visit_Call(self, node):
        self.read(node)
        self.visit(node.func)
        self.within(about(name_of(node.func)), *node.args, *node.keywords)

    def visit_Attribute(self, node):
        self.read(node)
        self.generic_visit(node)

    visit_Subscript = visit_Attribute

    def read(self, node):
        base, keys = read_of(node)
        owner = name_of(base) if base is not None else ""
        if owner.endswith("kwargs") and not isinstance(node, ast.Attribute):
            self.options.update(k for k in keys if KEY.match(k))
        block, config = BLOCK.search(ORDINARY.sub("", owner)), CONFIG.search(owner)
        if not block and not config or isinstance(node, ast.Attribute) and not config:
            return
        for key in keys:
            if KEY.match(key) and not hasattr(dict, key):
                self.counts[key][bool(block or self.inside[-1] or about(key))] += 1
                self.counts[key][2] += bool(block)


def fields():
    """The fields of the configuration classes of transformers, with other names of them."""
    from transformers import CONFIG_MAPPING

    names = set()
    for name in CONFIG_MAPPING:
        cls = CONFIG_MAPPING[name]
        for c in [cls, *(getattr(cls, "sub_configs", None) or {}).values()]:
            names.update(getattr(c, "__dataclass_fields__", {}))
            names.update(getattr(c, "attribute_map", {}))
            try:
                names.update(c().to_dict())
            except Exception:
                pass
    return {n for n in names if isinstance(n, str) and not n.startswith("_")}


def distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a):
        before, row[0] = row[0], i + 1
        for j, y in enumerate(b):
            before, row[j + 1] = row[j + 1], min(before + (x != y), row[j + 1] + 1, row[j] + 1)
    return row[-1]


def constant(name, keys):
    lines = textwrap.wrap(" ".join(keys), 150)
    return f"const {name} = " + " +\n\t".join(json.dumps(line + " ") for line in lines[:-1]) + " +\n\t" * (len(lines) > 1) + json.dumps(lines[-1]) + "\n"


def main(arguments):
    options = set()
    versions, counts, by = {}, collections.defaultdict(lambda: [0, 0, 0]), collections.defaultdict(set)
    for argument in arguments:
        name, version, folder = argument.split("=")
        versions[name] = version
        own = collections.defaultdict(lambda: [0, 0, 0])
        for path in sorted(pathlib.Path(folder).rglob("*.py")):
            try:
                tree = ast.parse(path.read_text())
            except (SyntaxError, UnicodeDecodeError):
                continue
            Reader(own, options).visit(tree)
        for key, (other, position, block) in own.items():
            counts[key][0] += other
            counts[key][1] += position
            counts[key][2] += block
            if position:
                by[key].add(name)
    legitimate = fields()
    keys = sorted(k for k, (other, position, block) in counts.items() if len(k) > 3 and position > 9 * other and (block or about(k) or k in legitimate and not other))
    others = legitimate | options | {k for k, (other, _, _) in counts.items() if other}
    near = sorted(f for f in others - set(keys) if any(abs(len(k) - len(f)) <= 2 and distance(k, f) <= 2 for k in keys))
    document = {"versions": versions, "keys": {k: sorted(by[k]) for k in keys}, "near": near, "fields": sorted(legitimate)}
    OUT.write_bytes(gzip.compress(json.dumps(document, sort_keys=True, separators=(",", ":")).encode(), mtime=0))
    GO.write_text(
        "// Code generated by testdata/keys/keys.py; DO NOT EDIT.\n\npackage huggingface\n\n"
        + "// keysOfPositions are the keys that position code reads, for any model: "
        + ", ".join(f"{n} {v}" for n, v in versions.items())
        + ".\n" + constant("keysOfPositions", keys)
        + "\n// ordinaryKeys are other keys and options of these projects that differ from one of them by one letter or two.\n"
        + constant("ordinaryKeys", near)
    )
    print(len(keys), "keys,", len(near), "near them,", len(legitimate), "fields")


if __name__ == "__main__":
    main(sys.argv[1:])
