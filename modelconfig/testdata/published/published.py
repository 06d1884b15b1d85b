"""Published: config.json files as they are published, and what the models' own code makes of them.

    python3 published.py clean FILES.json    clean files, and write configs.json.gz, files.txt and keys.txt
    python3 published.py run                 run the models of configs.json.gz, and write transformers.json.gz

FILES.json is a list of [name, source, path, config]. Cleaning removes free text and repeated files, and nothing else: names,
texts with blanks, slashes or tags, and in quantization_config the lists of modules.
"""

import collections
import gzip
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
CONFIGS, RESULTS, KEYS, FILES = HERE / "configs.json.gz", HERE / "transformers.json.gz", HERE / "keys.txt", HERE / "files.txt"
NAMES = {"_name_or_path", "name_or_path", "id2label", "label2id", "tokenizer_name", "tokenizer", "model_name", "prefix", "chat_template", "internal_version", "_commit_hash"}


def is_text(value):
    return isinstance(value, str) and any(c in value for c in " /<")


def cleaned(value, within=""):
    if isinstance(value, list):
        return [cleaned(v) for v in value]
    if not isinstance(value, dict):
        return value
    kept = {}
    for key, v in value.items():
        text = key in NAMES or is_text(v) or isinstance(v, list) and any(map(is_text, v))
        if not text and not (within.endswith("quantization_config") and isinstance(v, (dict, list))):
            kept[key] = cleaned(v, key)
    return kept


def write(path, value):
    path.write_bytes(gzip.compress(json.dumps(value, separators=(",", ":")).encode(), mtime=0))


def keys_of(config, counts):
    """Count the keys of a file, of all of its objects, and of the first one in a list."""

    def names(value):
        if isinstance(value, dict):
            for key, v in value.items():
                yield key
                yield from names(v)
        elif isinstance(value, list) and value:
            yield from names(value[0])

    counts.update(set(names(config)))


def clean(files):
    seen, kept, counts = set(), [], collections.Counter()
    for name, source, path, config in json.loads(pathlib.Path(files).read_text()):
        config = cleaned(config)
        text = json.dumps(config, sort_keys=True)
        if text not in seen:
            seen.add(text)
            kept.append({"name": name, "source": source, "path": path, "config": json.dumps(config)})  # a text: some have Infinity
            keys_of(config, counts)
    write(CONFIGS, kept)
    KEYS.write_text("".join(f"{n}\t{key}\n" for key, n in sorted(counts.items())))
    FILES.write_text("".join(f"{k['name']}\t{k['source']}\t{k['path']}\n" for k in kept))
    print(len(kept), "files,", len(counts), "keys")


def run():
    sys.path.insert(0, str(HERE.parent / "transformers"))
    import search
    import survey
    import torch

    torch.set_grad_enabled(False)
    classes = {n: c for n, c in survey.configurations().items() if " " not in n}
    results = {}
    for file in json.loads(gzip.decompress(CONFIGS.read_bytes())):
        entry, name = {}, file["name"]
        try:
            config = search.loaded(json.loads(file["config"]), classes)
        except Exception as e:
            entry = search.told("config", e)
        else:
            entry = search.result(config, True)  # the whole model, or else its rotary modules
            if "error" in entry:
                entry = search.result(config, False)
            entry["type"] = config.model_type
        results[name] = entry
        print(name, entry.get("layers", "")[:40] or f'{entry.get("stage")}: {entry.get("error")}', flush=True)
    write(RESULTS, {"versions": survey.versions(), "results": results})


if __name__ == "__main__":
    clean(sys.argv[2]) if sys.argv[1] == "clean" else run()
