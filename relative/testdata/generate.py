"""Writes <family>.json: biases and scores of relative encodings of transformers and
MLX.

    python generate.py FAMILY > FAMILY.json        (versions: requirements.txt)

Lists of float32 are little endian, in base64. Inputs that are not listed are
those of inputs(), which the tests make again.
"""

import base64
import json
import sys

import torch
import transformers


def encode(x):
    return base64.b64encode(x.detach().to(torch.float32).contiguous().numpy().astype("<f4").tobytes()).decode()


def inputs(start, *shape):
    """Numbers from -4 to 4 that float32 has exactly."""
    n = torch.Size(shape).numel()
    i = torch.arange(start, start + n, dtype=torch.int64)
    return (((i * 2654435761 + 97) % (1 << 24) - (1 << 23)).double() / (1 << 21)).float().reshape(shape)


def alibi():
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor as bloom
    from transformers.models.falcon.modeling_falcon import build_alibi_tensor as falcon
    from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor as mpt

    cases = []
    for heads, keys in [(8, 40), (12, 40), (16, 40), (71, 10)]:
        mask = torch.ones(1, keys, dtype=torch.int64)
        cases.append({"model": "bloom", "heads": heads, "keys": keys, "max_bias": 8, "bias": encode(bloom(mask, heads, torch.float32))})
    for heads, keys in [(8, 40), (12, 400)]:
        mask = torch.ones(1, keys, dtype=torch.int64)
        cases.append({"model": "falcon", "heads": heads, "keys": keys, "max_bias": 8, "bias": encode(falcon(mask, heads, torch.float32))})
    for heads, bias in [(8, 8), (12, 8), (32, 16), (40, 8)]:
        cases.append({"model": "mpt", "heads": heads, "keys": 40, "max_bias": bias, "bias": encode(mpt(heads, 40, bias))})
    return cases


def t5():
    from transformers import MPNetConfig, T5Config
    from transformers.models.mpnet.modeling_mpnet import MPNetEncoder
    from transformers.models.t5.modeling_t5 import T5Attention
    from transformers.models.wavlm.modeling_wavlm import WavLMAttention

    cases = []
    for model, buckets, most, bidirectional in [
        ("t5", 32, 128, True),
        ("t5", 32, 128, False),
        ("t5", 64, 256, True),
        ("t5", 20, 100, False),
        ("t5", 7, 50, False),
        ("t5", 4, 2, True),
        ("mpnet", 32, 128, True),
        ("wavlm", 320, 800, True),
    ]:
        d = torch.arange(-2 * most, 2 * most + 1)
        if model == "t5":
            result = T5Attention._relative_position_bucket(d, bidirectional, buckets, most)
        elif model == "mpnet":
            result = MPNetEncoder.relative_position_bucket(d, buckets, most)
        else:
            attention = WavLMAttention(16, 2, num_buckets=buckets, max_distance=most)
            result = attention._relative_positions_bucket(d)
        cases.append({"model": model, "buckets": buckets, "max_distance": most, "bidirectional": bidirectional, "first": -2 * most, "bucket": encode(result)})
    heads, queries, keys = 3, 5, 150
    for decoder in [False, True]:
        config = T5Config(num_heads=heads, d_model=12, d_kv=4, is_decoder=decoder)
        attention = T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
        attention.relative_attention_bias.weight.copy_(inputs(0, 32, heads))
        result = attention.compute_bias(queries, keys, past_seen_tokens=70)
        cases.append({"model": "t5", "buckets": 32, "max_distance": 128, "bidirectional": not decoder, "first_query": 70, "queries": queries, "bias": encode(result)})
    config = MPNetConfig(num_attention_heads=heads, hidden_size=12)
    encoder = MPNetEncoder(config)
    encoder.relative_attention_bias.weight.copy_(inputs(0, 32, heads))
    result = encoder.compute_position_bias(torch.zeros(1, 40, 12))
    cases.append({"model": "mpnet", "buckets": 32, "max_distance": 128, "bidirectional": True, "first_query": 0, "queries": 40, "bias": encode(result)})
    return cases


def deberta():
    from transformers import DebertaV2Config
    from transformers.models.deberta_v2 import modeling_deberta_v2 as deberta_v2

    cases = []
    for buckets, most in [(256, 512), (128, 256), (32, 128), (16, 40), (4, 8), (0, 512)]:
        d = torch.arange(-most - 40, most + 41)
        result = deberta_v2.make_log_bucket_position(d, buckets, most) if buckets else d
        span = buckets or most
        result = torch.clamp(result.to(torch.long) + span, 0, 2 * span - 1)
        cases.append({"buckets": buckets, "max_position": most, "first": -most - 40, "position": encode(result)})
    heads, dim, tokens, span = 2, 8, 30, 8
    for types in [["c2p", "p2c"], ["c2p"], ["p2c"]]:
        config = DebertaV2Config(hidden_size=heads * dim, num_attention_heads=heads, relative_attention=True, position_buckets=span, max_relative_positions=20, pos_att_type=types, share_att_key=True, hidden_dropout_prob=0.0)
        attention = deberta_v2.DisentangledSelfAttention(config).eval()
        query, key = inputs(0, heads, tokens, dim), inputs(1000, heads, tokens, dim)
        embeddings = inputs(2000, 2 * span, heads * dim)
        factor = 1 + len(types)
        bias = attention.disentangled_attention_bias(query, key, None, embeddings, factor)
        position_key = attention.transpose_for_scores(attention.key_proj(embeddings.unsqueeze(0)), heads)
        position_query = attention.transpose_for_scores(attention.query_proj(embeddings.unsqueeze(0)), heads)
        case = {"buckets": span, "max_position": 20, "types": types, "tokens": tokens, "scale": encode(deberta_v2.scaled_size_sqrt(query, factor).reshape(1)), "bias": encode(bias)}
        if "c2p" in types:
            case["c2p"] = encode(torch.bmm(query, position_key.transpose(-1, -2)))
            case["position_key"] = encode(position_key)
        if "p2c" in types:
            case["p2c"] = encode(torch.bmm(key, position_query.transpose(-1, -2)))
            case["position_query"] = encode(position_query)
        cases.append(case)
    return cases


def xlnet():
    from transformers import XLNetConfig
    from transformers.models.xlnet.modeling_xlnet import XLNetModel, XLNetRelativeAttention

    cases = []
    heads, queries, memory = 2, 9, 14
    keys = queries + memory
    for kind in ["bi", "uni"]:
        config = XLNetConfig(n_layer=0, d_model=8, n_head=heads, attn_type=kind)
        rows = XLNetModel(config).relative_positional_encoding(queries, keys).shape[0]
        products = inputs(0, 1, heads, queries, rows)
        shifted = XLNetRelativeAttention.rel_shift_bnij(products, klen=keys)
        cases.append({"kind": kind, "heads": heads, "queries": queries, "keys": keys, "columns": rows, "shifted": encode(shifted)})
        for clamp_len, bi_data in [(-1, False), (6, False), (-1, True), (6, True)]:
            config = XLNetConfig(n_layer=0, d_model=8, n_head=heads, attn_type=kind, clamp_len=clamp_len, bi_data=bi_data)
            encodings = XLNetModel(config).relative_positional_encoding(queries, keys, bsz=2)
            cases.append({"kind": kind, "queries": queries, "keys": keys, "clamp_len": clamp_len, "bi_data": bi_data, "dim": 8, "encodings": encode(encodings.transpose(0, 1))})
    return cases


def swin():
    from transformers.models.swin.modeling_swin import SwinRelativePositionBias

    cases = []
    for height, width, heads in [(7, 7, 2), (3, 5, 3), (1, 4, 1), (4, 4, 4)]:
        module = SwinRelativePositionBias(heads, (height, width))
        module.relative_position_bias_table.copy_(inputs(0, *module.relative_position_bias_table.shape))
        cases.append({"height": height, "width": width, "heads": heads, "bias": encode(module())})
    return cases


def captured_softmax(call):
    """What call gives to softmax."""
    softmax, taken = torch.nn.functional.softmax, []

    def capture(x, **options):
        taken.append(x)
        return softmax(x, **options)

    torch.nn.functional.softmax = capture
    try:
        result = call()
    finally:
        torch.nn.functional.softmax = softmax
    return taken[0], result


def shaw():
    """Wav2Vec2-BERT has the scores; the paper's equations 3 and 4 have the values too."""
    from transformers import Wav2Vec2BertConfig
    from transformers.models.wav2vec2_bert import modeling_wav2vec2_bert as wav2vec2_bert

    cases = []
    heads, tokens, most = 2, 21, 6
    for dim in [16, 64]:
        config = Wav2Vec2BertConfig(hidden_size=heads * dim, num_attention_heads=heads, left_max_position_embeddings=most, right_max_position_embeddings=most)
        attention = wav2vec2_bert.Wav2Vec2BertSelfAttention(config)
        query, key = inputs(0, 1, heads, tokens, dim), inputs(5000, 1, heads, tokens, dim)
        attention.distance_embedding.weight.copy_(inputs(10000, 2 * most + 1, dim))
        bias = wav2vec2_bert._apply_relative_key_position_encoding(attention, query, key)[1]
        cases.append({"model": "wav2vec2-bert", "heads": heads, "tokens": tokens, "dim": dim, "max_distance": most, "bias": encode(bias)})

        value = inputs(15000, 1, heads, tokens, dim)
        i = torch.arange(tokens)
        column = torch.clamp(i[None, :] - i[:, None], -most, most) + most
        a_key, a_value = inputs(10000, 2 * most + 1, dim)[column], inputs(20000, 2 * most + 1, dim)[column]
        scores = torch.einsum("bhid,bhijd->bhij", query, key[:, :, None] + a_key) / dim**0.5
        weights = torch.softmax(scores, -1)
        output = torch.einsum("bhij,bhijd->bhid", weights, value[:, :, None] + a_value)
        cases.append({"model": "paper", "heads": heads, "tokens": tokens, "dim": dim, "max_distance": most, "scores": encode(scores), "weights": encode(weights), "output": encode(output)})
    return cases


def transformerxl():
    from transformers import Wav2Vec2ConformerConfig, XLNetConfig
    from transformers.models.wav2vec2_conformer import modeling_wav2vec2_conformer as conformer
    from transformers.models.xlnet.modeling_xlnet import XLNetRelativeAttention

    cases = []
    heads, queries, memory = 2, 9, 14
    keys = queries + memory
    for dim in [16, 64]:
        attention = XLNetRelativeAttention(XLNetConfig(n_layer=0, d_model=heads * dim, n_head=heads)).eval()
        attention.r_w_bias.copy_(inputs(40000, heads, dim))
        attention.r_r_bias.copy_(inputs(41000, heads, dim))
        query, key = inputs(0, queries, 1, heads, dim), inputs(5000, keys, 1, heads, dim)
        r = inputs(10000, keys + queries, 1, heads, dim)
        scores, _ = captured_softmax(lambda: attention.rel_attn_core(query, key, key, r))
        cases.append({"model": "xlnet", "heads": heads, "queries": queries, "keys": keys, "dim": dim, "first": keys, "columns": keys + queries, "scores": encode(scores)})

        config = Wav2Vec2ConformerConfig(hidden_size=heads * dim, num_attention_heads=heads, position_embeddings_type="relative")
        attention = conformer.Wav2Vec2ConformerSelfAttention(config)
        attention.pos_bias_u.copy_(inputs(40000, heads, dim))
        attention.pos_bias_v.copy_(inputs(41000, heads, dim))
        attention.linear_pos = torch.nn.Identity()
        columns = 2 * queries - 1
        query, key = inputs(0, queries, heads, dim).transpose(0, 1)[None], inputs(5000, queries, heads, dim).transpose(0, 1)[None]
        biased, bias = conformer._apply_relative_position_encoding(attention, query, key, inputs(10000, 1, columns, heads * dim))
        scores = biased @ key.transpose(2, 3) * attention.scaling + bias
        cases.append({"model": "wav2vec2-conformer", "heads": heads, "queries": queries, "keys": queries, "dim": dim, "first": queries - 1, "columns": columns, "scores": encode(scores)})
    return cases


def inkling():
    from transformers.models.inkling.modeling_inkling import InklingRelativeLogits

    cases = []
    for heads, queries, keys, dim, extent, first in [(2, 9, 9, 4, 5, 0), (3, 4, 20, 16, 7, 16), (1, 1, 30, 8, 30, 29), (2, 12, 6, 4, 40, 0)]:
        logits = InklingRelativeLogits(dim, extent)
        logits.proj.copy_(inputs(5000, dim, extent))
        bias = logits(inputs(0, 1, queries, heads, dim), torch.arange(queries) + first, torch.arange(keys))
        cases.append({"heads": heads, "queries": queries, "keys": keys, "dim": dim, "extent": extent, "first_query": first, "bias": encode(bias)})
    return cases


def swinv2():
    from transformers import Swinv2Config
    from transformers.models.swinv2.modeling_swinv2 import Swinv2SelfAttention

    cases = []
    for window, pretrained in [((7, 7), (0, 0)), ((12, 12), (8, 8)), ((3, 5), (0, 0)), ((2, 6), (12, 24)), ((64, 2), (2, 64))]:
        attention = Swinv2SelfAttention(Swinv2Config(), 4, 1, window, pretrained)
        coordinates, index = attention.create_coords_table_and_index()
        case = {"window": window, "pretrained": pretrained, "coordinates": encode(coordinates)}
        if window[0] * window[1] < 50:
            case["index"] = encode(index)
        cases.append(case)
    return cases


def mlx():
    import mlx.core
    import numpy
    from mlx.nn import ALiBi

    versions["mlx"] = mlx.core.__version__
    cases = []
    for heads, queries, keys in [(8, 5, 5), (12, 3, 20), (20, 1, 7)]:
        scores = inputs(0, heads, queries, keys)
        offset = keys - queries
        result = ALiBi()(mlx.core.array(scores.numpy())[None], offset=offset)
        cases.append({"heads": heads, "queries": queries, "keys": keys, "scores": encode(torch.from_numpy(numpy.array(result)))})
    return cases


families = {f.__name__: f for f in [alibi, t5, deberta, xlnet, swin, swinv2, mlx, shaw, transformerxl, inkling]}
versions = {"torch": torch.__version__.split("+")[0], "transformers": transformers.__version__}
torch.manual_seed(0)
with torch.no_grad():
    cases = families[sys.argv[1]]()
json.dump({"versions": versions, "cases": cases}, sys.stdout, indent=1)
print()
