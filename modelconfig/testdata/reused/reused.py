"""Which classes take the files of a model_type: of transformers, and of the packages that reuse its types.

    python3 reused.py TRANSFORMERS NAME=FOLDER...

TRANSFORMERS is the folder of that package, NAME=FOLDER a package and its folder. Writes reused.txt, and
../../internal/models/unrotated.txt anew with the classes of its types. See README.md for the rules.
"""

import ast
import collections
import os
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
UNROTATED = HERE.parent.parent / "internal/models/unrotated.txt"
sys.path.insert(0, str(HERE.parent / "served"))

from survey import CALLED, TYPES, Package, architectures, calls, configurations, strings, types_of_architectures

CONFIGURED = re.compile(r'"([^"]+)", "\w+Config"')


def name_of(node):
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


class Classes:
    """The classes of Python files by name: their bases, their configuration, their model_type and what they name."""

    def __init__(self, files, known=None):
        self.nodes, self.known = collections.defaultdict(list), known
        for path in files:
            try:
                tree = ast.parse(path.read_text(errors="replace"))
            except SyntaxError:
                continue
            local = {n.name: n for n in tree.body if isinstance(n, (ast.ClassDef, ast.FunctionDef))}
            for n in local.values():
                if isinstance(n, ast.ClassDef):
                    self.nodes[n.name].append((path, n, local))

    def field(self, name, field, seen=(), path=None):
        """What a class or the first of its bases that has it assigns to a field, or annotates it with."""
        for where, n, local in sorted(self.nodes.get(name, ()), key=lambda e: e[0] != path):
            for x in n.body:
                if isinstance(x, ast.Assign) and name_of(x.targets[0]) == field:
                    return x.value
                if field == "config_class" and isinstance(x, ast.AnnAssign) and name_of(x.target) == "config" and name_of(x.annotation).endswith("Config"):
                    return x.annotation
                if isinstance(x, ast.AnnAssign) and name_of(x.target) == field and x.value is not None:
                    return x.value
            for base in n.bases:
                base = name_of(base)
                if base and base != name and base not in seen:
                    found = self.field(base, field, (*seen, name), where)
                    if found is not None:
                        return found
            if path is None or where == path:
                break
        if self.known is not None and name not in self.nodes:
            return self.known.field(name, field)
        return None

    def descends(self, name, root="PreTrainedModel", seen=()):
        return any(
            name_of(b).endswith(root) or name_of(b) not in seen and self.descends(name_of(b), root, (*seen, name)) for _, n, _ in self.nodes.get(name, ()) for b in n.bases
        ) or (self.known is not None and name not in self.nodes and self.known.descends(name, root))

    def type_of(self, name, path):
        """The model_type of the configuration that a class of models takes."""
        config = self.field(name, "config_class", path=path)
        if config is None:
            return None
        value = self.field(name_of(config), "model_type")
        return strings(value)[0] if value is not None and strings(value) else None

    def own_config(self, name, path):
        """Whether the configuration that a class takes is one of these files, not of transformers."""
        return name_of(self.field(name, "config_class", path=path)) in self.nodes

    def rotates(self, node, local):
        """What the code that a class reaches in its file calls that rotates."""
        todo, seen, found = [node], set(), set()
        while todo:
            n = todo.pop()
            if n in seen:
                continue
            seen.add(n)
            for x in ast.walk(n):
                if isinstance(x, ast.Call) and CALLED.search(name_of(x.func)):
                    found.add(name_of(x.func))
                name = name_of(x) if isinstance(x, (ast.Name, ast.Attribute)) else ""
                if name in local:
                    todo.append(local[name])
                elif isinstance(x, ast.Name) and name in self.nodes and not name.endswith("Config"):
                    todo.append(self.nodes[name][0][1])
        return sorted(found)


def models(classes):
    """(type, class, file, what it calls) of each class of models."""
    for name in sorted(classes.nodes):
        for path, node, local in classes.nodes[name]:
            if classes.descends(name) and not name.endswith("PreTrainedModel") and name not in ("Model", "VisionModel"):  # of mlx, which no file names
                model_type = classes.type_of(name, path)
                if model_type:
                    yield model_type, name, path, classes.rotates(node, local)


def main(folder, *packages):
    folder = pathlib.Path(folder)
    own = Classes([p for p in sorted(folder.glob("models/**/*.py")) if not p.name.startswith("modular_")])
    of_type, fields = collections.defaultdict(set), collections.defaultdict(set)
    for model_type, name, _, _ in models(own):
        of_type[model_type].add(name)
    for name, types in types_of_architectures(folder).items():
        for t in types:
            of_type[t].add(name)
    for model_type, found in configurations(folder).values():
        fields[model_type] |= set(found)
    for t in set(of_type) - set(fields):  # the first of a mapping's names, which is no type
        if t not in CONFIGURED.findall((folder / "models/auto/configuration_auto.py").read_text()):
            del of_type[t]
    lines = []
    for architecture, types in sorted(invert(of_type).items()):
        if len(types) > 1:
            lines += [(t, architecture, "transformers", "") for t in sorted(types)]
    for argument in packages:
        name, _, place = argument.partition("=")
        place = pathlib.Path(place)
        if (place / "model_executor/models/registry.py").exists() or (place / "srt/models").exists():
            lines += served(name, place, folder, of_type)
            continue
        classes = Classes(sorted(place.rglob("*.py")), own)
        for model_type, architecture, path, called in models(classes):
            if model_type in of_type and (architecture not in of_type[model_type] or classes.own_config(architecture, path)):
                lines.append((model_type, architecture, name, " ".join(called)))
    merged = collections.defaultdict(lambda: [set(), set()])
    for model_type, architecture, name, called in lines:
        merged[model_type, architecture][0].add(name)
        merged[model_type, architecture][1].update(called.split())
    (HERE / "reused.txt").write_text("".join("\t".join([t, a, " ".join(sorted(n)), " ".join(sorted(c))]) + "\n" for (t, a), (n, c) in sorted(merged.items())))
    write_unrotated(of_type)
    print(len(merged), "lines of", len({t for t, _ in merged}), "types")


def invert(of_type):
    types = collections.defaultdict(set)
    for t, names in of_type.items():
        for name in names:
            types[name].add(t)
    return types


def served(name, place, transformers, of_type):
    """Lines for the architectures of vLLM and SGLang that share a type."""
    package = Package(place)
    within = tuple(package.folder.name + p for p in (".model_executor.models", ".models", ".srt.models"))
    classes = {**configurations(transformers), **configurations(place)}
    by_architecture = types_of_architectures(transformers)
    here = {line.split("\t")[0]: line.split("\t")[1].split() for line in (HERE.parent / "served" / f"{name}.txt").read_text().splitlines()[1:]}
    of = {a: t for t, names in here.items() for a in names}
    for architecture, module, cls in sorted(set(architectures(package))):
        if module.endswith(".models.transformers"):
            continue
        types = by_architecture.get(architecture) or {of.get(architecture) or TYPES.get(architecture)}
        for t in sorted(t for t in types if t in of_type):
            if architecture not in of_type[t]:
                yield t, architecture, name, " ".join(calls(package.reached(module, cls, within)))


def write_unrotated(of_type):
    types = [line.split(" ")[0] for line in UNROTATED.read_text().splitlines()]
    lines = []
    for t in types:
        names = sorted(of_type.get(t, ()))
        start = os.path.commonprefix(names)
        while start and not all(n[len(start) : len(start) + 1].isupper() for n in names):
            start = start[:-1]
        lines.append(" ".join([t, start or "-", *(n.removeprefix(start) for n in names)] if names else [t]))
    UNROTATED.write_text("".join(line + "\n" for line in lines))


if __name__ == "__main__":
    main(*sys.argv[1:])
