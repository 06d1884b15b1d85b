"""Forms: what transformers makes of incomplete configurations.

A wrapper may leave out its text model, or some of its keys; any file may leave out some of
rope_parameters, or have another name of a key, or other sizes than the class. For every configuration class this writes what the rotary embedding then
does, found as survey.py finds it: forms.json.gz. No weights, no network.

    python3 forms.py          write forms.json.gz
    python3 forms.py TYPE...  write the forms of some types anew
"""

import copy
import gzip
import json
import sys

import survey
import torch
from transformers import AutoConfig

OUT = survey.HERE / "forms.json.gz"
# Of a text model, what decides how it rotates and how many layers it has.
DECIDES = survey.SIZES + ("n_embd", "n_head", "n_layer", "d_model", "n_heads", "n_layers", "kv_channels", "qk_rope_head_dim", "qk_nope_head_dim", "rope_parameters", "partial_rotary_factor", "rope_interleave", "no_rope_layers")
OTHER = 50000.0  # a base that no class has
OTHER_TYPES = ("llama", "qwen2")  # of a text model, where the class has another

# Further documents of single types.
V4 = {"rope_type": "yarn", "factor": 16, "original_max_position_embeddings": 65536, "beta_fast": 32, "beta_slow": 1}
FURTHER = {
    "deepseek_v4": [
        {"rope_parameters": {**V4, "rope_theta": OTHER}},
        {"rope_parameters": {**V4, "rope_theta": OTHER}, "compress_rope_theta": 70000},
        {"rope_parameters": {**V4, "rope_theta": 10000}, "compress_rope_theta": 70000, "rope_theta": OTHER},
        {"rope_scaling": V4, "compress_rope_theta": 70000, "rope_theta": OTHER},
        {"rope_parameters": {"rope_type": "default", "rope_theta": OTHER}},
    ],
    "lfm2": [{"theta": OTHER}, {"theta": OTHER, "rope_theta": OTHER}],
    "lfm2_moe": [{"theta": OTHER}],
    "gpt_neox": [{"rotary_emb_base": OTHER}, {"rotary_emb_base": OTHER, "rope_theta": OTHER}],
}


def text_model(config):
    """Where the text model of a configuration is: its key, and its configuration."""
    inner = config.get_text_config(decoder=True) if config.is_encoder_decoder else config.get_text_config()
    if inner is config:
        if getattr(config, "rope_parameters", None):
            return None
        for key in ("encoder_config", "asr_config", "audio_config"):  # which stand for it in models of sound and images
            sub = getattr(config, key, None)
            if sub is not None and (getattr(sub, "rope_parameters", None) or getattr(sub, "encoder_config", None)):
                return key, sub
        return None
    for key in config.sub_configs or {}:
        sub = getattr(config, key, None)
        if sub is inner or hasattr(sub, "get_text_config") and sub is not None and sub.get_text_config() is inner:
            return key, sub
    return None


def plain(config):
    """The keys of a configuration, as it is saved."""
    return json.loads(config.to_json_string(use_diff=False))


def wrapper_documents(name, cls):
    """A wrapper without its text model, with an empty one, with the type alone, its own and
    others, and with each half of the keys that decide."""
    found = text_model(cls())
    if found is None:
        return
    key, sub = found
    yield {"model_type": name}
    yield {"model_type": name, key: {}}
    for inner_type in (sub.model_type, *OTHER_TYPES):
        yield {"model_type": name, key: {"model_type": inner_type}}
    keys = plain(sub)
    inner = text_model(sub)
    if inner is not None:
        keys = {inner[0]: {"model_type": inner[1].model_type}}
    decides = sorted(k for k in keys if k in DECIDES and keys[k] is not None)
    for first in (0, 1):
        half = {k: keys[k] for k in decides[first::2]}
        # Lists of layers go with their number.
        if ("layer_types" in half or "no_rope_layers" in half) and "num_hidden_layers" in keys:
            half["num_hidden_layers"] = keys["num_hidden_layers"]
        yield {"model_type": name, key: half}
        yield {"model_type": name, key: {"model_type": sub.model_type, **half}}


def rope_documents(name, cls):
    """A configuration with less than all of its class's rope_parameters, in the forms of
    transformers 5 and 4."""
    needs = copy.deepcopy(survey.NEEDS.get(name, {}))
    needs.pop("rope_parameters", None)
    config = cls(**copy.deepcopy(survey.NEEDS.get(name, {})))
    rope = getattr(config, "rope_parameters", None)
    if not isinstance(rope, dict):
        return
    rope = plain(config)["rope_parameters"]
    nested = all(isinstance(v, dict) or v is None for v in rope.values()) and rope
    start = {"model_type": name, **needs}

    def without(parameters, wrap):
        for key in parameters:
            yield wrap({k: v for k, v in parameters.items() if k != key})
        yield wrap({k: v for k, v in parameters.items() if k == "rope_type"})
        yield wrap({k: v for k, v in parameters.items() if k == "rope_theta"})
        yield wrap({**{k: v for k, v in parameters.items() if k == "rope_type"}, "rope_theta": OTHER})

    if nested:
        for kind, parameters in rope.items():
            if parameters:
                for block in without(parameters, lambda p: {**rope, kind: p}):
                    yield {**start, "rope_parameters": block}
            yield {**start, "rope_parameters": {k: v for k, v in rope.items() if k != kind}}
    else:
        for block in without(rope, lambda p: p):
            yield {**start, "rope_parameters": block}
        older = {k: v for k, v in rope.items() if k not in ("rope_theta", "partial_rotary_factor")}
        if older.get("rope_type") != "default":
            yield {**start, "rope_theta": OTHER, "rope_scaling": older}
    yield {**start, "rope_parameters": {}}
    yield {**start, "rope_theta": OTHER}
    for key in ("rope_type", "type"):
        yield {**start, "rope_scaling": {key: "linear", "factor": 8.0}}
    for document in FURTHER.get(name, []):
        yield {**start, **document}


def alias_documents(name, cls):
    """A configuration with another number of heads, of layers or of positions, under each of
    the names that the class has for it."""
    needs = copy.deepcopy(survey.NEEDS.get(name, {}))
    config = cls(**copy.deepcopy(needs))
    for alias, target in (cls.attribute_map or {}).items():
        if alias not in DECIDES and target not in DECIDES:
            continue
        value, further = getattr(config, target, None), {}
        if isinstance(value, list) and "layer_types" in (alias, target):
            value = value[::-1]
        elif not isinstance(value, int) or isinstance(value, bool):
            continue
        elif "layers" in alias + target or "depth" in target:
            value = max(1, value // 2)
        else:
            value *= 2
        if "position" in alias + target:
            further = {"rope_parameters": {"rope_type": "yarn", "factor": None, "original_max_position_embeddings": 512, "rope_theta": 10000.0}}
        for key in (alias, target):
            yield {"model_type": name, **needs, key: value, **further}


SPELLINGS = {  # of sizes, by what they are
    "hidden": ("hidden_size", "embed_dim", "n_embd", "d_model"),
    "heads": ("num_attention_heads", "num_heads", "n_head", "n_heads", "decoder_num_attention_heads", "encoder_attention_heads"),
    "kv": ("num_key_value_heads", "decoder_num_key_value_heads"),
    "layers": ("num_hidden_layers", "depth", "n_layer", "n_layers", "num_layers", "decoder_num_hidden_layers", "encoder_layers"),
}
LAYERS = ("num_hidden_layers", "num_layers", "n_layer", "n_layers", "depth")
COMPUTED = ("head_dim", "layer_types", "layers_block_type", "sliding_window", "sliding_window_pattern", "full_attention_interval", "global_attn_every_n_layers", "layer_group_size")


def size_documents(name, cls):
    """A configuration of other sizes, with and without what the class computes from them, and with names of the part that it
    need not read."""
    needs = copy.deepcopy(survey.NEEDS.get(name, {}))
    config = cls(**copy.deepcopy(needs))
    fields = {**getattr(cls, "__dataclass_fields__", {}), **(cls.attribute_map or {})}
    key = {what: next((k for k in spellings if k in fields), None) for what, spellings in SPELLINGS.items()}
    start = {"model_type": name, **needs}
    few = {key["layers"]: 3} if key["layers"] and "layer_types" not in needs else {}

    def sized(hidden, heads):
        sizes = {key["hidden"]: hidden, key["heads"]: heads, key["kv"]: heads}
        return {**start, **few, **{k: v for k, v in sizes.items() if k and v}}

    for sizes in ((768, 6), (640, 8), (2048, None), (None, 4)):
        yield sized(*sizes)
    for head_dim in (None, 160):
        yield {**sized(768, 6), "head_dim": head_dim}
    for k in ("qk_rope_head_dim", "kv_channels", "attention_head_dim", "global_head_dim", "rotary_dim"):
        if k in fields:
            yield {**start, **few, k: 32}
    for k in LAYERS:
        if k in fields or isinstance(getattr(cls, k, None), property):
            yield {**start, k: 7}
            yield {**start, k: None}
    for k in ("partial_rotary_factor", "rotary_pct"):
        for part in (0.5, None):
            yield {**start, **few, k: part}
    for k in COMPUTED:
        if k in fields or k in vars(config):
            yield {**start, **few, k: None}
            if isinstance(vars(config).get(k), int) and k not in ("head_dim", "sliding_window"):
                yield {**start, **few, k: 2}
    kinds = survey.layer_list(config)
    if few:
        yield {**start, key["layers"]: 4, "layer_types": ["full_attention", "sliding_attention"] * 2}
        yield {**start, key["layers"]: 3, "layer_types": ["mamba", "mlp", "attention"]}
        if kinds:
            yield {**start, key["layers"]: 5, "layer_types": (sorted(set(kinds)) * 5)[:5]}


def fixed_keys(cls):
    """The parts of a configuration that are of one class, whatever model_type they give."""
    return sorted(key for key, part in (cls.sub_configs or {}).items() if part is not AutoConfig)


def resolved(config):
    """What decides about a configuration, to find those that come to the same."""
    return json.dumps([type(config).__name__, {k: v for k, v in plain(config).items() if k not in survey.PASSED_OVER and k != "architectures"}], sort_keys=True)


class Results:
    def __init__(self):
        self.list, self.of = [], {}

    def add(self, config):
        key = resolved(config)
        if key not in self.of:
            entry = survey.rotation(config)
            if entry:
                entry.pop("rotary")
                entry["type"] = config.model_type
                rotated = getattr(config, "qk_rope_head_dim", None)
                widest = max((len(k.get("inv_freq", "")) // 4 for k in entry["kinds"].values()), default=0)
                if rotated and widest > rotated:
                    entry = ValueError(f"tables of {widest} elements for the {rotated} that rotate")
            self.of[key] = entry
        if isinstance(self.of[key], Exception):
            raise self.of[key]
        return self.of[key]


def without_heads(entry):
    """A result without rotated heads, of which there are enough."""
    kinds = {kind: {k: v for k, v in record.items() if k != "k"} for kind, record in entry["kinds"].items()}
    return {**entry, "kinds": kinds}


def forms_of(name, cls, results):
    seen = set()
    for documents in (wrapper_documents, rope_documents, alias_documents, size_documents):
        try:
            list_of = list(documents(name, cls))
        except Exception as e:
            print(f"{name}: {documents.__name__}: {type(e).__name__}: {str(e)[:150]}")
            continue
        for document in list_of:
            text = json.dumps(document, sort_keys=True)
            if text in seen:
                continue
            seen.add(text)
            form = {"document": document}
            try:
                config = cls.from_dict(copy.deepcopy({k: v for k, v in document.items() if k != "model_type"}))
                for _ in range(3):
                    found = text_model(config)
                    if found is None:
                        break
                    config = found[1]
                form["result"] = results.add(config)
                if form["result"] is None:
                    continue
                if documents is size_documents:
                    form["result"] = without_heads(form["result"])
            except Exception as e:
                form["error"] = type(e).__name__  # texts have sets of Python, in any order
            yield form


def main(arguments):
    found = survey.configurations()
    before = json.loads(gzip.decompress(OUT.read_bytes())) if arguments else {"results": [], "types": {}}
    types = {name: [{**f, "result": before["results"][f["result"]]} if "result" in f else f for f in forms] for name, forms in before["types"].items()}
    with torch.no_grad():
        for name in arguments or found:
            if " " in name:
                continue
            forms = list(forms_of(name, found[name], Results()))
            types.pop(name, None)
            if forms:
                types[name] = forms
    # Equal results stand once.
    texts = {}
    for forms in types.values():
        for form in forms:
            if "result" in form:
                form["result"] = texts.setdefault(json.dumps(form["result"], sort_keys=True), len(texts))
    fixed = {name: keys for name, cls in found.items() if " " not in name and (keys := fixed_keys(cls))}
    document = {"versions": survey.versions(), "fixed": fixed, "results": [json.loads(t) for t in texts], "types": types}
    OUT.write_bytes(gzip.compress(json.dumps(document, sort_keys=True, separators=(",", ":")).encode(), mtime=0))
    print(len(types), "types,", sum(map(len, types.values())), "forms,", len(texts), "results,", OUT.stat().st_size, "bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
