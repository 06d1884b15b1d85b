"""Writes the GGUF files of this folder, by the package gguf of requirements.txt.

    python3 generate.py

Each is a header as conversions of llama.cpp write it for a published model, whose
config.json is in modelconfig/testdata/transformers/configs, with one small tensor in place of
the weights. Running it again gives the same bytes.
"""

import json
import math
from pathlib import Path

import gguf
import numpy as np

FOLDER = Path(__file__).parent
CONFIGS = FOLDER.parents[3] / "modelconfig/testdata/transformers/configs"


def config(name):
    c = json.loads((CONFIGS / f"{name}.json").read_text())
    return c.get("text_config", c)


def write(name, arch, fill, tensors=(), big=False, split=False):
    """The keys that files of all architectures have, those that fill adds, and tensors. If split, the first part
    has the keys, and each other part a tensor."""
    parts = {"split_max_tensors": 1, "small_first_shard": True} if split else {}
    w = gguf.GGUFWriter(FOLDER / f"{name}.gguf", arch, endianess=gguf.GGUFEndian.BIG if big else gguf.GGUFEndian.LITTLE, **parts)
    w.add_name(name)
    w.add_tokenizer_model("gpt2")
    w.add_token_list(["<s>", "", "a", "bc", "\u00e4"])
    w.add_token_scores([0.0, 1.0, 2.0, 3.0, 4.0])
    fill(w)
    for tensor, data in tensors:
        w.add_tensor(tensor, np.array(data, np.float32))
    w.add_tensor("output_norm.weight", np.ones(4, np.float32))
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


def usual(w, c, base=True):
    w.add_block_count(c["num_hidden_layers"])
    w.add_context_length(c["max_position_embeddings"])
    w.add_embedding_length(c["hidden_size"])
    w.add_head_count(c["num_attention_heads"])
    w.add_head_count_kv(c["num_key_value_heads"])
    if base:
        w.add_rope_freq_base(c["rope_theta"])


def llama3_factors(c):
    """rope_freqs.weight, by which frequencies are divided."""
    rope, dim = c["rope_scaling"], c["hidden_size"] // c["num_attention_heads"]
    low, high, length = rope["low_freq_factor"], rope["high_freq_factor"], rope["original_max_position_embeddings"]
    factors = []
    for i in range(0, dim, 2):
        frequency = 1.0 / c["rope_theta"] ** (i / dim)
        wavelength = 2 * math.pi / frequency
        if wavelength < length / high:
            factors.append(1.0)
        elif wavelength > length / low:
            factors.append(rope["factor"])
        else:
            smooth = (length / wavelength - low) / (high - low)
            factors.append(1 / ((1 - smooth) / rope["factor"] + smooth))
    return factors


def llama(name, big=False, factors=True, split=False):
    c = config("Llama-3.1-8B")

    def fill(w):
        usual(w, c)
        w.add_rope_dimension_count(c["hidden_size"] // c["num_attention_heads"])

    write(name, "llama", fill, [("rope_freqs.weight", llama3_factors(c))] if factors else [], big, split)


def gemma4(name, factors=True):
    c = config("gemma-4-E2B-it")
    rope, dim, slides = c["rope_parameters"], c["global_head_dim"], [t == "sliding_attention" for t in c["layer_types"]]
    turning = int(dim * rope["full_attention"]["partial_rotary_factor"]) // 2

    def fill(w):
        usual(w, c, base=False)
        w.add_key_length(dim)
        w.add_key_length_swa(c["head_dim"])
        w.add_rope_dimension_count(dim)
        w.add_rope_dimension_count_swa(c["head_dim"])
        w.add_rope_freq_base(rope["full_attention"]["rope_theta"])
        w.add_rope_freq_base_swa(rope["sliding_attention"]["rope_theta"])
        w.add_sliding_window(c["sliding_window"])
        w.add_sliding_window_pattern(slides)
        w.add_shared_kv_layers(c["num_kv_shared_layers"])

    write(name, "gemma4", fill, [("rope_freqs.weight", [1.0]*turning + [1e30]*(dim//2 - turning))] if factors else [])


def gemma3():
    c = config("gemma-3-27b-it")

    def fill(w):
        usual(w, c)
        w.add_key_length(c["head_dim"])
        w.add_value_length(c["head_dim"])
        w.add_sliding_window(c["sliding_window"])
        w.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
        w.add_rope_scaling_factor(c["rope_scaling"]["factor"])

    write("gemma-3-27b-it", "gemma3", fill)


def deepseek2():
    c = config("DeepSeek-V3")
    rope, part, nope = c["rope_scaling"], c["qk_rope_head_dim"], c["qk_nope_head_dim"]

    def fill(w):
        usual(w, c)
        w.add_kv_lora_rank(c["kv_lora_rank"])
        w.add_key_length(c["kv_lora_rank"] + part)
        w.add_key_length_mla(nope + part)
        w.add_rope_dimension_count(part)
        w.add_rope_scaling_type(gguf.RopeScalingType.YARN)
        w.add_rope_scaling_factor(rope["factor"])
        w.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
        w.add_rope_scaling_yarn_log_mul(0.1 * rope["mscale_all_dim"])

    write("DeepSeek-V3", "deepseek2", fill)


def phi3():
    c = config("Phi-3-mini-128k-instruct")
    rope = c["rope_scaling"]
    scale = c["max_position_embeddings"] / c["original_max_position_embeddings"]

    def fill(w):
        usual(w, c)
        w.add_rope_dimension_count(c["hidden_size"] // c["num_attention_heads"])
        w.add_rope_scaling_orig_ctx_len(c["original_max_position_embeddings"])
        w.add_rope_scaling_attn_factors(math.sqrt(1 + math.log(scale) / math.log(c["original_max_position_embeddings"])))

    write("Phi-3-mini-128k-instruct", "phi3", fill, [("rope_factors_long.weight", rope["long_factor"]), ("rope_factors_short.weight", rope["short_factor"])])


def qwen2vl():
    c = config("Qwen2.5-VL-7B-Instruct")

    def fill(w):
        usual(w, c)
        w.add_rope_dimension_sections([*c["rope_scaling"]["mrope_section"], 0])

    write("Qwen2.5-VL-7B-Instruct", "qwen2vl", fill)


def gpt_oss():
    c = config("gpt-oss-20b")
    rope = c["rope_scaling"]

    def fill(w):
        usual(w, c)
        w.add_key_length(c["head_dim"])
        w.add_value_length(c["head_dim"])
        w.add_sliding_window(c["sliding_window"])
        w.add_rope_scaling_type(gguf.RopeScalingType.YARN)
        w.add_rope_scaling_factor(rope["factor"])
        w.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])

    write("gpt-oss-20b", "gpt-oss", fill)


llama("Llama-3.1-8B")
llama("big-endian", big=True)
llama("without-factors", factors=False)
llama("split", split=True)
gemma4("gemma-4-E2B-it")
gemma4("gemma-4-without-factors", factors=False)
gemma3()
deepseek2()
phi3()
qwen2vl()
gpt_oss()
