"""Trace: what each layer of a whole model does with positions.

Runs the forward of a model of Hugging Face transformers with the attention replaced by one that
keeps its arguments, once with positions and once with zeros in their place, and explains what
lies between the two. Weights are views of one short list, so that no size needs memory; nothing is loaded.
"""

import contextlib
import copy
import functools
import inspect
import math
import os
import re

import survey
import torch
import torch.overrides
from transformers import PreTrainedModel
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

POSITIONS = survey.POSITIONS
ROTARY = re.compile("Rotary|RoPE|Rope|RotaryPos")
NO_ROTARY = ("Attention", "Layer", "Block", "Model")
ATTENTION = re.compile("Attention|MLA|Attn|SelfAtt")
NO_ATTENTION = re.compile("Linear|Lightning|Norm|GatedDelta|Mamba|KDA|DeltaAttention|Recurrent|Conv")


class Unknown(Exception):
    """The model was not understood; it may well work."""


class Done(Exception):
    """The only attention of a layer was called."""


class Attended:
    """The attention function: it keeps what it gets."""

    calls, last = [], False

    def __call__(self, module, query, key, value, *rest, scaling=None, **options):
        self.calls.append((query, key, scaling))
        if self.last:
            raise Done
        return torch.zeros(query.shape[0], query.shape[2], query.shape[1], value.shape[-1]), None


attended = Attended()
ALL_ATTENTION_FUNCTIONS.register("trace", attended)
ALL_MASK_ATTENTION_FUNCTIONS.register("trace", lambda *args, **options: torch.zeros(1, 1, len(POSITIONS), len(POSITIONS)))


# Weights


def weights(length):
    n = torch.arange(length, dtype=torch.int64)
    return ((n * 2654435761 + 97) % (1 << 24) - (1 << 23)).to(torch.float32) / (1 << 29)


SHORT = weights(1 << 20)


def weight(shape):
    """A tensor of any size: element [i][j] is that of i+j in one list."""
    base, step = SHORT, [1] * len(shape)
    if sum(shape) > len(base):
        step = [0] * len(shape)
    return torch.as_strided(base, shape, step)


class Large(torch.overrides.TorchFunctionMode):
    """Large new tensors have no memory."""

    def __torch_function__(self, function, types, args=(), options=None):
        options = options or {}
        if function in (torch.empty, torch.zeros, torch.ones, torch.randn, torch.rand, torch.full) and "device" not in options:
            shape = [a for a in args if isinstance(a, int)] if args and isinstance(args[0], int) else list(args[0]) if args else list(options.get("size", ()))
            if math.prod(shape) > 1 << 20:
                options = {**options, "device": "meta"}
        return function(*args, **options)


def linear(module, x):
    """A product with a matrix of rank 1, whose time does not grow with its size."""
    u, v = weight((module.out_features + 1,))[1:], weight((module.in_features,))
    return (x.float() @ v)[..., None] * (64 * u)


@contextlib.contextmanager
def without_weights():
    """Parameters of models made within have no memory, and nothing initializes them."""
    register = torch.nn.Module.register_parameter
    kept = {n: f for n, f in vars(torch.nn.init).items() if n.endswith("_") and not n.startswith("_") and callable(f)}
    init = PreTrainedModel.init_weights

    def registered(module, name, parameter):
        if parameter is not None:
            parameter = torch.nn.Parameter(torch.empty(parameter.shape, device="meta"), requires_grad=False)
        register(module, name, parameter)

    try:
        torch.nn.Module.register_parameter = registered
        for name in kept:
            setattr(torch.nn.init, name, lambda tensor, *args, **options: tensor)
        PreTrainedModel.init_weights = lambda self: None
        yield
    finally:
        torch.nn.Module.register_parameter = register
        PreTrainedModel.init_weights = init
        for name, function in kept.items():
            setattr(torch.nn.init, name, function)


def model_class(config):
    """The class of the model without a head."""
    cls = type(config)
    names = MODEL_MAPPING_NAMES.get(cls.model_type, ())
    names = (names,) if isinstance(names, str) else tuple(names or ())
    found = []
    for module in survey.modeling_modules(cls):
        for name, value in vars(module).items():
            if isinstance(value, type) and issubclass(value, PreTrainedModel) and value.__module__ == module.__name__ and value.config_class is survey.coded(cls):
                if name.endswith(("PreTrainedModel", "ForImageClassification")) or "For" in name:
                    continue
                found.append((name not in names, "Encoder" in name or "Decoder" in name, -len(os.path.commonprefix([name, cls.__name__])), len(found), value))
    if not found:
        raise Unknown("no model class")
    return sorted(found, key=lambda f: f[:4])[0][-1]


MIXERS = re.compile("Mamba|Mixer|GatedDelta|SSM|MLP$|MoE$")  # which stand beside an attention and take their time


def nothing(*args, **options):
    return torch.zeros_like(next(v for v in (*args, *options.values()) if isinstance(v, torch.Tensor)))


class Unchanged(torch.nn.Module):
    weight = torch.zeros(1)

    def forward(self, *x, **options):
        return x[0] if len(x) == 1 else x


def made(config):
    config = copy.deepcopy(config)
    config._attn_implementation = "trace"
    with without_weights(), Large():
        model = model_class(config)(config)
    for module in model.modules():
        for name, parameter in module._parameters.items():
            if parameter is not None:
                value = torch.zeros(parameter.shape) if ROTARY.search(type(module).__name__) else weight(parameter.shape)
                module._parameters[name] = torch.nn.Parameter(value, requires_grad=False)
    for module in model.modules():
        if MIXERS.search(type(module).__name__) and not type(module).__name__.endswith(("Layer", "Model", "Norm", "RMSNormGated", "Block")):
            module.forward = nothing
    for module in attentions(model):  # a norm after the rotation would hide it
        for name, inner in module.named_children():
            if "norm" in name.lower():
                setattr(module, name, Unchanged())
    return model.eval()


# Layers


def attentions(module):
    """The attentions within a layer."""
    return [m for n, m in module.named_modules() if n and is_attention(type(m))]


def is_attention(cls):
    name = cls.__name__
    return bool(ATTENTION.search(name)) and not NO_ATTENTION.search(name) and not name.endswith(("RotaryEmbedding", "PositionEmbedding")) and "forward" in vars(cls)


@functools.cache
def rotates(cls):
    """Whether the code of a class calls what rotates."""
    return cls.__module__.startswith("transformers.models") and bool(survey.APPLY.search(inspect.getsource(cls)))


def layers_of(model):
    """The list of layers: the first of as many as the configuration has, or else the longest."""
    count, best = getattr(model.config, "num_hidden_layers", None), None
    for name, module in model.named_modules():
        if not isinstance(module, torch.nn.ModuleList) or not any(attentions(layer) for layer in module):
            continue
        if best is None or len(best[1]) != count and (len(module) == count or len(module) > len(best[1]) and not name.startswith(best[0] + ".")):
            best = (name, module)
    if best is None:
        raise Unknown("no list of layers")
    return best[1]


# What the forward of a layer returns: hidden states alone, or a tuple.
RETURNS = {
    "tensor": lambda hidden: hidden,
    "pair": lambda hidden: (hidden, None),
    "one": lambda hidden: (hidden,),
    "three": lambda hidden: (hidden, None, None),
}


def runs(model):
    """A forward with positions 0, and one with positions."""
    error, known = None, inspect.signature(model.forward).parameters
    for inputs in [n for n in ("input_ids", "inputs_embeds") if n in known]:
        error = None  # of what the model takes last
        for form in RETURNS.values():
            try:
                zero, run = (Run(model, positions, inputs, form) for positions in ([0] * len(POSITIONS), POSITIONS))
            except Unknown:
                raise
            except Exception as e:
                error = error or e
                continue
            if all(same(a[-1], b[-1]) for a, b in zip(zero.tables, run.tables)):
                raise Unknown("forward makes its own positions")
            return zero, run
    raise error or Unknown(f"forward takes {list(known)[:3]}")


def same(a, b):
    """Whether a rotary module gave the same twice."""
    if isinstance(a, torch.Tensor):
        return torch.equal(a, b)
    return all(same(x, y) for x, y in zip(a, b))


class Run:
    """One forward: for each layer the calls of its attention, of its rotary modules and of the
    functions that rotate."""

    def __init__(self, model, positions, inputs, form):
        self.layers, self.tables, self.functions = [], [], []
        layers, undo = layers_of(model), []
        for layer in layers:
            layer.forward = self.wrapped(layer, layer.forward, form)
        for module in survey.modeling_modules(type(model.config)):
            for name, function in vars(module).items():
                if survey.APPLY.fullmatch(name + "(") and inspect.isfunction(function):
                    undo.append((module, name, function))
        for module, name, function in undo:
            setattr(module, name, self.recorded(function))
        hooks = []
        for module in model.modules():
            kind = type(module).__name__
            if ROTARY.search(kind) and not kind.endswith(NO_ROTARY):
                hooks.append(module.register_forward_hook(self.rotary, with_kwargs=True))
        forward, torch.nn.Linear.forward = torch.nn.Linear.forward, linear
        try:
            model(**self.arguments(model, positions, inputs))
        finally:
            torch.nn.Linear.forward = forward
            for layer in layers:
                del layer.forward
            for module, name, function in undo:
                setattr(module, name, function)
            for hook in hooks:
                hook.remove()
        if not self.layers or len(self.layers) % len(layers):  # some models run their layers several times
            raise Unknown(f"{len(self.layers)} calls of {len(layers)} layers")

    def arguments(self, model, positions, inputs):
        parameters = inspect.signature(model.forward).parameters
        if "position_ids" not in parameters:
            raise Unknown("forward takes no position_ids")
        arguments = {"position_ids": torch.tensor([positions])}
        if inputs == "input_ids":
            arguments[inputs] = torch.arange(5, 5 + len(positions))[None]
        else:
            arguments[inputs] = weight((1, len(positions), model.config.hidden_size)) * 64
        if "use_cache" in parameters:
            arguments["use_cache"] = False
        return arguments

    def rotary(self, module, args, options, output):
        kind = options.get("layer_type", next((a for a in args if isinstance(a, str)), ""))
        self.tables.append((module, kind or "", output))

    def recorded(self, function):
        def call(*args, **options):
            result = function(*args, **options)
            given = [v for v in (*args, *options.values()) if isinstance(v, torch.Tensor)]
            made = result if isinstance(result, tuple) else (result,)
            self.functions.extend(zip(given, made))
            return result

        return call

    def wrapped(self, layer, forward, form):
        inner = attentions(layer)
        runs = inner or any(rotates(type(m)) for m in layer.modules())

        def run(*args, **options):
            attended.calls, attended.last, self.functions, error = [], len(inner) == 1, [], None
            try:
                if runs:
                    forward(*args, **options)
            except Done:
                pass
            except Exception as e:
                error = e
            attended.last = False
            self.layers.append((attended.calls, inner, self.functions, error))
            hidden = options.get("hidden_states", options.get("x", args[0] if args else None))
            if hidden is None:
                hidden = next(v for v in options.values() if isinstance(v, torch.Tensor))
            return form(hidden)

        return run


def permuted(functions, factor):
    """The order of pairs before and after a function that rotates by nothing, where they differ."""
    for given, result in functions:
        if given.shape != result.shape:
            continue
        for scaled in (factor, 1.0):
            if torch.allclose(given * scaled, result, rtol=1e-5, atol=1e-7):
                return None
            half = given.shape[-1] // 2
            if torch.allclose(torch.cat([given[..., ::2], given[..., 1::2]], -1) * scaled, result, rtol=1e-5, atol=1e-7):
                return "interleaved to half-split"
            if torch.allclose(torch.stack([given[..., :half], given[..., half:]], -1).flatten(-2) * scaled, result, rtol=1e-5, atol=1e-7):
                return "half-split to interleaved"
    return None


def tables(output):
    cos, sin = survey.split(output)
    tokens = len(POSITIONS)
    cos, sin = (t.reshape(-1, tokens, t.shape[-1])[0] for t in (cos, sin))
    return survey.half_width(cos.float(), sin.float())[:2]


def frequencies(module, kind, cos, sin):
    """The module's own list of frequencies, or else that which its tables have at position 1."""
    at = torch.tensor(POSITIONS, dtype=torch.float64)
    factor = float(torch.hypot(cos[0, 0].double(), sin[0, 0].double()))
    for name in (f"{kind}_attention_scaling", "attention_scaling"):
        value = getattr(module, name, None)
        if isinstance(value, (int, float)) and abs(value - factor) < 1e-5 * factor:
            factor = float(value)
    named = sorted(module.named_buffers(), key=lambda b: not b[0].startswith(kind))
    for name, buffer in named:
        f = buffer.flatten()
        if "inv_freq" in name and "original" not in name and len(f) == cos.shape[-1]:
            angle = at[:, None] * f.double()[None]
            if max((angle.cos() * factor - cos).abs().max(), (angle.sin() * factor - sin).abs().max()) < 2e-3:
                return f.tolist(), True, factor
    return survey.angles(cos, sin)[1].tolist(), False, factor


def consistent(functions, factor):
    """Whether what rotates by nothing multiplied whole heads by a factor."""
    return any(given.shape == result.shape and abs(float(result.norm() / given.norm().clamp(min=1e-30)) - factor) < 1e-4 for given, result in functions)


def explained(before, after, run, functions):
    """What leads from a head before to a head after: a record, None where nothing changed."""
    size = max(float(before.abs().max()), 1e-30)
    before, after = before / size, after / size
    if torch.allclose(before, after, rtol=0, atol=1e-6):
        return None
    candidates = []
    for module, kind, output in run.tables:
        try:
            cos, sin = tables(output)
        except Exception:
            continue
        factor = float(torch.hypot(cos[0, 0].double(), sin[0, 0].double()))
        candidates.append((not consistent(functions, factor), len(candidates), module, kind, cos, sin, factor))
    for _, _, module, kind, cos, sin, factor in sorted(candidates, key=lambda c: c[:2]):
        if cos.shape[-1] * 2 > before.shape[-1] or factor == 0:
            continue
        for scaled in dict.fromkeys((factor, 1.0)):
            start = before.clone()
            for offset, layout, sign in survey.hypotheses(2 * cos.shape[-1], before.shape[-1]):
                piece = slice(offset, offset + 2 * cos.shape[-1])
                x1, x2 = (t / scaled for t in survey.pairs_of(start[..., piece].double(), layout, False))
                y1, y2 = survey.pairs_of(after[..., piece].double(), layout, False)
                s = sin.double() * sign
                c = cos.double()
                error = max((y1 - (x1 * c - x2 * s)).abs().max(), (y2 - (x2 * c + x1 * s)).abs().max())
                rest = torch.cat([(after - before)[..., :offset], (after - before)[..., offset + 2 * cos.shape[-1] :]], -1).abs().sum()
                if error < 2e-4 and rest < 1e-5:
                    return module, kind, cos, sin, {"offset": offset, "layout": layout, "sign": sign}
    raise Unknown("no rotation that is known")


def trace(config):
    """What each layer does: letters, and records by letter."""
    model = made(config)
    zero, run = runs(model)
    records, letters, errors = {}, "", []
    for (before, inner, unrotated, first), (after, _, functions, second) in zip(zero.layers, run.layers):
        if not after or len(after) != len(before):
            if not inner and not functions:
                letters += "-"  # of another kind
            else:
                letters += "?"
                errors.append(f"{type(second or first).__name__}: {str(second or first)[:100]}; {len(functions)} functions, {[type(m).__name__ for m in inner]}")
            continue
        for (q0, k0, scaling), (q1, k1, _) in zip(before, after):
            try:
                letter = layer_letter(run, records, q0, k0, q1, k1, scaling, unrotated)
            except Unknown as e:
                letter = "?"
                errors.append(str(e))
            letters += letter
    return letters, {r["letter"]: r for r in records.values()}, list(dict.fromkeys(errors))


def layer_letter(run, records, q0, k0, q1, k1, scaling, functions):
    how = explained(k0[0, 0], k1[0, 0], run, functions)
    record = {"head_dim": k0.shape[-1]}
    if scaling is not None and abs(float(scaling) * math.sqrt(q0.shape[-1]) - 1) > 1e-6:
        record["scaling"] = round(float(scaling) * math.sqrt(q0.shape[-1]), 6)
    if how is None:
        scale = (q1[0, 0].double() * q0[0, 0].double()).sum(-1) / (q0[0, 0].double() ** 2).sum(-1)
    else:
        module, kind, cos, sin, found = how
        inv_freq, stored, factor = frequencies(module, kind, cos, sin)
        order = permuted(functions, factor)
        if order and order.endswith(found["layout"]):
            found["layout"] = order
        record.update(found, inv_freq=survey.hex32(inv_freq), stored=stored, factor=factor, kind=kind)
        try:
            ladder = survey.ladder(module, kind)
            if ladder["axes"] > 1 and len(ladder["axis"]) == len(inv_freq):
                record["axes"], record["axis"] = ladder["axes"], "".join(map(str, ladder["axis"]))
        except Exception:
            pass
        scale = rotated_scale(q0[0, 0], q1[0, 0], cos, sin, found, factor)
    if scale is None:
        record["q"] = "unexplained"
    elif (scale - 1).abs().max() > 1e-4:
        record["q"] = [round(float(s), 5) for s in scale]
    key = repr(sorted(record.items()))
    if key not in records:
        if how is None and set(record) <= {"head_dim", "scaling"}:
            return "-"
        record["letter"] = chr(ord("A") + len(records))
        record["rotates"] = how is not None
        records[key] = record
    return records[key]["letter"]


def rotated_scale(q0, q1, cos, sin, found, factor):
    """By how much each query is longer than it is by the rotation of the keys."""
    q0, q1 = q0.double(), q1.double()
    want = q0.clone()
    piece = slice(found["offset"], found["offset"] + 2 * cos.shape[-1])
    order = found["layout"].split(" to ")[-1]
    x1, x2 = survey.pairs_of(q0[..., piece] / factor, order, False)
    y1, y2 = survey.pairs_of(want[..., piece], order, False)  # views
    s, c = sin.double() * found["sign"], cos.double()
    y1.copy_(x1 * c - x2 * s)
    y2.copy_(x2 * c + x1 * s)
    scale = (q1 * want).sum(-1) / (want * want).sum(-1)
    if (q1 - want * scale[:, None]).abs().max() > 1e-3 * q1.abs().max():
        return None
    return scale
