"""Search: random configurations, and what the models' own code makes of them.

For every type of Hugging Face transformers that rotates it makes configurations from a seed, loads
each as a user's config.json is loaded, runs the model's own code (trace.py, or survey.py where
a type's model cannot be run alone), and writes documents and results. TestSearch compares them, layer by layer.

    python3 search.py SEED EACH FILE.json.gz [TYPE...]
"""

import copy
import gzip
import json
import os
import random
import sys
import tempfile

import forms
import survey
import torch
import trace
from transformers import AutoConfig

SEQUENCE = max(survey.POSITIONS) + 1
SIZES = {
    "hidden": ("hidden_size", "d_model", "n_embd", "embed_dim", "dim"),
    "heads": ("num_attention_heads", "num_heads", "n_head", "n_heads"),
    "kv": ("num_key_value_heads",),
    "head_dim": ("head_dim", "kv_channels", "attention_head_dim"),
    "layers": ("num_hidden_layers", "num_layers", "depth", "n_layer", "n_layers"),
    "positions": ("max_position_embeddings", "n_positions", "max_seq_len"),
}
COUNTS = ("pattern", "interval", "every", "_step", "first_k", "num_dense", "max_window_layers", "layer_group", "num_kv_shared")
FLAGS = ("use_sliding_window", "rope_interleave", "attn_temperature_tuning", "use_bidirectional_attention", "use_qk_norm", "indexer_rope_interleave", "use_mem_rope", "attention_k_eq_v", "use_rope", "new_decoder_architecture", "alibi", "parallel_attn")
NUMBERS = {
    "qk_rope_head_dim": (16, 32, 64), "qk_nope_head_dim": (16, 32, 64, 128), "v_head_dim": (32, 64, 128), "q_lora_rank": (None, 32, 64), "kv_lora_rank": (32, 64),
    "rotary_dim": (8, 16, 32, 64), "partial_rotary_factor": (0.25, 0.4, 0.5, 0.75, 1.0), "rotary_pct": (0.25, 0.5, 1.0), "swa_head_dim": (32, 64), "global_head_dim": (64, 128),
    "attn_scale": (0.1, 0.25), "floor_scale": (16, 512), "sliding_window": (None, 16, 128), "original_max_position_embeddings": (256, 512, 4096),
    "rope_theta": (5e4, 1e6), "rope_local_base_freq": (2e4,), "compress_rope_theta": (7e4,), "rope_ratio": (2.0,), "rotary_emb_base": (3e4,), "rotary_embedding_base": (3e4,), "attn_temperature_len": (64,),
}
# Keys that a class does not have may stand in a file all the same; these, and those of other classes that speak of positions.
FOREIGN = {"head_dim": (32, 64, 128), "rope_theta": (5e4, 1e6), "partial_rotary_factor": (0.5, 0.25), "num_key_value_heads": (1, 2), "sliding_window": (64, None), "rope_interleave": (True, False), "original_max_position_embeddings": (256,), "rotary_pct": (0.5,), "layer_types": (None,), "no_rope_layers": (None,), "use_sliding_window": (True, False)}
# What a model needs to run beside what survey.NEEDS has.
NEEDS = {
    "dots1": {"n_routed_experts": 8, "n_shared_experts": 1, "moe_intermediate_size": 64},
    "diffusion_gemma_text": {"num_experts": 4, "top_k_experts": 2, "moe_intermediate_size": 32},
    "hunyuan_v1_dense": {"head_dim": 128},
    "hunyuan_v1_moe": {"head_dim": 128},
    "deepseek_ocr2_text": {"mlp_layer_types": ["dense"] * 48},
    "ministral": {"head_dim": 128},
    "nemotron": {"num_key_value_heads": 4},
    "qwen3_omni_moe_talker_text": {"shared_expert_intermediate_size": 32},
    "step3p5": {"sliding_window": 128},
    "t5gemma2_decoder": {"dropout_rate": 0.0},
    "t5gemma2_text": {"dropout_rate": 0.0},
    "lfm2_moe": {"layer_types": ["full_attention", "conv"] * 16},
}
# Models that do not run on four tokens, and the kinds of frequencies of their layers.
ALONE = ("deepseek_v4",)
KIND_OF = {f"deepseek_v4 {t}": "main" if t == "sliding_attention" else "compress" for t in ("sliding_attention", "compressed_sparse_attention", "heavily_compressed_attention")}
RULES = ("default", "linear", "dynamic", "yarn", "longrope", "llama3")


class Maker:
    """Random configurations of one type."""

    def __init__(self, name, cls, rng, others, axes):
        self.name, self.cls, self.rng, self.others, self.axes = name, cls, rng, others, axes
        self.needs = copy.deepcopy({**survey.NEEDS.get(name, {}), **NEEDS.get(name, {})})
        self.default = survey.saved(cls(**copy.deepcopy(self.needs)))
        self.kinds = [k for k in survey.kinds(cls(**copy.deepcopy(self.needs))) if k]

    def often(self, share):
        return self.rng.random() < share

    def key(self, size):
        """The name of a size in this class, with those that mean the same."""
        aliases = self.cls.attribute_map or {}
        names = [n for n in SIZES[size] if n in self.default or aliases.get(n) in self.default]
        return self.rng.choice(names[:2]) if names and self.often(0.2) else names[0] if names else None

    def put(self, size, value, null=0.08, absent=0.25):
        key = self.key(size)
        if key is None or self.often(absent):
            return None
        null = null if self.default.get(key, 0) is None else null / 4  # whose class says it may be null, or does not
        self.document[key] = None if self.often(null) else value
        return self.document[key]

    def make(self):
        pick = self.rng.choice
        self.document = {"model_type": self.name}
        if not self.often(0.1):
            self.document.update(copy.deepcopy(self.needs))
        heads, dim = pick((2, 4, 6, 8)), pick((16, 32, 48, 64, 80, 96, 128, 192, 256))
        if self.often(0.85):
            self.put("heads", heads, null=0.01, absent=0.15)
            self.put("hidden", heads * dim if self.often(0.7) else 32 * pick((4, 6, 8, 16)) * heads, null=0.01, absent=0.15)
            self.put("kv", pick([n for n in (1, 2, heads) if heads % n == 0]))
            self.put("head_dim", dim, null=0.15, absent=0.4)
        self.put("positions", pick((512, 1024, 2048, 8192)), absent=0.5)
        count = self.put("layers", pick(range(1, 10)), null=0.01, absent=0.15)
        self.lists(count)
        for key, value in self.default.items():
            if key in self.document:
                continue
            if isinstance(value, bool) and (survey.ABOUT.search(key) or key in FLAGS) and self.often(0.25):
                self.document[key] = pick((not value, not value, value)) if not self.often(0.03) else None
            elif any(word in key for word in COUNTS) and (isinstance(value, int) or value is None) and not isinstance(value, bool) and self.often(0.4):
                self.document[key] = pick((1, 2, 3, 4, 5)) if value is not None and not self.often(0.03) else pick((1, 2, 3, None))
            elif key in NUMBERS and self.often(0.45):
                values = [v for v in NUMBERS[key] if v is not None or value is None]
                self.document[key] = pick(values) if not self.often(0.02) else None
        if "qk_rope_head_dim" in self.document and "head_dim" in self.default and self.often(0.6):
            self.document["head_dim"] = self.document["qk_rope_head_dim"]
        if self.often(0.12):
            key = pick([k for k in FOREIGN if k not in self.document])
            self.document[key] = pick(FOREIGN[key])
        if self.often(0.12):
            key = pick(sorted(self.others))
            if key not in self.document and key not in self.default:
                self.document[key] = copy.deepcopy(pick(self.others[key]))
        self.rope()
        return self.document

    def lists(self, count):
        pick = self.rng.choice
        for key in ("layer_types", "layers_block_type", "layer_block_types"):
            value = self.default.get(key)
            if not isinstance(value, list) or not value:
                continue
            kinds = sorted(set(value) | {k for k in self.kinds if k.endswith("attention")})
            if self.often(0.5) or key in self.needs:
                n = count or self.default.get("num_hidden_layers", len(value))
                self.document[key] = [pick(kinds) for _ in range(n)]
                if self.often(0.04):
                    self.document[key] = self.document[key][1:]
            elif self.often(0.1):
                self.document[key] = None
            elif count:
                self.document.pop(key, None)  # of what the type needs
        if count:
            for key, values in (("no_rope_layers", (0, 1)), ("layer_rope_theta", (0, 1e4, 5e5)), ("no_rope_layer_types", (0, 1))):
                if key in self.default and self.often(0.4):
                    self.document[key] = [pick(values) for _ in range(count)]

    # Rope parameters

    def pairs(self, partial):
        """How many pairs rotate, as far as the class says it without running."""
        try:
            document = {k: v for k, v in self.document.items() if k not in ("model_type", "rope_parameters", "rope_scaling")}
            config = self.cls.from_dict(copy.deepcopy(document))
            dim = getattr(config, "qk_rope_head_dim", None) or survey.head_dim_of(config, 32, "")
        except Exception:
            dim = 64
        return max(1, int(dim * partial) // 2)

    def rule(self, legacy):
        pick = self.rng.choice
        p, partial = {}, 1.0
        old = {k: v for k, v in (self.default.get("rope_parameters") or {}).items() if not isinstance(v, dict)}
        kind = pick(RULES) if self.often(0.4 if self.axes else 0.7) else "default"
        if self.often(0.04):
            kind = pick(("proportional", "mrope", "su", "ntk", "none", "Linear"))
        if old.get("rope_type") not in (None, "default") and self.often(0.4):
            kind = old["rope_type"]
        factor = old.get("partial_rotary_factor", self.default.get("partial_rotary_factor"))
        if isinstance(factor, (int, float)):
            partial = factor
        if self.often(0.3 if factor is not None else 0.1):
            partial = p["partial_rotary_factor"] = pick((0.25, 0.4, 0.5, 0.75, 1.0))
        p["rope_type" if not legacy or self.often(0.6) else "type"] = kind
        if not legacy:
            p["rope_theta"] = pick((10000, 10000.0, 5e5, 1e6, 12345.5))
        pairs = self.pairs(partial)
        if kind in ("linear", "dynamic", "yarn", "llama3", "proportional") or kind == "longrope" and self.often(0.5):
            p["factor"] = pick((2, 4.0, 8.0, 1.5, 1.0))
        if kind in ("yarn", "longrope", "llama3") or kind == "dynamic" and self.often(0.3):
            p["original_max_position_embeddings"] = pick((256, 512, 2048, 4096))
        optional = {"yarn": {"beta_fast": (32, 16.0), "beta_slow": (1, 2.0), "mscale": (1.0, 0.707), "mscale_all_dim": (1.0, 0.707, 0), "attention_factor": (1.0, 1.2), "truncate": (True, False)}, "longrope": {"attention_factor": (1.0, 1.19)}}
        for key, values in optional.get(kind, {}).items():
            if self.often(0.25):
                p[key] = pick(values)
        if kind == "llama3":
            p["low_freq_factor"], p["high_freq_factor"] = pick((1, 1.0)), pick((4, 4.0, 2.0))
        if kind == "longrope":
            p["short_factor"] = [1 + self.rng.randrange(8) / 8 for _ in range(pairs)]
            p["long_factor"] = [1 + self.rng.randrange(64) / 8 for _ in range(pairs)]
        if ("mrope_section" in old or self.axes) and not self.often(0.15) or self.often(0.01):
            first = self.rng.randrange(1, max(2, pairs - 1))
            second = self.rng.randrange(0, max(1, pairs - first))
            q = 3 * pairs // 8  # as published models have them
            p["mrope_section"] = pick(([first, second, pairs - first - second], [pairs - 2 * q, q, q], [q, q, pairs - 2 * q]))
        for key in ("mrope_interleaved", "llama_4_scaling_beta"):
            if key in old and self.often(0.7):
                p[key] = old[key]
        if self.often(0.1):
            p.pop(pick(sorted(p)))  # incomplete
        if self.often(0.03):
            p[pick(sorted(p) or ["factor"])] = None
        return p

    def rope(self):
        pick, document = self.rng.choice, self.document
        has = "rope_parameters" in self.default
        if not has and not self.often(0.1):
            return
        if "rope_parameters" in document and self.often(0.5):
            return
        style = pick(("absent", "flat", "flat", "flat", "legacy", "legacy", "theta") + (("kinds",) * 6 if self.kinds else ()) + (("kinds",) if self.often(0.1) else ()))
        if self.often(0.05):
            style = pick(("empty", "null", "both"))
        if style == "absent":
            document.pop("rope_parameters", None)
        elif style == "null":
            document["rope_parameters"] = None
        elif style == "empty":
            document["rope_parameters"] = {}
        elif style in ("flat", "both"):
            document["rope_parameters"] = self.rule(False)
        elif style == "kinds":
            kinds = self.kinds or ["full_attention", "sliding_attention"]
            document["rope_parameters"] = {k: self.rule(False) for k in kinds if not self.often(0.05)}
        if style in ("legacy", "both"):
            document.pop("rope_parameters", None) if style == "legacy" else None
            document["rope_scaling"] = pick((self.rule(True), self.rule(True), None))
        if style in ("legacy", "theta", "both"):
            document.pop("rope_parameters", None) if style == "theta" else None
            document["rope_theta"] = pick((10000, 5e5, 1e6))


# Results


def loaded(document, classes):
    """The configuration of the text model, from a file."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "config.json"), "w") as f:
            json.dump(document, f)
        name = document["model_type"]
        config = (AutoConfig if name in survey.CONFIG_MAPPING else classes[name]).from_pretrained(folder)
    for _ in range(3):
        found = forms.text_model(config)
        if found is None:
            break
        config = found[1]
    return config


def told(stage, e):
    text = str(e).split("\n    ")[-1] if "validator" in str(e) else str(e)
    return {"stage": stage, "error": f"{type(e).__name__}: {' '.join(text.split())[:160]}"}


def surveyed(config):
    """What survey.py finds, in the form of trace.trace."""
    entry = survey.TABLES.get(config.model_type, survey.rotation)(config)
    if entry is None:
        return "", {}, ["no rotary module"]
    letters, records, errors = "", {}, []
    names = {}
    for kind, record in entry["kinds"].items():
        if "inv_freq" not in record:
            errors.append(record.get("unresolved", "?"))
            continue
        if "unresolved" in record:
            errors.append(record["unresolved"])
        record.pop("k", None)
        names[kind] = chr(ord("A") + len(records))
        records[names[kind]] = {"rotates": record.get("rotates", True), **record, "kind": kind}
    layers = [KIND_OF.get(f"{config.model_type} {layer}", layer) for layer in entry.get("layers") or []]
    first = next(iter(names.values()), "?")
    for i, r in enumerate(entry["rotates"]):
        kind = layers[i] if layers and i < len(layers) else ""
        letters += "-" if r == "-" else names.get(kind, first) if len(names) <= 1 or kind in names else "?"
    return letters, records, errors


def result(config, by_trace):
    if by_trace:
        try:
            letters, records, errors = trace.trace(config)
            if set(letters) != {"?"}:
                return {"layers": letters, "records": records, **({"unknown": errors} if errors else {})}
            unknown = all("NoneType: None" in e or "no rotation" in e for e in errors)
            return {"stage": "script" if unknown else "layers", "error": "; ".join(errors)[:200]}
        except trace.Unknown as e:
            return {"stage": "script", "error": str(e)[:200]}
        except Exception as e:
            return told("model", e)
    try:
        letters, records, errors = surveyed(config)
    except Exception as e:
        return told("rotary", e)
    if not records:
        return {"stage": "rotary", "error": "; ".join(errors)[:200]}
    return {"layers": letters, "records": records, **({"unknown": errors} if errors else {})}


class Runner:
    """Runs the models of one type: whole ones, or their rotary modules where even the class's defaults
    do not run alone."""

    def __init__(self, name, cls):
        self.whole = False if name in ALONE else None  # whether that is understood
        self.module = None
        self.default = lambda: cls(**copy.deepcopy({**survey.NEEDS.get(name, {}), **NEEDS.get(name, {})}))

    def result(self, config):
        if self.whole is not False:
            found = result(config, True)
            if "layers" in found:
                self.whole = True
            elif self.whole is None:
                self.whole = "layers" in result(self.default(), True)
            if self.whole:
                return found
        found = result(config, False)
        if "layers" in found:
            self.module = True
        elif self.module is None:
            self.module = "layers" in result(self.default(), False)
        return found if self.module else {"stage": "script", "error": found["error"]}

    def by(self):
        return "trace" if self.whole else "survey" if self.module else "nothing"


def chain(name, known, holds):
    """The types that hold the text model of a type, with its key in each, and its type."""
    holders = []
    while "text" in known.get(name, {}) and not known[name].get("kinds"):
        text = known[name]["text"]
        if not text["key"] or len(holders) > 3:
            break
        holders.append((name, text["key"]))
        name = holds.get(name, {}).get(text["key"], text)["type"]
    return holders, name


def search(name, seed, each, classes, known, holds, others):
    """name may be a type that holds a text model, at any depth."""
    rng = random.Random(f"{seed} {name}")
    holders, inner = chain(name, known, holds)
    cls = classes[inner]
    axes = any(k.get("axes", 1) > 1 for k in known[inner]["kinds"].values())
    maker = Maker(inner, cls, rng, others, axes)
    runner = Runner(inner, cls)
    found = []
    while len(found) < each or len(found) < 2 * each and 2 * sum("layers" in f for f in found) < each:
        document = maker.make()
        flat = holders and rng.random() < 0.06  # beside the other keys of the holder
        if flat:
            document["model_type"] = holders[0][0]
        for holder, key in reversed([] if flat else holders):
            if rng.random() < 0.3:
                document.pop("model_type", None)
            document = {"model_type": holder, key: document}
        entry = {"document": document}
        try:
            config = loaded(document, classes)
            entry["type"] = config.model_type
        except Exception as e:
            entry.update(told("config", e))
        else:
            entry.update(runner.result(config))
        found.append(entry)
    return {"by": runner.by(), "found": found}


def values_of(document):
    """The keys of all classes that speak of positions, with their values."""
    values = {}
    for entry in document["types"].values():
        for key, value in entry.get("saved", {}).items():
            if key in document["keys"] and value is not None and key not in ("rope_parameters", "rope_scaling"):
                values.setdefault(key, [])
                if value not in values[key]:
                    values[key].append(value)
    return values


def main(seed, each, out, *names):
    classes = {n: c for n, c in survey.configurations().items() if " " not in n}
    before = json.loads(gzip.decompress(survey.OUT.read_bytes()))
    known, holds, others = before["types"], before["holds"], values_of(before)
    types = {}
    torch.set_grad_enabled(False)
    rotating = [n for n in known if n in classes and known.get(chain(n, known, holds)[1], {}).get("kinds")]
    for name in names or rotating:
        try:
            types[name] = search(name, seed, int(each), classes, known, holds, others)
        except Exception as e:
            print(name, type(e).__name__, str(e)[:200])
            continue
        done = [f for f in types[name]["found"] if "layers" in f]
        print(name, types[name]["by"], len(done), "of", each, flush=True)
        if len(types) % 40 == 0:
            write(out, seed, types)
    write(out, seed, types)


def write(out, seed, types):
    document = {"versions": survey.versions(), "seed": seed, "types": types}
    with open(out, "wb") as f:
        f.write(gzip.compress(json.dumps(document, sort_keys=True, separators=(",", ":")).encode(), mtime=0))


if __name__ == "__main__":
    main(*sys.argv[1:])
