"""Golden vectors of Fourier position embedding (FoPE), by the class FourierRotaryEmbedding of vLLM and of SGLang on a CPU.

    python3 fope.py vLLM=FOLDER SGLang=FOLDER    writes fope.json

Made with vLLM 0.33.0, SGLang 0.5.23 and torch 2.15.0. A class is taken out of its file, because the packages need a GPU to be
imported. Coefficients are the identity plus an eighth of the elements that README.md of ../transformers defines, from number 0 on
for cosines and from 2^20 on for sines; K has them from 2^21 on, Q from 2^22 on. README.md here says what fope.json holds.
"""

import ast
import json
import pathlib
import struct
import sys

import torch

HEAD_DIM, HEADS, QUERIES, POSITIONS = 128, 2, 4, [0, 1, 77, 1000]
PLACES = {
    "vLLM": ["model_executor/layers/rotary_embedding/common.py", "model_executor/layers/rotary_embedding/fope.py"],
    "SGLang": ["srt/layers/rotary_embedding/utils.py", "srt/layers/rotary_embedding/rope_variant.py"],
}
TAKEN = ["FourierRotaryEmbedding", "rotate_neox", "rotate_half", "apply_rotary_pos_emb_native", "apply_rotary_pos_emb_native_eager"]
# What the published config.json of Intern-S1-Pro gives, with 2 heads of K for its 4.
CONFIG = {
    "model_type": "interns1_pro",
    "text_config": {
        "model_type": "interns1_pro_text", "head_dim": HEAD_DIM, "hidden_size": 4096, "max_position_embeddings": 262144, "num_attention_heads": 64,
        "num_hidden_layers": 94, "rope_scaling": {"rope_type": "default", "fope_init_factor": 0.5, "fope_sep_head": True, "num_inv_freq": None}, "rope_theta": 5000000,
    },
}


def inputs(start, *shape):
    n = start + torch.arange(torch.Size(shape).numel(), dtype=torch.int64)
    return (((n * 2654435761 + 97) % (1 << 24) - (1 << 23)).to(torch.float32) / (1 << 21)).reshape(shape)


def hex32(values):
    return "".join(struct.pack(">f", v).hex() for v in values.flatten().tolist())


class RotaryEmbedding(torch.nn.Module):
    """Of vLLM: keeps its arguments."""

    def __init__(self, **values):
        super().__init__()
        self.__dict__.update(values)


def fourier(folder, name):
    """The class, which computes rows up to the last of POSITIONS only."""
    body = ast.parse("from __future__ import annotations").body
    for place in PLACES[name]:
        for node in ast.parse((pathlib.Path(folder) / place).read_text()).body:
            if getattr(node, "name", "") in TAKEN:
                node.decorator_list = []  # torch.compile
                body.append(node)
    scope = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "RotaryEmbedding": RotaryEmbedding}
    exec(compile(ast.Module(body, []), name, "exec"), scope)

    class Fourier(scope["FourierRotaryEmbedding"]):
        def _compute_cos_sin_cache(self):
            self.max_position_embeddings = POSITIONS[-1] + 1
            return super()._compute_cos_sin_cache()

    text = CONFIG["text_config"]
    common = dict(head_size=HEAD_DIM, rotary_dim=HEAD_DIM, max_position_embeddings=text["max_position_embeddings"], base=text["rope_theta"], is_neox_style=True, dtype=torch.float32)
    own = {"vLLM": dict(init_cache=False, num_key_value_heads=HEADS), "SGLang": dict(num_kv_heads=HEADS, device="cpu")}[name]
    rope = Fourier(**common, **own, num_inv_freq=None, fope_sep_head=True, fope_init_factor=0.5)
    n = rope.input_dim
    rope.cos_coef.data.copy_(torch.eye(n) + inputs(0, HEADS, n, n) / 8)
    rope.sin_coef.data.copy_(torch.eye(n) + inputs(1 << 20, HEADS, n, n) / 8)
    return rope


def main(arguments):
    document, half = {}, HEAD_DIM // 2
    with torch.no_grad():
        for argument in arguments:
            name, folder = argument.split("=")
            rope = fourier(folder, name)
            k, q = inputs(1 << 21, len(POSITIONS), HEADS * HEAD_DIM), inputs(1 << 22, len(POSITIONS), QUERIES * HEAD_DIM)
            q, k = getattr(rope, "forward_native", rope.forward)(torch.tensor(POSITIONS), q, k)
            cos, sin = rope.cos_sin_cache[POSITIONS].chunk(2, dim=-1)
            made = {"inv_freq": rope.inv_freq, "cos": cos[..., :half], "sin": sin[..., :half], "q": q, "k": k}
            made = {"config": CONFIG, "heads": HEADS, "positions": POSITIONS} | {key: hex32(v) for key, v in made.items()}
            assert document in ({}, made), "the projects differ"
            document = made
    (pathlib.Path(__file__).parent / "fope.json").write_text(json.dumps(document) + "\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(sys.argv[1:])
