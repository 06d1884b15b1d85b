"""Writes calls.json.gz: how llama.cpp rotates for the metadata of every architecture, by the
program that calls.cpp makes with a checkout of llama.cpp; and the rows of vision.json.

    python3 calls.py PROGRAM CHECKOUT VERSION [ARCHITECTURE...]
"""

import gzip
import json
import pathlib
import re
import subprocess
import sys

LAYERS = 12
HEADS = 8
HEAD = 64
WIDTH = HEADS*HEAD
CONTEXT = 8192

PERIOD = [layer % 4 != 3 for layer in range(LAYERS)]
LATENT = {
    "rope.dimension_count": 64, "attention.key_length": 96, "attention.value_length": 32, "attention.key_length_mla": 192,
    "attention.value_length_mla": 128, "attention.head_count_kv": 1,
}
INDEXER = {"attention.indexer.head_count": 4, "attention.indexer.key_length": 128, "attention.indexer.top_k": 16, "attention.indexer.block_size": 4, "attention.indexer.local_blocks": 1}
HYPER = {"hyper_connection.count": 4, "hyper_connection.sinkhorn_iterations": 2, "hyper_connection.epsilon": 1e-6, "hyper_connection.magnitude": 2.0, "hyper_connection.low_rank": 8}
WINDOW = {"attention.sliding_window": 1024}
WINDOWS = WINDOW | {"attention.sliding_window_pattern": PERIOD}
SWA = {"attention.key_length_swa": 32, "attention.value_length_swa": 32, "rope.dimension_count_swa": 32}
EVERY_SECOND = [0 if layer % 2 else 1 for layer in range(LAYERS)]
TYPES = {"tokenizer.ggml.token_type_count": 2}
RWKV = {"time_mix_extra_dim": 32, "time_decay_extra_dim": 64, "attention.decay_lora_rank": 32, "attention.iclr_lora_rank": 32, "attention.value_residual_mix_lora_rank": 32, "attention.gate_lora_rank": 32}

# What a model of the architecture needs beside the usual. None takes a key out.
NEEDS = {
    "afmoe": WINDOW, "baichuan": {"block_count": 32},
    "bailingmoe3": LATENT | {"attention.head_count_kv": EVERY_SECOND, "kda.safe_gate": True, "kda.gate_lower_bound": -5.0}, "bert": TYPES,
    "chameleon": {"vocab_size": 10240}, "clef": {"rope.dimension_sections": [12, 10, 10, 0], "decision.head_count": 2, "decision.routing_block_count": 2, "decision.block_count": 2},
    "cohere2": WINDOW, "cohere2moe": WINDOW, "deepseek2": LATENT, "deepseek32": LATENT | INDEXER,
    "deepseek4": WINDOW | INDEXER | HYPER | {
        "block_count": 6, "attention.head_count_kv": 1, "attention.key_length": 64, "attention.value_length": 64, "rope.dimension_count": 32,
        "attention.output_group_count": 8, "attention.output_lora_rank": 32, "attention.compress_ratios": [0, 0, 4, 128, 4, 0],
        "attention.compress_rope_freq_base": 160000.0, "hash_layer_count": 0, "expert_gating_func": 4,
    },
    "dflash": {"target_layers": [1, 2, 3], "dflash.block_size": 4, "block_size": 4, "mask_token_id": 1}, 
    "dots3note": LATENT | WINDOWS | INDEXER | {
        "attention.kv_lora_rank_swa": 32, "attention.key_length_swa": 96, "attention.value_length_swa": 32, "attention.key_length_mla_swa": 192,
        "attention.value_length_mla_swa": 128, "rope.freq_base_swa": 20000.0, "attention.indexer.types": [0 if slides else 1 for slides in PERIOD],
    },
    "eagle3": {"block_count": 1, "extract_layers": [1, 2, 3], "target_layers": [1, 2, 3], "target_hidden_size": WIDTH},
    "exaone-moe": WINDOW, "exaone4": {"block_count": 64} | WINDOW, "gemma-embedding": WINDOW, "gemma2": WINDOW,
    "gemma3n": {"block_count": 25} | WINDOW,
    "gemma4": WINDOWS | SWA | {"embedding_length_per_layer_input": 64, "attention.shared_kv_layers": 0},
    "gemma4-assistant": WINDOWS | SWA | {"embedding_length_per_layer_input": 64, "attention.shared_kv_layers": 0, "embedding_length_out": 2*WIDTH},
    "glm-dsa": LATENT | INDEXER, "glm5-next": LATENT | INDEXER | HYPER | {"rope.dimension_count": 0, "attention.key_length": 32, "attention.indexer.kpool": 4},
    "gpt-oss": WINDOW, "granite_swa": WINDOWS,
    "graniteswitch": {"adapters.count": 1, "adapters.token_ids_activate": [1], "adapters.token_ids_substitute": [2], "adapters.lora_rank": 8, "adapters.router_gain": 1.0},
    "hrm_text": {"hrm.layers_per_stack": 2, "hrm.h_cycles": 2, "hrm.l_cycles": 2},
    "hy_v4": LATENT | INDEXER | HYPER | {"attention.indexer.types": [1] * LAYERS},
    "jina-bert-v3": TYPES, "kimi-k3": LATENT | {"attn_res.block_size": 4, "activation.situ_beta": 4.0, "activation.situ_linear_beta": 25.0, "kda.gate_lower_bound": -5.0, "attention.head_count_kv": EVERY_SECOND}, "kimi-linear": LATENT | {"attention.head_count_kv": EVERY_SECOND},
    "maple": WINDOWS, "mimo2": WINDOWS, "minimax-m3": INDEXER | {"attention.indexer.head_count": HEADS}, "minicpm3": {"attention.key_length": 96, "rope.dimension_count": 32}, "mistral4": LATENT,
    "muse-glimmer": WINDOW, "nomic-bert": TYPES, "nomic-bert-moe": TYPES, "paddleocr": {"rope.dimension_sections": [8, 12, 12, 0]},
    "plm": {"attention.key_length": 192, "attention.value_length": 128, "rope.dimension_count": 64, "attention.head_count": 1, "attention.head_count_kv": 1},
    "qwen2vl": {"rope.dimension_sections": [8, 12, 12, 0]}, "qwen3tts": {"vocab_size": 3072, "rope.dimension_sections": [12, 10, 10, 0]},
    "qwen3vl": {"rope.dimension_sections": [12, 10, 10, 0]}, "qwen3vlmoe": {"rope.dimension_sections": [12, 10, 10, 0]},
    "qwen35": {"rope.dimension_sections": [12, 10, 10, 0]}, "qwen35moe": {"rope.dimension_sections": [12, 10, 10, 0]},
    "qwen4exp": INDEXER | HYPER | {"rope.dimension_sections": [12, 10, 10, 0], "attention.compress_ratios": [4] * LAYERS},
    "rwkv6": RWKV, "rwkv6qwen2": RWKV, "rwkv7": RWKV, "arwkv7": RWKV,
    "spark2_5": WINDOWS, "step35": WINDOWS,
}


# Drafting models, with one that they draft for.
DRAFTS = {"eagle3": "llama", "gemma4-assistant": "gemma4", "dflash": "llama"}


def usual(arch):
    """Metadata of which every loader finds what it requires, but for rotary keys."""
    keys = {
        "context_length": CONTEXT, "embedding_length": WIDTH, "block_count": LAYERS, "vocab_size": 128,
        "attention.head_count": HEADS, "attention.head_count_kv": HEADS, "feed_forward_length": 128,
        "attention.layer_norm_epsilon": 1e-5, "attention.layer_norm_rms_epsilon": 1e-5,
        "attention.group_norm_epsilon": 1e-5, "attention.group_norm_groups": 8,
        "leading_dense_block_count": 1, "expert_feed_forward_length": 64, "expert_shared_feed_forward_length": 64,
        "expert_count": 4, "expert_used_count": 2, "expert_shared_count": 1, "expert_gating_func": 2,
        "expert_group_scale": 1.0, "experts_per_group": 1, "expert_weights_scale": 1.0, "expert_weights_norm": True,
        "interleave_moe_layer_step": 2, "moe_every_n_layers": 2, "logit_scale": 1.0, "residual_scale": 1.0, "embedding_scale": 1.0,
        "ssm.inner_size": 2*WIDTH, "ssm.conv_kernel": 4, "ssm.state_size": 128, "ssm.time_step_rank": HEADS, "ssm.group_count": 2,
        "kda.head_dim": 128, "wkv.head_size": HEAD, "shortconv.l_cache": 3, "swiglu_clamp_exp": 10.0,
        "xielu.alpha_n": 1.0, "xielu.alpha_p": 1.0, "xielu.beta": 1.0, "xielu.eps": 1e-7, "time_mix_extra_dim": 32, "time_decay_extra_dim": 64,
        "attention.q_lora_rank": 64, "attention.kv_lora_rank": 32, "attention.clamp_kqv": 1.0,
        "use_parallel_residual": False, "attention.relative_buckets_count": 32,
    }
    keys |= NEEDS.get(arch, {})
    # Keys without the name of the architecture before them.
    plain = {k: keys.pop(k) for k in list(keys) if k.startswith(("tokenizer.", "xielu."))}
    return {"general.architecture": arch, "tokenizer.ggml.model": "none"} | {f"{arch}.{k}": v for k, v in keys.items() if v is not None} | plain


YARN = {"rope.scaling.type": "yarn", "rope.scaling.factor": 4.0, "rope.scaling.original_context_length": 2048}
FREQS, SHORT, LONG = "rope_freqs.weight", "rope_factors_short.weight", "rope_factors_long.weight"

SOME_HEADS = [HEADS if layer % 2 == 0 else 0 for layer in range(LAYERS)]

# What is changed in the metadata of each architecture, one at a time. A name of a tensor
# is in the file, "context" the length of the sequence.
CHANGES = [
    {},
    {"rope.freq_base": 500000.0}, {"rope.freq_base_swa": 20000.0}, {"rope.freq_base": 500000.0, "rope.freq_base_swa": 20000.0},
    {"rope.dimension_count": 32}, {"rope.dimension_count_swa": 32}, {"rope.dimension_count": 32, "rope.dimension_count_swa": 16},
    {"attention.key_length": 96, "attention.value_length": 96}, {"attention.key_length_swa": 32, "attention.value_length_swa": 32},
    {"attention.key_length_swa": 32, "attention.value_length_swa": 32, "rope.dimension_count_swa": 32},
    {"rope.dimension_sections": [12, 10, 10, 0]}, {"rope.dimension_sections": [8, 8, 8, 8]}, {"rope.dimension_sections": [12, 10, 10]},
    {"rope.scale_linear": 4.0}, {"rope.scaling.factor": 4.0}, {"rope.scaling.factor": 4.0, "rope.scaling.type": "linear"},
    {"rope.scaling.type": "none"}, {"rope.scaling.factor": 4.0, "rope.scaling.type": "none"}, {"rope.scaling.type": "longrope"},
    {"rope.scaling.attn_factor": 1.25}, {"rope.scaling.alpha": 1000.0}, {"rope.scaling.finetuned": False}, {"rope.scaling.finetuned": True},
    {"rope.scaling.original_context_length": 2048}, {"context_length": 4096},
    YARN, YARN | {"rope.scaling.yarn_log_multiplier": 0.1}, YARN | {"rope.scaling.yarn_log_multiplier": 0.07}, YARN | {"rope.scaling.yarn_log_multiplier": 1.0},
    YARN | {"rope.scaling.yarn_ext_factor": 0.5},
    YARN | {"rope.scaling.yarn_ext_factor": 0.0}, YARN | {"rope.scaling.yarn_attn_factor": 1.5}, YARN | {"rope.scaling.yarn_beta_fast": 16.0},
    YARN | {"rope.scaling.yarn_beta_slow": 2.0}, YARN | {"rope.scaling.attn_factor": 0.8}, YARN | {"rope.freq_base_swa": 20000.0},
    {"rope.scaling.yarn_log_multiplier": 0.1}, {"rope.scaling.yarn_ext_factor": 1.0}, {"rope.scaling.yarn_attn_factor": 1.5},
    {"rope.scaling.yarn_beta_fast": 16.0}, {"rope.scaling.yarn_beta_slow": 2.0},
    WINDOW, {"attention.sliding_window": 0}, WINDOW | YARN, WINDOW | {"rope.scaling.factor": 4.0}, WINDOW | {"rope.freq_base": 500000.0},
    WINDOW | {"rope.freq_base_swa": 20000.0}, WINDOW | {"rope.freq_base_swa": 20000.0, "rope.scaling.factor": 4.0}, WINDOW | {"rope.dimension_count_swa": 32},
    WINDOW | {"attention.sliding_window_pattern": 3}, WINDOWS, WINDOW | {"attention.sliding_window_pattern": 1}, WINDOW | {"attention.sliding_window_pattern": 0},
    WINDOW | {"attention.sliding_window_pattern": [layer % 3 == 0 for layer in range(LAYERS)]}, WINDOWS | {"attention.sliding_window": 0},
    {"attention.rope_pattern": PERIOD}, WINDOWS | {"attention.rope_pattern": [layer % 2 == 0 for layer in range(LAYERS)]},
    {"attention.recurrent_layers": PERIOD}, {"full_attention_interval": 3}, {"nextn_predict_layers": 1}, {"leading_dense_block_count": 3},
    WINDOW | {"leading_dense_block_count": 3}, {"hyper_connection.count": 4},
    {"attention.indexer.key_length": 96}, {"attention.indexer.types": [layer % 2 for layer in range(LAYERS)]},
    {"attention.compress_rope_freq_base": 40000.0}, {"attention.compress_ratios": [0, 4, 0, 128, 4, 4] * 2},
    {"attention.head_count": SOME_HEADS, "attention.head_count_kv": SOME_HEADS}, {"attention.head_count_kv": SOME_HEADS},
    {"rope.scaling.original_context_length": 2048, "rope.scaling.type": "longrope", "rope.scaling.attn_factor": 1.25},
    {FREQS: True}, {FREQS: True, "rope.scaling.factor": 4.0}, {FREQS: True} | WINDOW, {SHORT: True, LONG: True, "rope.scaling.original_context_length": 2048, "context": 1024},
    {SHORT: True, LONG: True, "rope.scaling.original_context_length": 2048, "context": 4096},
    {SHORT: True, LONG: True, "rope.scaling.original_context_length": 2048, "context": 4096, "rope.scaling.type": "longrope", "rope.scaling.attn_factor": 1.25},
]


def question(arch, change):
    keys, tensors, context = usual(arch), [], 0
    for k, v in change.items():
        if k.endswith(".weight"):
            tensors.append(k)
        elif k == "context":
            context = v
        else:
            if isinstance(v, list) and len(v) == LAYERS:  # one for each layer
                count = keys[f"{arch}.block_count"]
                v = (v*count)[:count]
            keys[f"{arch}.{k}"] = v
    latent = f"{arch}.attention.key_length_mla" in keys
    if latent and "rope.dimension_count" in change: # the latent part stays
        keys[f"{arch}.attention.key_length"] = 32 + change["rope.dimension_count"]
        keys[f"{arch}.attention.key_length_mla"] = 128 + change["rope.dimension_count"]
    q = {"keys": keys, "tensors": tensors, "context": context}
    if arch in DRAFTS:
        q["other"] = question(DRAFTS[arch], {})
    return q


def loaders(source):
    """The keys and the tensors of frequency factors that the loader of each architecture reads, and whether
    they must be there."""
    names = dict(re.findall(r'\{\s*(LLM_ARCH_\w+),\s*"([^"]+)"\s*\}', (source / "llama-arch.cpp").read_text()))
    key_names = dict(re.findall(r'\{\s*(LLM_KV_\w+),\s*"(?:%s\.)?([^"]+)"\s*\}', (source / "llama-arch.cpp").read_text()))
    model = (source / "llama-model.cpp").read_text()
    header = (source / "models" / "models.h").read_text()
    bases = dict(re.findall(r"struct (llama_model_\w+)\s*: public (llama_model_\w+)", header))
    bodies, tensors = {}, {}
    for file in sorted((source / "models").glob("*.cpp")):
        for m in re.finditer(r"^void (llama_model_\w+)::load_arch_hparams\(.*?^}", file.read_text(), re.M | re.S):
            bodies[m[1]] = m[0]
        for m in re.finditer(r"^void (llama_model_\w+)::load_arch_tensors\(.*?^}", file.read_text(), re.M | re.S):
            tensors[m[1]] = m[0]
    tensor_names = {"LLM_TENSOR_ROPE_FREQS": FREQS, "LLM_TENSOR_ROPE_FACTORS_SHORT": SHORT, "LLM_TENSOR_ROPE_FACTORS_LONG": LONG}
    common = re.search(r"^void llama_model_base::load_hparams\(.*?^}", model, re.M | re.S)[0]
    pattern = re.search(r"^void llama_model_base::load_swa_pattern\(.*?^}", model, re.M | re.S)[0]

    def reads(body):
        found = {}
        for m in re.finditer(r"\bml\.get_(key_or_arr|key|arr_n|arr)\(\s*(LLM_KV_\w+)([^;]*?)\)\s*(?:;|\)|&&|\{)", body):
            found[key_names[m[2]]] = found.get(key_names[m[2]], False) or not re.search(r"(?:,\s*(?:/\*.*?\*/)?\s*(?:false|0\.0f))\s*$", m[3].rstrip(") "))
        if "load_swa_pattern(ml" in body:
            found |= reads(pattern)
        for base in re.findall(r"(llama_model_\w+)::load_arch_hparams\(ml\)", body):
            found |= reads(bodies[base])
        return found

    def factors(body):
        found = {}
        for m in re.finditer(r"create_tensor\(tn\((LLM_TENSOR_ROPE_F\w+),[^;]*;", body):
            found[tensor_names[m[1]]] = "TENSOR_NOT_REQUIRED" not in m[0]
        for base in re.findall(r"(llama_model_\w+)::load_arch_tensors\(ml\)", body):
            found |= factors(tensors[base])
        return found

    def inherited(cls, table):
        while cls not in table and cls in bases:
            cls = bases[cls]
        return table.get(cls)

    of = {}
    for arch, name in names.items():
        m = re.search(rf"case {arch}:(?:\s*case LLM_ARCH_\w+:)*\s*return new (\w+)\(", model)
        if not m:
            continue
        body = inherited(m[1], bodies)
        if body:
            of[name] = {"reads": reads(body), "factors": factors(inherited(m[1], tensors) or "")}
    return reads(common), of


def rotate(ask, here):
    """Writes vision.json anew, by the arguments that it has."""
    text = (here / "vision.json").read_text()
    for case in json.loads(text):
        answer = ask({"rotate": case["arguments"], "headDim": case["headDim"], "positions": case["positions"], "divisors": None})
        for before, after in zip(case["rotated"], answer["rotated"]):
            text = text.replace(f'"{before}"', f'"{after}"')
    (here / "vision.json").write_text(text)


def main(program, checkout, version, *only):
    source = pathlib.Path(checkout) / "src"
    common, own = loaders(source)
    process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(question):
        process.stdin.write(json.dumps(question) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    here = pathlib.Path(__file__).parent
    rotate(ask, here)

    distinct = []
    def index(call):
        if call not in distinct:
            distinct.append(call)
        return distinct.index(call)

    answers = {}
    for name in only or sorted(own):
        cases = answers[name] = []
        for change in CHANGES:
            answer = ask(question(name, change))
            if not change and not answer.get("calls") and "error" not in answer:
                break # does not rotate
            case = {"change": change}
            if "error" in answer:
                case["error"] = answer["error"]
            else:
                layers = {}
                for call in answer["calls"]:
                    call = dict(call)
                    layer, node = call.pop("layer"), re.sub(r"-\d+.*", "", call.pop("name"))
                    if call.pop("heads") == 0:
                        continue
                    if call["ext_factor"] == 0:  # without YaRN they do nothing
                        call |= {"beta_fast": 0, "beta_slow": 0, "n_ctx_orig": 0}
                    call["indexer"] = bool(re.search("index|lid", node))
                    layers.setdefault(layer, set()).add(index(call))
                    if layer < 0:
                        print(name, change, "a rotation of no layer", node)
                case["layers"] = [sorted(layers.get(layer, [])) for layer in range(max(layers, default=-1) + 1)]
                case["tensors"] = answer["tensors"]
            cases.append(case)
        print(name, len(cases), sum("error" in c for c in cases), flush=True)
    for call in distinct:
        # The fourth axis of interleaved sections is that of time, as in training (README.md).
        axes = [[17], [23], [29], [17 if call["mode"] == 40 else 31]] if any(call["sections"]) else [[17]]
        divisors = call["divisors"] and [len(call["divisors"])/16 * (1 + i/8) for i in range(call["n_dims"]//2)]
        arguments = call | {"sections": call["sections"] if len(axes) > 1 else None}
        call["rotated"] = ask({"rotate": arguments, "headDim": call["n_dims"], "positions": axes, "divisors": divisors})["rotated"][0]
    packed = {"version": version, "calls": distinct, "common": common, "architectures": {
        name: own[name] | {"keys": usual(name), "cases": cases} for name, cases in answers.items()}}
    (here / "calls.json.gz").write_bytes(gzip.compress(json.dumps(packed, sort_keys=True).encode(), 9, mtime=0))


if __name__ == "__main__":
    main(*sys.argv[1:])
