"""Golden vectors: what Hugging Face transformers computes for published models.

For each configs/<name>.json this writes vectors/<name>.json: the inverse
frequencies, the cosines and sines and a rotated q and k of the model's own
rotary embedding class and apply function, in float32, and the same formula
evaluated with 200 bits. A model with a vision tower that rotates has the tower's
beside them. towers.json holds those of the default configuration of each tower,
gemma4_vision.json a q of Gemma 4's tower.
No weights, no network. With the versions of requirements.txt and a CPU with AVX2
the files are the same byte for byte.

    python3 generate.py [name ...]
"""

import copy
import importlib
import importlib.metadata
import json
import os
import pathlib
import struct
import sys

# PyTorch's loops differ by vector width; this is the width of every x86-64-v3 CPU.
os.environ["ATEN_CPU_CAPABILITY"] = "avx2"

import mpmath
import torch
from transformers import AutoModelForCausalLM, CONFIG_MAPPING
from transformers.utils import logging

HERE = pathlib.Path(__file__).parent
POSITIONS = [0, 1, 511, 4096, 32767, 131071]
Q_HEADS, K_HEADS = 2, 1
SCALED = [0, 8190, 8191, 8192, 16383, 16384, 131071, 262143, 1048575]  # positions of scaled queries
PATCHES = [[0, 1, 9, 24], [0, 2, 24, 17]]  # rows and columns
K_START = 1 << 20  # index of k's first element in the formula of the inputs

mpmath.mp.prec = 200


# Inputs and encoding


def inputs(start, tokens, heads, dim):
    """[1, heads, tokens, dim] of float32: element n, counted [token][head][dim] from
    start, is ((n*2654435761 + 97) mod 2^24 - 2^23) / 2^21."""
    n = torch.arange(start, start + tokens * heads * dim, dtype=torch.int64)
    x = ((n * 2654435761 + 97) % (1 << 24) - (1 << 23)).to(torch.float32) / (1 << 21)
    return x.reshape(1, tokens, heads, dim).transpose(1, 2)


def hex32(values):
    return "".join(struct.pack(">f", v).hex() for v in values)


def hex64(values):
    return "".join(struct.pack(">d", v).hex() for v in values)


def rows32(tensor):
    """One string for each row of a [rows, ...] tensor."""
    assert tensor.dtype == torch.float32
    return [hex32(row.flatten().tolist()) for row in tensor]


# The model's own code


def modeling_module(config):
    """The module whose classes transformers runs for a (text) configuration."""
    try:
        return importlib.import_module(type(config).__module__.replace("configuration_", "modeling_"))
    except ModuleNotFoundError:  # internlm3 runs llama's
        return importlib.import_module(AutoModelForCausalLM._model_mapping[type(config)].__module__)


def find_class(module, suffix):
    names = [
        name
        for name, value in vars(module).items()
        if isinstance(value, type)
        and value.__module__ == module.__name__
        and name.endswith(suffix)
        and not any(part in name for part in ("Vision", "Audio", "Flash", "Sdpa", "Linear", "Cross"))
    ]
    assert len(names) == 1, (module.__name__, names)
    return getattr(module, names[0])


class Family:
    """How the attention of a model uses its rotary embedding."""

    def __init__(self, module, config):
        self.module, self.config = module, config
        with torch.device("meta"):
            self.attention = self.attention_layer(self.attention_index())
        self.rotary = None

    # Attention

    def attention_layer(self, index):
        attention = find_class(self.module, "Attention")
        try:
            return attention(self.config, index)
        except TypeError:
            return attention(self.config)

    def attention_index(self):
        return 0

    def head_dim(self, kind):
        """Elements of the recorded heads."""
        return getattr(self.attention, "head_dim", None) or self.attention.head_size

    def rotates(self, attention):
        return True

    def layers(self):
        result = []
        for index in range(self.config.num_hidden_layers):
            rotates = self.is_attention(index)
            if rotates:
                with torch.device("meta"):
                    rotates = bool(self.rotates(self.attention_layer(index)))
            result.append([self.rope_kind(index), rotates])
        return result

    def rope_kind(self, index):
        """The key of rope_parameters for a layer."""
        return "" if rope_kinds(self.config) == [""] else self.config.layer_types[index]

    def is_attention(self, index):
        return True

    def softmax_scale(self):
        return 1.0

    def query_scales(self, positions):
        """Factors of queries by position, None where there are none."""
        return None

    # Rotary embedding

    def reset(self):
        self.rotary = find_class(self.module, "RotaryEmbedding")(self.config)

    def forward(self, kind, positions):
        """The position embeddings for positions [tokens] or [3, tokens]."""
        positions = torch.tensor(positions, dtype=torch.int64)
        positions = positions[None] if positions.dim() == 1 else positions[:, None]
        arguments = {"layer_type": kind} if kind else {}
        return self.rotary(torch.zeros(1), positions, **arguments)

    def inv_freq(self, kind):
        return getattr(self.rotary, f"{kind}_inv_freq" if kind else "inv_freq").clone()

    def scaling(self, kind):
        return float(getattr(self.rotary, f"{kind}_attention_scaling" if kind else "attention_scaling"))

    def tables(self, embeddings):
        """cos and sin, half width, [tokens, pairs]."""
        cos, sin = embeddings
        half = cos.shape[-1] // 2
        assert torch.equal(cos[..., :half], cos[..., half:]) and torch.equal(sin[..., :half], sin[..., half:])
        return cos[0, :, :half], sin[0, :, :half]

    def apply(self, q, k, embeddings):
        """q and k are [1, heads, tokens, dim]."""
        return self.module.apply_rotary_pos_emb(q, k, *embeddings)


class PartialOutside(Family):
    """The attention rotates the first elements of a head (phi, stablelm)."""

    def apply(self, q, k, embeddings):
        n = self.attention.rotary_ndims
        q_rot, k_rot = super().apply(q[..., :n], k[..., :n], embeddings)
        return torch.cat((q_rot, q[..., n:]), dim=-1), torch.cat((k_rot, k[..., n:]), dim=-1)


class OneTensor(Family):
    """apply_rotary_pos_emb takes one [1, tokens, heads, dim] (gemma3n, gemma4)."""

    def apply(self, q, k, embeddings):
        return tuple(
            self.module.apply_rotary_pos_emb(x.transpose(1, 2), *embeddings, unsqueeze_dim=2).transpose(1, 2)
            for x in (q, k)
        )


class Gemma4(OneTensor):
    def head_dim(self, kind):
        return self.config.per_layer_config[kind].head_dim


class RepeatedTables(Family):
    """cos and sin hold each entry twice in a row."""

    def tables(self, embeddings):
        cos, sin = embeddings
        assert torch.equal(cos[..., ::2], cos[..., 1::2]) and torch.equal(sin[..., ::2], sin[..., 1::2])
        return cos[0, :, ::2], sin[0, :, ::2]


class Ernie45VL(RepeatedTables):
    """The class keeps the frequencies of height and width apart: the even ones first."""

    def inv_freq(self, kind):
        stored = super().inv_freq(kind)
        both = stored[: sum(self.rotary.mrope_section[:2])]
        both.copy_(both.reshape(2, -1).T.flatten())
        return stored


class Cohere2(RepeatedTables):
    def rotates(self, attention):
        return attention.sliding_window is not None


class HalfTables(Family):
    """cos and sin are half width already (gpt_oss)."""

    def tables(self, embeddings):
        return embeddings[0][0], embeddings[1][0]


class SmolLM3(Family):
    def rotates(self, attention):
        return attention.use_rope


class Exaone4(Family):
    def rotates(self, attention):
        return attention.sliding_window is None or attention.is_sliding


class HybridAttention(Family):
    """Linear attention layers have no positions."""

    def attention_index(self):
        return self.config.layer_types.index("full_attention")

    def is_attention(self, index):
        return self.config.layer_types[index] == "full_attention"


class DeepseekV4(Family):
    """apply_rotary_pos_emb takes one [1, heads, tokens, dim] and rotates its end."""

    def rope_kind(self, index):
        with torch.device("meta"):
            return self.attention_layer(index).rope_layer_type

    def tables(self, embeddings):
        return embeddings[0][0], embeddings[1][0]

    def apply(self, q, k, embeddings):
        return tuple(self.module.apply_rotary_pos_emb(x, *embeddings) for x in (q, k))


class Complex(Family):
    """cos + i sin (llama4, deepseek_v2)."""

    def tables(self, embeddings):
        return embeddings[0].real.contiguous(), embeddings[0].imag.contiguous()


class Ministral3(Family):
    def query_scales(self, positions):
        p = self.config.rope_parameters
        positions = torch.tensor(positions)[None]
        scales = self.module.get_llama_4_attn_scale(
            positions, p["llama_4_scaling_beta"], p["original_max_position_embeddings"]
        )
        return scales.flatten().tolist()


class Llama4(Complex):
    def rotates(self, attention):
        return attention.use_rope

    def query_scales(self, positions):
        """Those of the attention's own forward: what becomes of queries of ones in a layer that does not rotate."""
        config = copy.deepcopy(self.config)
        config.hidden_size = config.head_dim = 2
        config.num_attention_heads = config.num_key_value_heads = 1
        config._attn_implementation = "eager"
        attention = self.module.Llama4TextAttention(config, config.no_rope_layers.index(0))
        attention.q_proj = torch.nn.Identity()
        scales = []

        def capture(module, query, key, value, *rest, **options):
            scales.append(query.flatten()[0].item())
            return query.transpose(1, 2), None

        class Cache:
            def __init__(self, length):
                self.length = length

            def get_seq_length(self, layer):
                return self.length

            def update(self, key, value, *rest):
                return key, value

        eager, self.module.eager_attention_forward = self.module.eager_attention_forward, capture
        for position in positions:
            attention(torch.ones(1, 1, 2), None, None, past_key_values=Cache(position))
        self.module.eager_attention_forward = eager
        return scales

    def apply(self, q, k, embeddings):
        q, k = self.module.apply_rotary_emb(q.transpose(1, 2).contiguous(), k.transpose(1, 2).contiguous(), embeddings)
        return q.transpose(1, 2), k.transpose(1, 2)


class LatentAttention(Family):
    """The rotated part of a head comes last; q and k are recorded without the rest."""

    def head_dim(self, kind):
        return self.attention.qk_rope_head_dim

    def softmax_scale(self):
        return self.module.yarn_apply_mscale(self.config.rope_parameters, 1.0)


class DeepseekV2(LatentAttention, Complex):
    def apply(self, q, k, embeddings):
        return self.module.apply_rotary_emb(q.contiguous(), k.contiguous(), embeddings)


class DeepseekV3(LatentAttention):
    def apply(self, q, k, embeddings):
        assert self.config.rope_interleave
        return self.module.apply_rotary_pos_emb_interleave(q, k, *embeddings)


class Sinusoids(Family):
    """A table of sin and cos instead of a class (gptj, codegen)."""

    def reset(self):
        self.table = self.module.create_sinusoidal_positions(POSITIONS[-1] + 1, self.config.rotary_dim)

    def forward(self, kind, positions):
        sin, cos = torch.split(self.table[torch.tensor(positions)[None]], self.table.shape[-1] // 2, dim=-1)
        return cos, sin

    def inv_freq(self, kind):
        # The first statement of create_sinusoidal_positions.
        dim = self.config.rotary_dim
        return 1.0 / (10000 ** (torch.arange(0, dim, 2, dtype=torch.int64) / dim))

    def scaling(self, kind):
        return 1.0

    def tables(self, embeddings):
        return embeddings[0][0], embeddings[1][0]

    def apply(self, q, k, embeddings):
        cos, sin = embeddings
        n = self.attention.rotary_dim

        def rotate(x):
            x = x.transpose(1, 2)
            rotated = self.module.apply_rotary_pos_emb(x[..., :n], sin, cos)
            return torch.cat((rotated, x[..., n:]), dim=-1).transpose(1, 2)

        return rotate(q), rotate(k)


FAMILIES = {
    "codegen": Sinusoids,
    "cohere": RepeatedTables,
    "cohere2": Cohere2,
    "deepseek_v2": DeepseekV2,
    "deepseek_v3": DeepseekV3,
    "deepseek_v4": DeepseekV4,
    "ernie4_5_vl_moe_text": Ernie45VL,
    "exaone4": Exaone4,
    "gemma3n_text": OneTensor,
    "gemma4_text": Gemma4,
    "glm4v_text": RepeatedTables,
    "gpt_oss": HalfTables,
    "gptj": Sinusoids,
    "llama4_text": Llama4,
    "ministral3": Ministral3,
    "phi": PartialOutside,
    "qwen3_5_moe_text": HybridAttention,
    "qwen3_next": HybridAttention,
    "smollm3": SmolLM3,
    "stablelm": PartialOutside,
}


class Tower:
    """How the attention of a vision tower uses its rotary embedding. Axis 0 is the row of a patch, axis 1 its column."""

    def __init__(self, module, config):
        self.module, self.config = module, config
        names = [
            name
            for name, value in vars(module).items()
            if isinstance(value, type) and "Vision" in name and name.endswith("RotaryEmbedding")
        ]
        assert len(names) == 1, names
        self.rotary = getattr(module, names[0])(config)

    def layers(self):
        return [["", True]] * self.config.num_hidden_layers

    def hidden(self):
        return self.config.hidden_size

    def head_dim(self):
        return self.hidden() // self.config.num_attention_heads

    def ladder(self):
        """The frequency and the axis of each pair."""
        stored = self.rotary.inv_freq
        return torch.cat((stored, stored)), [0] * len(stored) + [1] * len(stored)

    def exponents(self):
        """Those of the real frequencies: base^-e."""
        dim = self.head_dim()
        return [real(4 * k) / dim for k in range(dim // 4)] * 2

    def forward(self, rows, columns):
        return self.rotary(torch.zeros(1), torch.tensor([rows, columns]).T)

    def tables(self, embeddings):
        """cos and sin, half width, [tokens, pairs]."""
        cos, sin = embeddings
        half = cos.shape[-1] // 2
        assert torch.equal(cos[:, :half], cos[:, half:]) and torch.equal(sin[:, :half], sin[:, half:])
        return cos[:, :half], sin[:, :half]

    def apply(self, q, k, embeddings):
        """q and k are [1, heads, tokens, dim]."""
        q, k = (x[0].transpose(0, 1) for x in (q, k))
        return tuple(x.transpose(0, 1)[None] for x in self.module.apply_rotary_pos_emb_vision(q, k, *embeddings))


class Qwen2VLTower(Tower):
    def hidden(self):
        return self.config.embed_dim


class PixtralTower(Tower):
    def ladder(self):
        stored = self.rotary.inv_freq
        return stored, [0] * (len(stored) // 2) + [1] * (len(stored) // 2)

    def exponents(self):
        dim = self.head_dim()
        return [real(4 * k + n) / dim for n in (0, 2) for k in range(dim // 4)]

    def apply(self, q, k, embeddings):
        return self.module.apply_rotary_pos_emb(q, k, *embeddings, unsqueeze_dim=0)


class Llama4Tower(Tower):
    """Rows and columns from 1; the class token, which comes last, at 0, 0."""

    def ladder(self):
        # A statement of _compute_freqs_ci.
        dim = self.head_dim() // 2
        stored = 1.0 / (10000 ** (torch.arange(0, dim, 2)[: (dim // 2)].float() / dim))
        return torch.cat((stored, stored)), [1] * len(stored) + [0] * len(stored)

    def forward(self, rows, columns):
        side = self.config.image_size // self.config.patch_size
        return self.rotary(torch.zeros(1))[[(r - 1) * side + c - 1 if r else -1 for r, c in zip(rows, columns)]]

    def tables(self, embeddings):
        return embeddings[:, 0].real.contiguous(), embeddings[:, 0].imag.contiguous()

    def apply(self, q, k, embeddings):
        q, k = (x.transpose(1, 2) for x in (q, k))
        return tuple(x.transpose(1, 2) for x in self.module.vision_apply_rotary_emb(q, k, embeddings))


class KimiTower(Tower):
    """Weights on the Hub are for pairs of neighbours; transformers permutes them when it loads them."""

    def ladder(self):
        stored = self.rotary.inv_freq
        return stored.repeat_interleave(2), [1, 0] * len(stored)

    def exponents(self):
        dim = self.head_dim()
        return [real(4 * (j // 2)) / dim for j in range(dim // 2)]

    def apply(self, q, k, embeddings):
        halves = (x.unflatten(-1, (-1, 2)).transpose(-1, -2).flatten(-2) for x in (q, k))
        rotated = super().apply(*halves, embeddings)
        return tuple(x.unflatten(-1, (2, -1)).transpose(-1, -2).flatten(-2) for x in rotated)


TOWERS = {
    "ernie4_5_vl_moe_vision": Tower,
    "exaone4_5_vision": Tower,
    "glm4v_moe_vision": Tower,
    "glm4v_vision": Tower,
    "glm_ocr_vision": Tower,
    "kimi_k25_vision": KimiTower,
    "llama4_vision_model": Llama4Tower,
    "paddleocr_vl_vision": Tower,
    "pixtral": PixtralTower,
    "qwen2_5_omni_vision_encoder": Tower,
    "qwen2_5_vl_vision": Tower,
    "qwen2_vl_vision": Qwen2VLTower,
    "qwen3_5_moe_vision": Tower,
    "qwen3_5_vision": Tower,
    "qwen3_omni_moe_vision_encoder": Tower,
    "qwen3_vl_moe_vision": Tower,
    "qwen3_vl_vision": Tower,
    "video_llama_3_vision": Tower,
}


# Parameters of the rule


def rope_kinds(config):
    """The layer types under which rope_parameters is nested, or [""]."""
    parameters = getattr(config, "rope_parameters", None) or {}
    return sorted(config.nested_rope_parameter_keys(parameters)) or [""]


def parameters_of(config, kind):
    if getattr(config, "rope_parameters", None) is None:
        return {"rope_type": "default", "rope_theta": 10000}  # gptj, codegen
    return config.rope_parameters[kind] if kind else config.rope_parameters


def trained_length(config, parameters):
    """The length at which the frequencies change, where they do."""
    if parameters["rope_type"] == "longrope":
        return parameters["original_max_position_embeddings"]
    if parameters["rope_type"] == "dynamic" and not parameters.get("alpha"):
        return config.max_position_embeddings
    return None


def lengths(config, parameters):
    trained = trained_length(config, parameters)
    if trained is None:
        return [0]
    return sorted({0, trained, trained + 1, 2 * trained, POSITIONS[-1] + 1})


# The same formulas with 200 bits, from the papers: real numbers throughout, the
# parameters as the float64 numbers that they are.


def real(x):
    return mpmath.mpf(x)


def yarn_ramp(dim, base, p):
    trained = real(p["original_max_position_embeddings"])

    def corner(turns):
        return dim * mpmath.log(trained / (2 * mpmath.pi * real(turns))) / (2 * mpmath.log(base))

    low, high = corner(p.get("beta_fast") or 32), corner(p.get("beta_slow") or 1)
    if p.get("truncate", True):
        low, high = mpmath.floor(low), mpmath.ceil(high)
    low, high = max(low, real(0)), min(high, real(dim - 1))
    if low == high:
        high += real(1) / 1000
    return [min(max((i - low) / (high - low), real(0)), real(1)) for i in range(dim // 2)]


def yarn_mscale(factor, mscale):
    return real(1) if factor <= 1 else real(mscale) * mpmath.log(factor) / 10 + 1


def exact_ladder(config, p, head_dim, seq):
    """Frequencies, attention factor and softmax scale as real numbers."""
    rule, base = p["rope_type"], real(p["rope_theta"])
    dim = int(head_dim * p.get("partial_rotary_factor", 1.0))
    if rule == "proportional":
        dim = head_dim
    if getattr(config, "rotary_dim", None):
        dim = config.rotary_dim
    factor, attention, softmax = real(p.get("factor") or 1), real(1), real(1)

    if rule == "dynamic":
        if p.get("alpha"):
            base *= mpmath.power(real(p["alpha"]), real(dim) / (dim - 2))
        else:
            trained = config.max_position_embeddings
            length = max(seq, trained)
            base *= mpmath.power(factor * length / trained - (factor - 1), real(dim) / (dim - 2))
    freqs = [mpmath.power(base, -real(2 * i) / dim) for i in range(dim // 2)]

    if rule == "linear":
        freqs = [f / factor for f in freqs]
    elif rule == "proportional":
        rotated = int(p.get("partial_rotary_factor", 1.0) * head_dim // 2)
        freqs = [f / factor if i < rotated else real(0) for i, f in enumerate(freqs)]
    elif rule == "yarn":
        ramp = yarn_ramp(dim, base, p)
        freqs = [f / factor * r + f * (1 - r) for f, r in zip(freqs, ramp)]
        mscale, all_dim = p.get("mscale"), p.get("mscale_all_dim")
        if p.get("attention_factor") is not None:
            attention = real(p["attention_factor"])
        elif mscale and all_dim:
            attention = yarn_mscale(factor, mscale) / yarn_mscale(factor, all_dim)
        else:
            attention = yarn_mscale(factor, 1)
        if config.model_type in ("deepseek_v2", "deepseek_v3") and all_dim:
            softmax = yarn_mscale(factor, all_dim) ** 2
    elif rule == "longrope":
        trained = p["original_max_position_embeddings"]
        factors = p["long_factor"] if seq > trained else p["short_factor"]
        freqs = [f / real(e) for f, e in zip(freqs, factors, strict=True)]
        ratio = real(p.get("factor") or real(config.max_position_embeddings) / trained)
        if p.get("attention_factor") is not None:
            attention = real(p["attention_factor"])
        elif ratio > 1:
            attention = mpmath.sqrt(1 + mpmath.log(ratio) / mpmath.log(trained))
    elif rule == "llama3":
        trained = real(p["original_max_position_embeddings"])
        low, high = real(p["low_freq_factor"]), real(p["high_freq_factor"])

        def llama3(f):
            wavelength = 2 * mpmath.pi / f
            if wavelength < trained / high:
                return f
            if wavelength > trained / low:
                return f / factor
            smooth = (trained / wavelength - low) / (high - low)
            return (1 - smooth) * f / factor + smooth * f

        freqs = [llama3(f) for f in freqs]
    else:
        assert rule in ("default", "dynamic"), rule
    return freqs, attention, softmax


def round_to(x, bits):
    """x rounded once to so many bits, ties to even, as a float64."""
    with mpmath.workprec(bits):
        return float(+x)


def ordered(x):
    """An integer that counts float32 values."""
    (bits,) = struct.unpack(">i", struct.pack(">f", x))
    return bits if bits >= 0 else -(bits & 0x7FFFFFFF)


def misrounded(table, angles, function, attention):
    """[index, steps] of the entries that are so many float32 values away from
    RN32(RN32(function(angle)) * RN32(attention factor))."""
    scale = real(round_to(real(attention), 24))
    result = []
    for index, (entry, angle) in enumerate(zip(table.flatten().tolist(), angles.flatten().tolist(), strict=True)):
        steps = ordered(entry) - ordered(round_to(real(round_to(function(real(angle)), 24)) * scale, 24))
        if steps:
            result.append([index, steps])
    return result


def exact(ladder, pairs, positions):
    """Everything that is correctly rounded: float64 frequencies, and float32 tables of
    position*frequency, RN32(RN32(cos) * RN32(attention factor)). pairs has the axis of
    each pair, positions is [axes][tokens]."""
    freqs, attention, softmax = ladder
    inv_freq = [round_to(f, 53) for f in freqs]
    attention, softmax = round_to(attention, 53), round_to(softmax, 53)
    scale = real(round_to(real(attention), 24))

    def table(function):
        rows = []
        for t in range(len(positions[0])):
            angles = [positions[axis][t] * real(f) for axis, f in zip(pairs, inv_freq, strict=True)]
            rows.append(hex32([round_to(real(round_to(function(a), 24)) * scale, 24) for a in angles]))
        return rows

    return {
        "inv_freq": hex64(inv_freq),
        "attention_factor": hex64([attention]),
        "softmax_scale": hex64([softmax]),
        "cos": table(mpmath.cos),
        "sin": table(mpmath.sin),
    }


def axis_of(config, p, pair, axes):
    """The axis from which a pair takes its position (M-RoPE)."""
    if axes == 1:
        return 0
    section = p["mrope_section"]
    if config.model_type == "ernie4_5_vl_moe_text":
        return 1 + pair % 2 if pair < section[0] + section[1] else 0
    if p.get("mrope_interleaved"):
        axis = pair % 3
        return axis if axis and pair < 3 * section[axis] else 0
    return 0 if pair < section[0] else 1 if pair < section[0] + section[1] else 2


# Files


def case(family, kind, seq, axes, positions):
    """positions is [axes][tokens], flat."""
    config, p = family.config, parameters_of(family.config, kind)
    tokens = len(positions) // axes
    head_dim = family.head_dim(kind)
    family.reset()
    on_axes = [positions[a * tokens : (a + 1) * tokens] for a in range(axes)]
    embeddings = family.forward(kind, positions if axes == 1 else on_axes)
    inv_freq = family.inv_freq(kind)
    cos, sin = family.tables(embeddings)
    pairs = [axis_of(config, p, j, axes) for j in range(len(inv_freq))]
    return recorded(
        kind, seq, on_axes, head_dim, inv_freq, pairs, (cos, sin), family.scaling(kind), family.softmax_scale(),
        lambda q, k: family.apply(q, k, embeddings), exact_ladder(config, p, head_dim, seq),
    )  # fmt: skip


def recorded(kind, seq, positions, head_dim, inv_freq, pairs, tables, attention, softmax, apply, ladder):
    """A case of a file. positions is [axes][tokens], pairs the axis of each pair."""
    tokens = len(positions[0])
    cos, sin = tables
    angles = torch.tensor(positions)[pairs].T.float() * inv_freq  # RN32(RN32(position) * frequency)
    q, k = apply(inputs(0, tokens, Q_HEADS, head_dim), inputs(K_START, tokens, K_HEADS, head_dim))
    return {
        "layer_type": kind,
        "seq": seq,
        "axes": len(positions),
        "positions": sum(positions, []),
        "head_dim": head_dim,
        "inv_freq": hex32(inv_freq.tolist()),
        "attention_factor": hex64([attention]),
        "softmax_scale": hex64([softmax]),
        "cos": rows32(cos),
        "sin": rows32(sin),
        "cos_misrounded": misrounded(cos, angles, mpmath.cos, attention),
        "sin_misrounded": misrounded(sin, angles, mpmath.sin, attention),
        "q": rows32(q[0].transpose(0, 1)),
        "k": rows32(k[0].transpose(0, 1)),
        "exact": exact(ladder, pairs, positions),
    }


def tower_vectors(config, positions):
    """What a file holds of a vision tower. positions is [rows], [columns]."""
    model_type = type(config).model_type  # files written by transformers 4 have another
    tower = TOWERS[model_type](modeling_module(config), config)
    embeddings = tower.forward(*positions)
    inv_freq, pairs = tower.ladder()
    base = real((config.rope_parameters or {}).get("rope_theta", 10000))
    ladder = [mpmath.power(base, -e) for e in tower.exponents()], real(1), real(1)
    only = recorded(
        "", 0, positions, tower.head_dim(), inv_freq, pairs, tower.tables(embeddings), 1.0, 1.0,
        lambda q, k: tower.apply(q, k, embeddings), ladder,
    )  # fmt: skip
    return {"model_type": model_type, "layers": tower.layers(), "cases": [only]}


def cases(family):
    for kind in rope_kinds(family.config):
        p = parameters_of(family.config, kind)
        for seq in lengths(family.config, p):
            positions = POSITIONS
            last = trained_length(family.config, p)
            if last is not None:
                last = (seq or last) - 1
                positions = sorted({i for i in POSITIONS if i <= last} | {last})
            if "mrope_section" in p:
                yield case(family, kind, seq, 3, positions * 3)
                # An image: time, height and width differ.
                yield case(family, kind, seq, 3, positions + positions[2:] + positions[:2] + positions[::-1])
            else:
                yield case(family, kind, seq, 1, positions)


def generate(name):
    with open(HERE / "configs" / f"{name}.json") as file:
        raw = json.load(file)
    published = raw.pop("model_type")
    like = raw.pop("_class", None)  # the type of transformers whose code the type's own is
    whole = CONFIG_MAPPING[like or published].from_dict(raw)
    config = whole.get_text_config()
    family = FAMILIES.get(config.model_type, Family)(modeling_module(config), config)
    with torch.no_grad():
        vectors = {"model_type": published if like else config.model_type, "layers": family.layers(), "cases": list(cases(family))}
        scales = family.query_scales(SCALED)
        if scales:
            vectors["query_scales"] = {"positions": SCALED, "factors": hex32(scales)}
        vision = getattr(whole, "vision_config", None)
        if type(vision) in {CONFIG_MAPPING[name] for name in TOWERS}:
            vectors["vision"] = tower_vectors(vision, PATCHES)
    write(HERE / "vectors" / f"{name}.json", vectors)


def generate_towers():
    positions = [axis[1:3] for axis in PATCHES]
    with torch.no_grad():
        towers = {name: tower_vectors(CONFIG_MAPPING[name](), positions) for name in TOWERS}
    write(HERE / "towers.json", towers)


def generate_gemma4():
    """Gemma 4 rotates each half of a head on its own."""
    config = CONFIG_MAPPING["gemma4_vision"]()
    module = modeling_module(config)
    rows, columns = (axis[1:3] for axis in PATCHES)
    positions = torch.tensor([columns, rows]).T[None]
    with torch.no_grad():
        q = inputs(0, len(rows), Q_HEADS, config.head_dim).transpose(1, 2)
        cos, sin = module.Gemma4VisionRotaryEmbedding(config)(q, positions)
        q = module.apply_multidimensional_rope(q, cos, sin, positions)
    values = {"head_dim": config.head_dim, "rows": rows, "columns": columns, "q": rows32(q[0])}
    write(HERE / "gemma4_vision.json", values)


def write(path, values):
    with open(path, "w") as file:
        json.dump(values, file, separators=(",", ":"))
        file.write("\n")


def main():
    for line in (HERE / "requirements.txt").read_text().split():
        package, version = line.split("==")
        installed = importlib.metadata.version(package).split("+")[0]
        if installed != version:
            sys.exit(f"{package} is {installed}, want {version}")
    torch.set_num_threads(1)
    logging.set_verbosity_error()
    (HERE / "vectors").mkdir(exist_ok=True)
    for name in sys.argv[1:] or sorted(path.stem for path in (HERE / "configs").glob("*.json")):
        generate(name)
    generate_towers()
    generate_gemma4()


if __name__ == "__main__":
    main()
