"""Trains the model of this example, and writes what transformers computes with it.

    python3 generate.py           writes all files below
    python3 generate.py golden    writes golden.safetensors for the weights that are here

config.json, model.safetensors: a Llama of two layers whose tokens are bytes. It learns
poem.txt by heart, the first stanzas of The Walrus and the Carpenter (Lewis Carroll, 1871),
in some minutes on one core. Queries share keys (4 heads and 2), and the frequencies are
those of Llama 3.1's rule and a trained length of 64 positions, which the poem exceeds.

golden.safetensors: for each kind of cache, float32 and q8_0, the prompt and what the model
adds to it, greedily (tokens), and the logits of every token but the last. q8_0 is a cache
layer that rounds keys, after their rotation, and values as ggml's quantize_row_q8_0_ref
does. The metadata have the versions, the tokens of the prompt, and for each cache
  difference   by how much the logits change at most when keys and values change by less
               than 2^-22 of themselves, at random: another order of float32 sums does as
               much. (A number of q8_0 next to the middle of two codes takes the other.)
  margin       the least difference between the two largest logits that chose a token

With the versions of requirements.txt and a CPU with AVX2 the tensors are the same to the last
bit; the order of the metadata in the file is not.
"""

import json
import os
import pathlib
import sys

os.environ["ATEN_CPU_CAPABILITY"] = "avx2"

import torch
import transformers
from safetensors.torch import save_file
from transformers.cache_utils import Cache, DynamicLayer

HERE = pathlib.Path(__file__).parent
PROMPT = "The sun was shining on the sea,\n"
STEPS = 206

CONFIG = transformers.LlamaConfig(
    vocab_size=128, hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=2, head_dim=32, max_position_embeddings=512, rms_norm_eps=1e-5, tie_word_embeddings=True,
    rope_parameters={
        "rope_type": "llama3", "rope_theta": 10000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 64,
    },
    bos_token_id=None, eos_token_id=None, attn_implementation="eager",
)  # fmt: skip


def train(steps=500, batch=16, length=256):
    torch.manual_seed(1)
    text = torch.tensor(list((HERE / "poem.txt").read_bytes()))
    model = transformers.LlamaForCausalLM(CONFIG)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.99), weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, steps)
    for step in range(steps):
        starts = torch.randint(len(text) - length + 1, (batch,))
        starts[0] = 0  # the prompt is the beginning
        tokens = torch.stack([text[s : s + length] for s in starts])
        loss = model(input_ids=tokens, labels=tokens, use_cache=False).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 20 == 0 or step == steps - 1:
            print(step, loss.item(), flush=True)
    model.save_pretrained(HERE)
    (HERE / "generation_config.json").unlink(missing_ok=True)


class Q8Layer(DynamicLayer):
    """A cache layer of blocks of 32 numbers: q = y/d rounded, d = amax/127 kept as float16."""

    def update(self, key_states, value_states, *args, **kwargs):
        return super().update(self.rounded(key_states), self.rounded(value_states), *args, **kwargs)

    @staticmethod
    def rounded(x):
        y = x.unflatten(-1, (-1, 32))
        d = y.abs().amax(-1, keepdim=True) / 127
        scaled = y * torch.where(d == 0, d, 1 / d)
        q = torch.trunc(scaled + torch.copysign(torch.tensor(0.5), scaled))
        return (q * d.to(torch.float16).to(torch.float32)).flatten(-2)


CACHES = {"float32": DynamicLayer, "q8_0": Q8Layer}


def disturbed(layer):
    """The class of a cache layer whose keys and values change by less than 2^-22 of themselves."""

    class Disturbed(layer):
        def update(self, key_states, value_states, *args, **kwargs):
            def change(x):
                return x * (1 + 2.0**-22 * (2 * torch.rand_like(x) - 1))

            return super().update(change(key_states), change(value_states), *args, **kwargs)

    return Disturbed


@torch.no_grad()
def decode(model, layer, tokens, steps):
    """Prefills tokens and decodes so many steps, one token at a time. Returns all tokens,
    and the logits of all but the last."""
    cache = Cache(layers=[layer() for _ in range(CONFIG.num_hidden_layers)])
    logits = model(input_ids=torch.tensor([tokens]), past_key_values=cache).logits[0]
    tokens = list(tokens)
    for step in range(steps):
        tokens.append(int(logits[-1].argmax()))
        if step < steps - 1:
            next_logits = model(input_ids=torch.tensor([tokens[-1:]]), past_key_values=cache).logits[0]
            logits = torch.cat([logits, next_logits])
    return tokens, logits


def golden():
    model = transformers.LlamaForCausalLM.from_pretrained(HERE, attn_implementation="eager", dtype=torch.float32).eval()
    tensors, metadata = {}, {"torch": torch.__version__, "transformers": transformers.__version__}
    prompt = list(PROMPT.encode())
    metadata["prompt"] = str(len(prompt))
    for name, layer in CACHES.items():
        tokens, logits = decode(model, layer, prompt, STEPS)
        difference = 0.0
        for seed in range(8):
            torch.manual_seed(seed)
            again, changed = decode(model, disturbed(layer), prompt, STEPS)
            assert again == tokens
            difference = max(difference, (logits - changed).abs().max().item())
        largest = logits[len(prompt) - 1 :].topk(2).values
        metadata[f"{name}.difference"] = f"{difference:.3g}"
        metadata[f"{name}.margin"] = f"{(largest[:, 0] - largest[:, 1]).min().item():.3g}"
        tensors[f"{name}.tokens"] = torch.tensor(tokens, dtype=torch.int32)
        tensors[f"{name}.logits"] = logits.contiguous()
        print(bytes(tokens).decode())
    apart = (tensors["float32.logits"] - tensors["q8_0.logits"]).abs().max().item()
    print("8 bits change the logits by up to", apart)
    print(json.dumps(metadata, indent=1))
    save_file(tensors, HERE / "golden.safetensors", metadata)


if __name__ == "__main__":
    torch.set_num_threads(1)
    if sys.argv[1:] != ["golden"]:
        train()
    golden()
