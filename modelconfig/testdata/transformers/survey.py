"""Survey: what every rotary embedding of Hugging Face transformers computes.

Walks every configuration class, instantiates it with its defaults and the rotary
module that takes it, and writes for each kind of layer what the module and the
attention do with a head: survey.json.gz. A type of which the script does not find
out how it rotates is listed with the reason. The types that do not rotate by their code,
and hold none that does, go to internal/models/unrotated.txt; what classes of types that rotate
refuse, to internal/models/checked.txt. No weights, no network.

    python3 survey.py          write survey.json.gz
    python3 survey.py TYPE...  write some types anew
    python3 survey.py new      print the types of this version of transformers that survey.json.gz does not have
"""

import ast
import copy
import gzip
import importlib
import importlib.metadata
import inspect
import json
import os
import pathlib
import re
import struct
import sys

os.environ["ATEN_CPU_CAPABILITY"] = "avx2"

import torch
import transformers
from transformers import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
from transformers.utils import logging

HERE = pathlib.Path(__file__).parent
OUT = HERE / "survey.json.gz"
UNROTATED = HERE.parent.parent / "internal/models/unrotated.txt"
CHECKED = HERE.parent.parent / "internal/models/checked.txt"
POSITIONS = [0, 1, 77, 1000]  # of the recorded heads
ABOUT = re.compile("rope|rotary|position|alibi|theta|nope|pos_emb|freq|yarn|ntk", re.I)

torch.set_num_threads(1)
logging.set_verbosity_error()


def hex32(values):
    return "".join(struct.pack(">f", v).hex() for v in values)


def inputs(tokens, heads, dim):
    """[1, heads, tokens, dim] of float32: element n, counted [token][head][dim], is
    ((n*2654435761 + 97) mod 2^24 - 2^23) / 2^21."""
    n = torch.arange(tokens * heads * dim, dtype=torch.int64)
    x = ((n * 2654435761 + 97) % (1 << 24) - (1 << 23)).to(torch.float32) / (1 << 21)
    return x.reshape(1, tokens, heads, dim).transpose(1, 2)


# What a configuration of a type needs beside its defaults, which contradict one another
# or rotate nothing.
NEEDS = {
    "bamba": {"attn_layer_indices": [1, 3]},
    "glm4_moe": {"head_dim": 128},
    "granitemoehybrid": {"position_embedding_type": "rope", "layer_types": ["full_attention"] * 32},
    "cohere_compass_text": {"rope_parameters": {"full_attention": {"rope_type": "default", "rope_theta": 10000.0}}},
    "esm": {"position_embedding_type": "rotary"},
    "glm4v_text": {"partial_rotary_factor": 0.5},
    "glm4v_moe_text": {"head_dim": 128},
    "glm_image_text": {"partial_rotary_factor": 0.5},
    "hunyuan_vl_text": {"head_dim": 128, "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "xdrope_section": [16, 16, 16, 16]}},
    "hy_v4": {"rope_theta": 10000},
    "qwen3_omni_moe_text": {"head_dim": 128},
    "qwen4_exp_text": {"partial_rotary_factor": 0.25, "indexer_n_heads": 2, "indexer_kv_heads": 1, "indexer_head_dim": 128, "indexer_budget": 1024, "indexer_compress_ratio": 4},
    "qwen3_omni_moe_talker_text": {"head_dim": 128},
    "zamba2": {"use_mem_rope": True},
}


# Configurations


def configurations():
    """(name, class) of every configuration class, those inside others too."""
    found = {}

    def add(cls):
        name = getattr(cls, "model_type", "")
        if not name or cls in found.values():
            return
        found.setdefault(name if name not in found else f"{name} ({cls.__name__})", cls)
        for sub in (getattr(cls, "sub_configs", None) or {}).values():
            if isinstance(sub, type) and sub.__name__ != "AutoConfig":
                add(sub)

    for name in CONFIG_MAPPING.keys():
        try:
            add(CONFIG_MAPPING[name])
        except Exception:  # an optional dependency
            pass
    return found


def coded(cls):
    """The configuration class that code names: the class itself, or where it has no code of its
    own that of the model that transformers takes for it."""
    name = MODEL_MAPPING_NAMES.get(cls.model_type)
    if not own_files(cls) and isinstance(name, str):
        return getattr(transformers, name).config_class
    return cls


def own_files(cls):
    path = pathlib.Path(sys.modules[cls.__module__].__file__).parent
    return [f for f in sorted(path.glob("modeling_*.py")) if "_tf_" not in f.name and "_flax_" not in f.name]


def modeling_files(cls):
    """The files with the code that takes a configuration."""
    return own_files(coded(cls))


def modeling_modules(cls):
    """The modules of these files."""
    package = coded(cls).__module__.rsplit(".", 1)[0]
    for file in modeling_files(cls):
        try:
            yield importlib.import_module(f"{package}.{file.stem}")
        except ImportError:
            pass


def takes(cls, config_class):
    """Whether a module's constructor says that it takes a configuration class: 2 where
    it names it, 1 where it does not say."""
    annotation = None
    for parameter in list(inspect.signature(cls.__init__).parameters.values())[1:]:
        if parameter.name in ("config", "atom_config"):
            annotation = parameter.annotation
            break
    else:
        return 0
    if annotation is inspect.Parameter.empty:
        return 1
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    return 2 if coded(config_class).__name__ in re.findall(r"\w+", text) else 0


def classes(modules, config_class, words, without=()):
    """Classes of the modules for a configuration class, the surest first."""
    result = []
    for module in modules:
        for name, value in vars(module).items():
            if not (isinstance(value, type) and issubclass(value, torch.nn.Module) and value.__module__ == module.__name__):
                continue
            if not any(word in name for word in words) or any(word in name for word in without):
                continue
            certainty = takes(value, config_class)
            if certainty:
                result.append((-certainty, len(result), value))
    return [value for _, _, value in sorted(result)]


# The rotary class of types whose configuration no class names, where it is not that with
# the likest name.
ROTARY = {"qwen3_omni_moe_talker_code_predictor": "Qwen3OmniMoeRotaryEmbedding"}


def rotary_classes(modules, config_class):
    result = []
    name = ROTARY.get(config_class.model_type)
    if name:
        return [vars(module)[name] for module in modules if name in vars(module)]
    for module in modules:
        for name, value in vars(module).items():
            if isinstance(value, type) and value.__module__ == module.__name__ and name.endswith("RotaryEmbedding"):
                another = any((word in name) != (word in config_class.__name__) for word in ("Vision", "Audio", "Assistant", "DiT", "Code2Wav"))
                result.append((another, -len(os.path.commonprefix([name, config_class.__name__])), len(result), value))
    # One of another part of the model stands in only where it is the only one.
    return [value for another, _, _, value in sorted(result) if not another or len(result) == 1][:1]


def attention_classes(modules, vision):
    """Those that do not say which configuration they take."""
    result = []
    for module in modules:
        for name, value in vars(module).items():
            if isinstance(value, type) and value.__module__ == module.__name__ and name.endswith("Attention") and ("Vision" in name) == vision:
                result.append(value)
    return result


# Tables


def angles(cos, sin):
    return torch.atan2(sin.double(), cos.double())


def half_width(cos, sin):
    """Tables with one entry for each pair, whatever the module makes of them."""
    width = cos.shape[-1]
    if width % 2 == 0:
        half = width // 2
        if torch.equal(cos[..., :half], cos[..., half:]) and torch.equal(sin[..., :half], sin[..., half:]):
            return cos[..., :half], sin[..., :half], "halves"
        if torch.equal(cos[..., ::2], cos[..., 1::2]) and torch.equal(sin[..., ::2], sin[..., 1::2]):
            return cos[..., ::2], sin[..., ::2], "neighbours"
    return cos, sin, "single"


def split(embeddings):
    """cos and sin of what a rotary module returns."""
    if isinstance(embeddings, torch.Tensor) and embeddings.is_complex():
        return embeddings.real.contiguous(), embeddings.imag.contiguous()
    if isinstance(embeddings, torch.Tensor):
        return embeddings.cos(), embeddings.sin()
    return embeddings[0], embeddings[1]


SINES_FIRST = ("GPTJRotaryEmbedding", "CodeGenRotaryEmbedding")


def call(rotary, positions, layer_type):
    """The position embeddings of positions: [tokens], or [axes][tokens]."""
    parameters = inspect.signature(rotary.forward).parameters
    arguments = {"layer_type": layer_type} if "layer_type" in parameters and layer_type else {}
    x = torch.zeros(1, 1)
    made = rotary(x, positions, **arguments)
    return made[::-1] if type(rotary).__name__ in SINES_FIRST else made


def shapes(axes, positions):
    """Ways to give positions [axes][tokens] to a rotary module."""
    p = torch.tensor(positions, dtype=torch.int64)
    if axes == 1:
        return [p]  # [1, tokens]
    return [p[:, None, :], p.T, p.T[None]]


def tables_at(rotary, axes, positions, layer_type, shape):
    cos, sin = split(call(rotary, shapes(axes, positions)[shape], layer_type))
    cos, sin = (t.reshape(-1, t.shape[-1]) if t.shape[:-1].numel() == len(positions[0]) else t for t in (cos, sin))
    if cos.dim() != 2 or cos.shape[0] != len(positions[0]):
        raise ValueError(f"tables of shape {tuple(cos.shape)}")
    return cos, sin


def ladder(rotary, layer_type):
    """Frequencies and axes of the pairs, measured: the angles at position 1 of one axis
    and 0 of the others."""
    buffers = dict(rotary.named_buffers())
    section = getattr(rotary, "mrope_section", None)
    section = section.get(layer_type) if isinstance(section, dict) else section
    tries = [(1, 0), (2, 1), (2, 2), (3, 0)]
    if section is not None:
        tries = [(len(section), 0)]
    elif "Vision" in type(rotary).__name__:
        tries = [(2, 1), (2, 2), (1, 0)]
    errors = []
    for axes, shape in tries:
        try:
            zero = [[0]] * axes
            cos, sin = tables_at(rotary, axes, zero, layer_type, shape)
            factor = float(cos[0, 0])
            one = []
            for axis in range(axes):
                unit = [[1 if a == axis else 0] for a in range(axes)]
                cos, sin, form = half_width(*tables_at(rotary, axes, unit, layer_type, shape))
                one.append(angles(cos, sin)[0])
            one = torch.stack(one)
            used = (one.abs() > 0).sum(0)
            if axes > 1 and bool((used > 1).any()):
                raise ValueError("pairs of several axes")
            axis_of = one.abs().argmax(0)
            return {
                "axes": axes, "shape": shape, "form": form, "factor": factor,
                "measured": one.gather(0, axis_of[None])[0].tolist(), "axis": axis_of.tolist(),
                "buffers": {n: b.flatten().tolist() for n, b in buffers.items() if "inv_freq" in n and "original" not in n},
            }
        except Exception as e:
            errors.append(f"{type(e).__name__}: {str(e)[:80]}")
    raise ValueError("; ".join(errors))


# Rotations


class Fixed(torch.nn.Module):
    """A projection whose output is given."""

    def __init__(self, output):
        super().__init__()
        self.output = output

    def forward(self, x):
        return self.output.reshape(*x.shape[:-1], -1)


class Same(torch.nn.Module):
    weight = torch.zeros(1)

    def forward(self, x, *rest, **options):
        return x


class Captured(Exception):
    pass


def capture(module, query, key, value, *rest, **options):
    raise Captured(query, key)


ALL_ATTENTION_FUNCTIONS.register("survey", capture)

QUERIES, KEYS = ("q_proj", "query", "to_q", "wq", "query_proj"), ("k_proj", "key", "to_k", "wk", "key_proj")


def run_attention(attention_class, config, index, rotary, axes, shape, layer_type, head_dim):
    """q and k before and after, of the attention's own forward: [1, heads, tokens, dim]."""
    small = copy.deepcopy(config)
    small._attn_implementation = "survey"
    for name, value in (("num_attention_heads", 2), ("num_key_value_heads", 2), ("hidden_size", 2 * head_dim)):
        try:
            setattr(small, name, value)
        except Exception:
            pass
    arguments = {"layer_idx": index} if "layer_idx" in inspect.signature(attention_class.__init__).parameters else {}
    attention = attention_class(small, **arguments)
    names = dict(attention.named_modules())
    q_name = next(n for n in QUERIES if n in names)
    k_name = next(n for n in KEYS if n in names)
    dim = getattr(attention, "head_dim", None) or getattr(attention, "head_size", None) or head_dim
    tokens = len(POSITIONS)
    out = names[q_name].out_features // dim
    kout = names[k_name].out_features // dim
    q, k = inputs(tokens, out, dim), inputs(tokens, kout, dim)
    for name, module in list(names.items()):
        if name and "." not in name and "norm" in name.lower():
            setattr(attention, name, Same())
    setattr(attention, q_name, Fixed(q.transpose(1, 2)))
    setattr(attention, k_name, Fixed(k.transpose(1, 2)))
    embeddings = call(rotary, shapes(axes, [POSITIONS] * axes)[shape], layer_type)
    hidden = torch.zeros(1, tokens, small.hidden_size)
    parameters = inspect.signature(attention.forward).parameters
    arguments = {}
    for name, parameter in parameters.items():
        if name in ("hidden_states", "x", "hidden_state"):
            arguments[name] = hidden
        elif name in ("position_embeddings", "freqs_cis", "position_embedding"):
            arguments[name] = embeddings
        elif name in ("cos", "sin"):
            arguments[name] = embeddings[("cos", "sin").index(name)]
        elif name in ("position_ids", "cache_position"):
            arguments[name] = torch.tensor(POSITIONS)[None] if name == "position_ids" else torch.tensor(POSITIONS)
        elif name == "attention_mask" and parameter.default is inspect.Parameter.empty:
            arguments[name] = None
        elif parameter.default is inspect.Parameter.empty and parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            arguments[name] = None
    try:
        attention(**arguments)
    except Captured as e:
        query, key = e.args
    else:
        raise ValueError("the attention did not call its function")
    if query.shape[-1] != dim or query.shape[-2] != tokens:
        raise ValueError(f"q of shape {tuple(query.shape)} for heads of {dim}")
    return q, k, query.contiguous(), key.contiguous()


APPLY = re.compile(r"\b((?:vision_)?_?apply_\w*(?:rotary|rope)\w*)\(")


def run_function(modules, attention_class, config, index, rotary, axes, shape, layer_type, width):
    """A head before and after the function that the attention calls."""
    module = sys.modules[attention_class.__module__]
    source = inspect.getsource(attention_class)
    called = [n for n in dict.fromkeys(APPLY.findall(source)) if hasattr(module, n)]
    if "rope_interleave" in source and hasattr(config, "rope_interleave"):
        called = [n for n in called if n.endswith("interleave") == bool(config.rope_interleave)]
    called = [n for n in called if not n.startswith("self.")]
    if len(called) != 1:
        raise ValueError(f"calls {called}")
    function = getattr(module, called[0])
    function = getattr(function, "__wrapped__", function)
    parameters = list(inspect.signature(function).parameters)
    embeddings = call(rotary, shapes(axes, [POSITIONS] * axes)[shape], layer_type)
    x = inputs(len(POSITIONS), 1, width)
    if parameters[:4] == ["q", "k", "cos", "sin"] and "vision" in called[0]:
        x = x[0].transpose(0, 1)  # [tokens, heads, dim]
        cos, sin = (t.reshape(-1, t.shape[-1]) for t in split_as(embeddings))
        result = function(x, x.clone(), cos, sin)[0].transpose(0, 1)[None]
        x = x.transpose(0, 1)[None]
    elif parameters[:4] == ["q", "k", "cos", "sin"]:
        result = function(x, x.clone(), *split_as(embeddings))[0]
    elif parameters[:3] == ["xq", "xk", "freqs_cis"]:
        first = x.transpose(1, 2) if "llama4" in module.__name__ else x
        result = function(first.contiguous(), first.clone().contiguous(), embeddings)[0]
        result = result.transpose(1, 2) if "llama4" in module.__name__ else result
    elif parameters[1:3] == ["cos", "sin"]:
        arguments = {"unsqueeze_dim": 1} if "unsqueeze_dim" in parameters else {}
        result = function(x, *split_as(embeddings), **arguments)
    else:
        raise ValueError(f"{called[0]}{tuple(parameters)}")
    return x, x, result, result


def split_as(embeddings):
    return embeddings[0], embeddings[1]


def hypotheses(rotary_dim, head_dim):
    for offset in dict.fromkeys((0, head_dim - rotary_dim)):
        for layout in ("half-split", "interleaved", "interleaved to half-split", "half-split to interleaved"):
            for sign in (1, -1):
                yield offset, layout, sign


def pairs_of(x, layout, before):
    """First and second elements of the pairs of a slice."""
    order = layout.split(" to ")
    order = order[0] if before else order[-1]
    if order == "half-split":
        half = x.shape[-1] // 2
        return x[..., :half], x[..., half:]
    return x[..., ::2], x[..., 1::2]


def explain(before, after, cos, sin):
    """Offset, layout and sign of the rotation that leads from before to after."""
    pairs = cos.shape[-1]
    head_dim = before.shape[-1]
    cos, sin = cos.double(), sin.double()
    b, a = before.double(), after.double()
    if torch.equal(before, after):
        return None
    for offset, layout, sign in hypotheses(2 * pairs, head_dim):
        if offset < 0:
            continue
        piece = slice(offset, offset + 2 * pairs)
        x1, x2 = pairs_of(b[..., piece], layout, True)
        y1, y2 = pairs_of(a[..., piece], layout, False)
        s = sin * sign
        error = max((y1 - (x1 * cos - x2 * s)).abs().max(), (y2 - (x2 * cos + x1 * s)).abs().max())
        rest = torch.cat([(a - b)[..., :offset], (a - b)[..., offset + 2 * pairs :]], -1).abs().sum()
        if error < 1e-4 and rest == 0:
            return {"offset": offset, "layout": layout, "sign": sign}
    raise ValueError("no rotation that is known")


def head_dim_of(config, pairs, kind):
    try:
        return config.per_layer_config[kind].head_dim
    except Exception:
        pass
    for name in ("head_dim", "kv_channels", "attention_head_dim"):
        value = getattr(config, name, None)
        if isinstance(value, int):
            return value
    try:
        return config.hidden_size // config.num_attention_heads
    except Exception:
        return 2 * pairs


def kinds(config):
    parameters = getattr(config, "rope_parameters", None) or {}
    try:
        nested = sorted(config.nested_rope_parameter_keys(parameters))
    except Exception:
        nested = []
    return nested or [""]


def layer_list(config):
    for name in ("layer_types", "layers_block_type", "layer_block_types"):
        value = getattr(config, name, None)
        if isinstance(value, (list, tuple)):
            return [str(v) for v in value]
    return None


PASSED_OVER = ("id2label", "label2id", "transformers_version", "task_specific_params", "problem_type", "mlp_layer_types")


def saved(config):
    """A configuration as save_pretrained writes it, without some keys that are long and of nothing here."""
    return {k: v for k, v in json.loads(config.to_json_string(use_diff=False)).items() if k not in PASSED_OVER}


def survey(name, cls):
    needs = NEEDS.get(name, {})
    config = cls(**copy.deepcopy(needs))
    entry = rotation(config)
    if entry:
        entry["saved"] = saved(config)
        if needs:
            entry["needs"] = needs
    return entry


def rotation(config):
    """What the rotary module and the attention of a configuration do; None where there is no such module."""
    cls = type(config)
    modules = list(modeling_modules(cls))
    entry = {"class": cls.__name__}
    rotaries = classes(modules, cls, ("RotaryEmbedding", "RotaryPosition", "RopePosition", "RoPE", "RotaryPos"), ("Attention", "Layer", "Block"))
    holds_others = any(isinstance(c, type) for c in (cls.sub_configs or {}).values())
    if not rotaries and getattr(config, "rope_parameters", None) and not holds_others:
        rotaries = rotary_classes(modules, cls)  # one that says it takes the whole model's
    if not rotaries or holds_others and not getattr(config, "rope_parameters", None):
        return None
    entry["rotary"] = [r.__name__ for r in rotaries]
    entry["kinds"] = {}
    best = [r for r in rotaries if takes(r, cls) == takes(rotaries[0], cls)]
    attentions = classes(modules, cls, ("Attention", "MLA"), ("Linear", "Cross", "Flash", "Sdpa", "Pool", "MLP"))
    attentions = attentions or attention_classes(modules, "Vision" in cls.__name__)
    attentions.sort(key=lambda a: "Encoder" in a.__name__ and "Encoder" not in cls.__name__)  # of the decoder, where there are both
    layers = layer_list(config)
    for rotary_class in best:
        rotary = rotary_class(config)
        rotary.eval()
        prefix = f"{rotary_class.__name__}:" if len(best) > 1 else ""
        for kind in kinds(config):
            record = {}
            entry["kinds"][prefix + kind] = record
            try:
                found = ladder(rotary, kind)
            except Exception as e:
                record["unresolved"] = f"tables: {e}"
                continue
            buffer = [b for n, b in found.pop("buffers").items() if not kind or n.startswith(kind)]
            stored = buffer[0] if len(buffer) == 1 and len(buffer[0]) == len(found["measured"]) else None
            measured = found.pop("measured")
            close = stored is not None and all(abs(m - s) <= 1e-4 * max(s, 1e-9) + 1e-7 for m, s in zip(measured, stored))
            record["inv_freq"] = hex32(stored if close else measured)
            record["stored"] = close  # inv_freq is the module's own list, not measured by its cosines
            record["factor"] = float(getattr(rotary, f"{kind}_attention_scaling" if kind else "attention_scaling", found["factor"]))
            record["axes"] = found["axes"]
            if found["axes"] > 1:
                record["axis"] = "".join(map(str, found["axis"]))
            pairs = len(measured)
            index = layers.index(kind) if layers and kind in layers else 0
            cos, sin, _ = half_width(*tables_at(rotary, found["axes"], [POSITIONS] * found["axes"], kind, found["shape"]))
            errors = []
            for attention in attentions:
                for run in (run_attention, run_function):
                    try:
                        width = head_dim_of(config, pairs, kind)
                        if run is run_attention:
                            q, k, rq, rk = run(attention, config, index, rotary, found["axes"], found["shape"], kind, width)
                        else:
                            q, k, rq, rk = run(modules, attention, config, index, rotary, found["axes"], found["shape"], kind, 2 * pairs)
                        how = explain(k, rk, cos, sin)
                        record["by"] = f"{attention.__name__}.{'forward' if run is run_attention else 'function'}"
                        record["head_dim"], record["heads"] = k.shape[-1], k.shape[1]
                        if how is None:
                            record["rotates"] = False
                        else:
                            record.update(how)
                            record["k"] = hex32(rk[0, 0, -1].flatten().tolist())
                        break
                    except Exception as e:
                        errors.append(f"{attention.__name__} {run.__name__}: {type(e).__name__} {str(e)[:100]}")
                if "by" in record:
                    break
            else:
                record["unresolved"] = "; ".join(errors) or "no attention class"
    if layers:
        entry["layers"] = layers
    try:
        found = indexer_of(config, modules, cls, best[0](config), next((k for k in entry["kinds"] if k in ("compress", "indexed_attention", "")), ""))
        if found:
            entry["indexer"] = found
    except Exception as e:
        entry["indexer"] = {"unresolved": f"{type(e).__name__}: {str(e)[:200]}"}
    entry["rotates"] = every_layer(config, best[0](config), entry, attentions, layers)
    return entry


RECURRENT = ("linear_attention", "conv", "mamba", "recurrent", "moe", "mlp")


class Cache:
    """Gives back the keys of an indexer."""

    def __init__(self):
        self.layers = [self] * 1000

    def update_indexer(self, keys, *rest):
        raise Captured(None, keys)

    def update_index(self, keys, *rest):
        raise Captured(None, keys)


def indexer_of(config, modules, cls, rotary, layer_type):
    """How the indexer of sparse attention rotates: head, offset and layout, None where there is none."""
    names = classes(modules, cls, ("Indexer",), ("Scorer",)) or classes(modules, cls, ("QSAIndexer",))
    names = names or [v for m in modules for n, v in vars(m).items() if n.endswith("Indexer") and isinstance(v, type)]
    if not names or not any(key.startswith("index") for key in vars(config)):  # of another part of the model
        return None
    indexer_class = names[0]
    module = sys.modules[indexer_class.__module__]
    small = copy.deepcopy(config)
    small.hidden_size, small.q_lora_rank = 64, 32
    parameters = inspect.signature(indexer_class.__init__).parameters
    arguments = {"layer_idx": 0} if "layer_idx" in parameters else {}
    indexer = indexer_class(small, **arguments)
    tokens = len(POSITIONS)
    section = getattr(rotary, "mrope_section", None)
    axes = len(section) if section is not None else 1
    embeddings = call(rotary, shapes(axes, [POSITIONS] * axes)[0], layer_type)
    cos, sin = split(embeddings)
    cos, sin, _ = half_width(cos.reshape(tokens, -1), sin.reshape(tokens, -1))
    if hasattr(indexer, "wk"):  # keys before and after, as they go into the cache
        k = inputs(tokens, 1, indexer.head_dim)
        indexer.wk, indexer.k_norm = Fixed(k.transpose(1, 2)), Same()
        try:
            call_indexer(indexer, small, tokens, embeddings)
        except Captured as e:
            after = e.args[1].reshape(1, 1, tokens, -1)
        how = explain(k, after, cos, sin)
        return {"class": indexer_class.__name__, "head_dim": indexer.head_dim, **(how or {})}
    original = module.apply_rotary_pos_emb

    def function(*args, **options):  # what the function makes of queries
        result = original(*args, **options)
        if tokens not in args[0].shape[1:-1]:
            return result  # keys of a compressed sequence
        raise Captured(args[0], result[0] if isinstance(result, tuple) else result)

    module.apply_rotary_pos_emb = function
    try:
        call_indexer(indexer, small, tokens, embeddings)
    except Captured as e:
        before, after = e.args
    finally:
        module.apply_rotary_pos_emb = original
    head_dim = before.shape[-1]
    flat = [t[:, :1] if t.shape[-2] == tokens else t.reshape(1, 1, tokens, -1, head_dim)[:, :, :, 0] for t in (before, after)]
    how = explain(*flat, cos, sin)
    return {"class": indexer_class.__name__, "head_dim": head_dim, **(how or {})}


def call_indexer(indexer, config, tokens, embeddings):
    values = {
        "hidden_states": torch.randn(1, tokens, config.hidden_size), "q_resid": torch.randn(1, tokens, config.q_lora_rank),
        "q_residual": torch.randn(1, tokens, config.q_lora_rank), "position_embeddings": embeddings,
        "attention_mask": torch.zeros(1, 1, tokens, tokens), "position_ids": torch.tensor(POSITIONS)[None],
        "past_key_values": Cache(), "layer_idx": 0,
    }
    if type(indexer).__name__ in ("DeepseekV4Indexer", "Qwen4ExpTextQSAIndexer"):
        values["past_key_values"] = None
    values["cache"] = values["past_key_values"]  # its name from transformers 5.24 on
    indexer(**{n: values[n] for n in inspect.signature(indexer.forward).parameters if n in values})


# A model that gives the cosines and sines to some of its layers only.
CHOOSES = re.compile(r"position_embeddings\w* *= *[^\n]*\bif\b[^\n]*\belse\b")


def given(config):
    """For each layer, by number, whether a model gives its attention cosines and sines; none where it gives them to all.
    Its own forward runs, without numbers."""
    found, cls = {}, type(config)
    for module in modeling_modules(cls):
        if not CHOOSES.search(inspect.getsource(module)):
            continue
        models = [m for m in classes([module], cls, ("Model",), ("PreTrained",)) if takes(m, cls) == 2 and "inputs_embeds" in inspect.signature(m.forward).parameters]
        for model_class in models[:1]:
            with torch.device("meta"):
                model = model_class(copy.deepcopy(config)).eval()

            def record(layer, arguments, options):
                found[layer.layer_idx] = options.get("position_embeddings") is not None

            for name, layer in model.named_modules():
                if name.endswith("attn") and hasattr(layer, "layer_idx"):
                    layer.register_forward_pre_hook(record, with_kwargs=True)
            masks = {name: value for name, value in vars(module).items() if re.match("create_.*mask", name)}
            vars(module).update(dict.fromkeys(masks, lambda *rest, **options: None))
            try:
                model(inputs_embeds=torch.zeros(1, 2, config.hidden_size, device="meta"), use_cache=False)
            finally:
                vars(module).update(masks)
    return found


def every_layer(config, rotary, entry, attentions, layers):
    """For each layer R where its attention rotates, - where it does not, ? where that is not known."""
    count = getattr(config, "num_hidden_layers", None)
    if not isinstance(count, int) or getattr(config, "cross_attention_layers", None):
        return ""
    by = {r.get("by", "").split(".")[0] for r in entry["kinds"].values()}
    names = list(entry["kinds"])
    result, gives = "", given(config)
    for index in range(count):
        kind = layers[index] if layers and len(layers) > index and layers[index] in names else names[0]
        record = entry["kinds"].get(kind, {})
        letter = "?"
        bases = getattr(config, "layer_rope_theta", None)
        if layers and len(layers) > index and layers[index] in RECURRENT or bases and not bases[index] or not gives.get(index, True):
            result += "-"
            continue
        for attention in attentions:
            if attention.__name__ not in by or not record.get("by", "").endswith("forward"):
                continue
            try:
                shape = {1: 0, 2: 1, 3: 0, 4: 0}[record["axes"]]
                _, k, _, rk = run_attention(attention, config, index, rotary, record["axes"], shape, kind, record["head_dim"])
                letter = "-" if torch.equal(k, rk) else "R"
            except Exception:
                letter = "?"
            break
        result += letter
    return result


# Wrappers


def text_of(name, cls):
    """The text model of a configuration of several: its key and its type."""
    config = cls()
    inner = config.get_text_config(decoder=True) if config.is_encoder_decoder else config.get_text_config()
    if inner is config:
        return None
    key = next((k for k in (cls.sub_configs or {}) if getattr(config, k, None) is inner), None)
    if key is None:
        key = next((k for k in (cls.sub_configs or {}) if hasattr(getattr(config, k, None), "get_text_config") and getattr(config, k).get_text_config() is inner), None)
    return {"key": key, "type": inner.model_type}


SIZES = ("hidden_size", "num_attention_heads", "num_key_value_heads", "head_dim", "num_hidden_layers", "layer_types", "max_position_embeddings", "sliding_window")


def roformer(config):
    """RoFormer has a table of sines and cosines, and rotates in a method of its attention."""
    module = importlib.import_module("transformers.models.roformer.modeling_roformer")
    dim = config.hidden_size // config.num_attention_heads
    table = module.RoFormerSinusoidalPositionalEmbedding(max(POSITIONS) + 1, dim)
    table.weight = torch.nn.Parameter(table.create_weight())
    sinusoidal = table.weight[POSITIONS][None, None]
    k = inputs(len(POSITIONS), 1, dim)
    rotated, _ = module.RoFormerSelfAttention.apply_rotary_position_embeddings(sinusoidal, k, k.clone())
    sin, cos = (t[0, 0] for t in sinusoidal.chunk(2, dim=-1))
    record = {
        "inv_freq": hex32(angles(cos, sin)[POSITIONS.index(1)].tolist()), "stored": False, "factor": 1.0, "axes": 1,
        "by": "RoFormerSelfAttention.function", "head_dim": dim, "heads": 1, **explain(k, rotated, cos, sin), "k": hex32(rotated[0, 0, -1].tolist()),
    }
    return {"class": "RoFormerConfig", "rotary": ["RoFormerSinusoidalPositionalEmbedding"], "saved": saved(config), "kinds": {"": record}, "rotates": ""}


# Types without a rotary module.
TABLES = {"roformer": roformer}


def one(name, cls):
    try:
        entry = TABLES[name](cls()) if name in TABLES else survey(name, cls)
    except Exception as e:
        entry = {"class": cls.__name__, "failed": f"{type(e).__name__}: {str(e)[:200]}"}
    try:
        text = text_of(name, cls)
    except Exception:
        text = None
    if text:
        entry = entry if entry and "failed" not in entry else {"class": cls.__name__}
        entry["text"] = text
    return entry


def keys_of(found):
    """Keys of configuration classes that speak of positions by their name."""
    keys = set()
    for cls in found.values():
        keys.update(name for name in getattr(cls, "__dataclass_fields__", {}) if ABOUT.search(name))
    return sorted(keys)


def rotates(name, document):
    """Whether a type rotates, or may, or holds one that does."""
    entry = document["types"].get(name, {})
    inner = [h["type"] for h in document["holds"].get(name, {}).values()]
    inner += [entry["text"]["type"]] if "text" in entry else []
    return bool(entry.get("kinds") or "failed" in entry or document["calls"].get(name, True) or any(t != name and rotates(t, document) for t in inner))


# What code calls that rotates.
CALLED = re.compile(r"rotary|rotate_(half|every)|RopeP|RoPE|rope_emb")


def definitions(file):
    """Classes, functions and tables of a file, by name."""
    found = {}
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            found[node.name] = node
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = node
    return found


def takes_by_name(node):
    """Names of the configuration classes that a class says it takes."""
    for function in node.body if isinstance(node, ast.ClassDef) else ():
        if isinstance(function, ast.FunctionDef) and function.name == "__init__":
            for argument in function.args.args:
                if argument.arg in ("config", "atom_config") and argument.annotation is not None:
                    return set(re.findall(r"\w+", ast.unparse(argument.annotation)))
    return set()


def calls(cls):
    """What the code that takes a configuration calls that rotates, by its source: from the
    classes that name the configuration on, without classes that name another."""
    result, config = set(), coded(cls).__name__
    for file in modeling_files(cls):
        known = definitions(file)
        todo = [name for name, node in known.items() if config in takes_by_name(node)]
        seen = set(todo)
        while todo:
            node = known[todo.pop()]
            parts = [node.value] if isinstance(node, ast.Assign) else node.body + getattr(node, "bases", [])
            for part in parts:
                if getattr(part, "name", "") == "_init_weights":  # of all modules of the file
                    continue
                for x in ast.walk(part):
                    if isinstance(x, ast.Call):
                        name = getattr(x.func, "id", getattr(x.func, "attr", ""))
                        if CALLED.search(name):
                            result.add(name)
                    if isinstance(x, ast.Name) and x.id in known and x.id not in seen:
                        taken = takes_by_name(known[x.id])
                        if not taken or config in taken:
                            seen.add(x.id)
                            todo.append(x.id)
    return sorted(result)


TOWER_SIZES = ("hidden_size", "embed_dim", "num_attention_heads", "num_heads", "head_dim", "num_hidden_layers", "depth", "layer_types", "rope_parameters")


def held(cls):
    """The configurations in the default one of a class: for each key its type, and those of its
    sizes that are not the defaults of that type."""
    try:
        config = cls()
    except Exception:
        return {}
    result = {}
    for key in cls.sub_configs or {}:
        inner = getattr(config, key, None)
        if getattr(inner, "model_type", ""):
            actual, default = saved(inner), saved(type(inner)())
            result[key] = {"type": inner.model_type, "differs": {k: actual[k] for k in TOWER_SIZES if actual.get(k) != default.get(k)}}
    return result


# Keys beside the four sizes that modelconfig refuses a null of for any type.
DECIDES = re.compile(r"rope|rotary|theta|^head_dim$|index_head_dim|window|layer_types|interval|every_n|layer_group|pattern|^position|^use_position|^local_attention$")


def refusal(cls, needs, **keys):
    """Why a class does not take a configuration, after the name of the error; "" where it does."""
    try:
        cls.from_dict({**copy.deepcopy(needs), **keys})
    except Exception as e:
        return f"{type(e).__name__}: {e}"
    return ""


def checked(found, types):
    """What classes refuse: lines of null, a key and the types that take no null for it, and of whole and the types whose
    hidden_size has to be a multiple of num_attention_heads even where there is a head_dim."""
    refused, whole = {}, []
    for name, cls in found.items():
        needs = NEEDS.get(name, {})
        if " " in name or not types.get(name, {}).get("kinds") or refusal(cls, needs):
            continue
        for key in {**getattr(cls, "__dataclass_fields__", {}), **(cls.attribute_map or {})}:
            # A validation of the whole class may be about the other defaults; one of a null window is not.
            kind = "StrictDataclass" if "window" in key else "StrictDataclassField"
            if DECIDES.search(key) and refusal(cls, needs, **{key: None}).startswith(kind):
                refused.setdefault(key, []).append(name)
        sizes = {"num_attention_heads": 6, "num_key_value_heads": 6, "head_dim": 64}
        if not refusal(cls, needs, hidden_size=768, **sizes) and re.search("attention.heads", refusal(cls, needs, hidden_size=770, **sizes)):
            whole.append(name)
    return [["null", key, *sorted(names)] for key, names in sorted(refused.items())] + [["whole", *sorted(whole)]]


def versions():
    return {name: importlib.metadata.version(name).split("+")[0] for name in ("transformers", "torch")}


def main(arguments):
    found = configurations()
    before = json.loads(gzip.decompress(OUT.read_bytes())) if OUT.exists() else {"configurations": [], "types": {}}
    if arguments == ["new"]:
        new = sorted(set(found) - set(before["configurations"]))
        print("\n".join(new) or "none")
        return
    result = before["types"] if arguments else {}
    with torch.no_grad():
        for name in arguments or found:
            entry = one(name, found[name])
            result.pop(name, None)
            if entry:
                result[name] = entry
    document = {"versions": versions(), "configurations": sorted(found), "keys": keys_of(found), "types": result}
    document["calls"] = {name: calls(cls) for name, cls in found.items() if modeling_files(cls)}
    document["holds"] = {name: inner for name, cls in found.items() if (inner := held(cls))}
    OUT.write_bytes(gzip.compress(json.dumps(document, sort_keys=True, separators=(",", ":")).encode(), mtime=0))
    lines = {line.split()[0]: line for line in UNROTATED.read_text().splitlines()}  # ../reused/reused.py adds classes
    UNROTATED.write_text("".join(lines.get(name, name) + "\n" for name in sorted(found) if " " not in name and not rotates(name, document)))
    CHECKED.write_text("".join(" ".join(line) + "\n" for line in checked(found, result)))
    print(len(found), "configurations,", len(result), "of interest")


if __name__ == "__main__":
    main(sys.argv[1:])
