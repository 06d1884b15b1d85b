"""Heads that Chronos-2 rotates, by its own code: writes chronos2.json. Needs chronos-forecasting 2.3.2, torch and einops.

An encoder of random weights runs on a CPU. Recorded are, for each block, q and k of its attention over time before and after the
rotation, and that its attention over series leaves them. Floats are the hexadecimal digits of their bits.
"""

import importlib.util
import json
import pathlib
import struct
import sys
import types

import torch

HERE = pathlib.Path(__file__).parent


def hexadecimal(x):
    return "".join(struct.pack(">f", v).hex() for v in x.flatten().tolist())


def main():
    package = types.ModuleType("chronos")  # without its pipelines, which need more packages
    spec = importlib.util.find_spec("chronos")
    package.__path__ = list(spec.submodule_search_locations)
    sys.modules["chronos"] = package
    inner = types.ModuleType("chronos.chronos2")
    inner.__path__ = [package.__path__[0] + "/chronos2"]
    sys.modules["chronos.chronos2"] = inner
    from chronos.chronos2.config import Chronos2CoreConfig
    from chronos.chronos2.layers import Chronos2RotaryEmbedding, MHA
    from chronos.chronos2.model import Chronos2Encoder

    torch.manual_seed(1)
    torch.set_num_threads(1)
    config = {"d_model": 64, "d_kv": 16, "num_heads": 2, "num_layers": 3, "d_ff": 64, "rope_theta": 7000.0}
    encoder = Chronos2Encoder(Chronos2CoreConfig(**config)).eval()
    found, rotate = [], Chronos2RotaryEmbedding.apply_rotary_pos_emb

    def record(q, k, cos, sin, **kwargs):
        result = rotate(q, k, cos, sin, **kwargs)
        found[-1]["rotated"] = [hexadecimal(x.transpose(1, 2)) for x in (q, k, *result)]  # [token][head][element]
        return result

    Chronos2RotaryEmbedding.apply_rotary_pos_emb = staticmethod(record)
    for name, module in encoder.named_modules():
        if isinstance(module, MHA):
            module.register_forward_pre_hook(lambda *_, name=name: found.append({"attention": name}))
    tokens = 9
    with torch.no_grad():
        encoder(attention_mask=torch.ones(1, tokens), inputs_embeds=torch.randn(1, tokens, config["d_model"]), group_ids=torch.zeros(1, dtype=torch.long))
    document = {
        "versions": {"chronos-forecasting": "2.3.2", "torch": torch.__version__.split("+")[0]},
        "config": {"model_type": "t5", "architectures": ["Chronos2Model"], **config},
        "inv_freq": hexadecimal(encoder.block[0].layer[0].self_attention.rope_embed.inv_freq),
        "tokens": tokens,
        "attentions": found,
    }
    (HERE / "chronos2.json").write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
