"""Golden vectors: the bytes that ONNX Runtime and OpenVINO keep keys and values in.

Writes vectors.json. For ONNX Runtime: present_key and present_value of GroupQueryAttention, of one
prompt, [kv heads][tokens][bytes of a head]. For OpenVINO: both caches of a PagedAttentionExtension
after some calls, whose blocks lie in another order than the tokens. Numbers are the formula of
testdata/rmsnorm/generate.py, and in channel 5 of keys 16 times as large; "special" are some that are
not ordinary, in the order in which they replace the first numbers of the values (of the keys too, for ONNX Runtime). Both run on a CPU with AVX2.

    python3 generate.py
"""

import importlib.metadata
import json
import pathlib

import numpy as np
import onnx
import onnxruntime
import openvino as ov
from openvino import op

HEADS, DIM = 2, 32
F32, I32, U8 = ov.Type.f32, ov.Type.i32, ov.Type.u8


def inputs(seed, tokens, dim=DIM):
    i = np.arange(tokens * HEADS * dim, dtype=np.int64) + seed
    x = ((i * 2654435761 + 97) % (1 << 24) - (1 << 23)).astype(np.float32) / np.float32(1 << 21)
    return x.reshape(tokens, HEADS, dim)


def keys(tokens, dim=DIM):
    k = inputs(1 << 20, tokens, dim)
    k[:, :, 5] *= 16
    return k


def values(tokens, dim=DIM):
    return inputs(1 << 21, tokens, dim)


def replaced(x, special):
    x.reshape(-1)[: len(special)] = np.array(special, np.uint32).view(np.float32)
    return x


def bits(x):
    return np.asarray(x, np.float32).view(np.uint32).reshape(-1).tolist()


# inf, -inf, a NaN, -0, halves for a scale of 1/16, a subnormal number, the largest
SPECIAL = [0x7F800000, 0xFF800000, 0x7FC00000, 0x80000000, 0x3DC00000, 0x3D000000, 0xBD000000, 0x00000001, 0x7F7FFFFF]


def onnx_runtime(bits_of_code, scales, dim, special):
    tokens, channels = 3, scales.size > 1
    kind, size = (onnx.TensorProto.INT8, dim) if bits_of_code == 8 else (onnx.TensorProto.UINT8, (dim + 1) // 2)
    value = onnx.helper.make_tensor_value_info
    shape = [1, HEADS, 0, size]
    kv = [value(n, onnx.TensorProto.FLOAT, [1, tokens, HEADS * dim]) for n in ("q", "k", "v")]
    past = [value(n, kind, shape) for n in ("past_k", "past_v")]
    lengths = [value("seqlens", onnx.TensorProto.INT32, [1]), value("total", onnx.TensorProto.INT32, [1])]
    scale = [value(n, onnx.TensorProto.FLOAT, scales.shape) for n in ("k_scale", "v_scale")]
    quant = "PER_CHANNEL" if channels else "PER_TENSOR"
    node = onnx.helper.make_node(
        "GroupQueryAttention", ["q", "k", "v", "past_k", "past_v", "seqlens", "total", "", "", "", "", "", "k_scale", "v_scale"],
        ["y", "present_k", "present_v"], domain="com.microsoft", num_heads=HEADS, kv_num_heads=HEADS,
        k_quant_type=quant, v_quant_type=quant, kv_cache_bit_width=bits_of_code)
    outputs = [value("y", onnx.TensorProto.FLOAT, None), value("present_k", kind, None), value("present_v", kind, None)]
    graph = onnx.helper.make_graph([node], "g", kv + past + lengths + scale, outputs)
    opsets = [onnx.helper.make_opsetid("", 21), onnx.helper.make_opsetid("com.microsoft", 1)]
    model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=10)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    k, v = replaced(keys(tokens, dim), special), replaced(values(tokens, dim), special)
    flat = lambda x: x.reshape(1, tokens, HEADS * dim)
    empty = np.zeros(shape, np.int8 if bits_of_code == 8 else np.uint8)
    _, present_k, present_v = session.run(None, {
        "q": flat(k), "k": flat(k), "v": flat(v), "past_k": empty, "past_v": empty, "k_scale": scales, "v_scale": scales,
        "seqlens": np.array([tokens - 1], np.int32), "total": np.array([tokens], np.int32)})
    return {"bits": bits_of_code, "dim": dim, "tokens": tokens, "scales": bits(scales), "special": special,
            "keys": present_k.tobytes().hex(), "values": present_v.tobytes().hex()}


def paged_attention(precision, mode, group):
    def parameter(shape, kind, name):
        p = op.Parameter(kind, ov.PartialShape(shape))
        p.set_friendly_name(name)
        p.output(0).get_tensor().set_names({name})
        return p

    def constant(kind, shape, *numbers):
        return op.Constant(kind, ov.Shape(shape), list(numbers))

    qkv = [parameter([-1, HEADS * DIM], F32, n) for n in "qkv"]
    caches = [parameter([-1] * 4, ov.Type.dynamic, n) for n in ("key_cache.0", "value_cache.0")]
    sequences = [parameter([-1], I32, n) for n in ("past_lens", "subsequence_begins", "block_indices", "block_indices_begins")]
    longest = parameter([], I32, "max_context_len")
    none = constant(I32, [0])
    rest = [constant(F32, [], 1.0), constant(I32, [], 0), constant(F32, [0]), longest, constant(I32, [], 0), none, constant(I32, [0, 0]), constant(F32, [0, 0]),
            constant(F32, [0]), constant(I32, [], 0), constant(I32, [], 0), constant(F32, [0]), constant(I32, [], 0), none, none, none, none, constant(U8, [0]), none]
    node = op._PagedAttentionExtension([p.output(0) for p in qkv + caches + sequences + rest])
    for name, number in {"num_k_heads": HEADS, "k_head_size": DIM, "num_v_heads": HEADS, "v_head_size": DIM}.items():
        node.get_rt_info()[name] = number
    model = ov.Model([node.output(0)], qkv + caches + sequences + [longest])
    return ov.Core().compile_model(model, "CPU", {
        "KEY_CACHE_PRECISION": precision, "VALUE_CACHE_PRECISION": precision, "KEY_CACHE_QUANT_MODE": mode,
        "KEY_CACHE_GROUP_SIZE": str(group if mode == "BY_TOKEN" else 0), "VALUE_CACHE_GROUP_SIZE": str(group), "INFERENCE_PRECISION_HINT": "f32"})


def open_vino(precision, mode, group, calls, special=()):
    """calls are the tokens of each call, one after another, of one sequence in blocks 2, 0, 1."""
    blocks, total = [2, 0, 1], sum(calls)
    request = paged_attention(precision, mode, group).create_infer_request()
    memory = []
    for name in ("key_cache.0", "value_cache.0"):
        port = next(p for p in request.model_inputs if p.get_any_name() == name)
        shape = [len(blocks)] + [d.get_length() for d in list(port.partial_shape)[1:]]
        tensor = ov.Tensor(port.element_type, ov.Shape(shape))
        tensor.data[...] = 0
        request.set_tensor(name, tensor)
        memory.append(tensor)
    k, v = keys(total).reshape(total, -1), replaced(values(total), special).reshape(total, -1)
    past = 0
    for n in calls:
        now = (past + n + 31) // 32
        ints = lambda *x: ov.Tensor(np.array(x, np.int32))
        for name, tensor in {
            "q": ov.Tensor(np.ascontiguousarray(k[past : past + n])), "k": ov.Tensor(np.ascontiguousarray(k[past : past + n])),
            "v": ov.Tensor(np.ascontiguousarray(v[past : past + n])), "past_lens": ints(past), "subsequence_begins": ints(0, n),
            "block_indices": ints(*blocks[:now]), "block_indices_begins": ints(0, now), "max_context_len": ov.Tensor(np.array(past + n, np.int32)),
        }.items():
            request.set_tensor(name, tensor)
        request.infer()
        past += n
    hexadecimal = lambda t: np.asarray(t.data).tobytes().hex()
    return {"precision": precision, "mode": mode, "group": group, "calls": calls, "special": list(special), "keys": hexadecimal(memory[0]), "values": hexadecimal(memory[1])}


if __name__ == "__main__":
    tensor = np.array([1 / 16], np.float32)
    channels = np.abs(inputs(7, 1)).reshape(1, HEADS, 1, DIM) / 30 + np.float32(0.01)
    wide = np.abs(inputs(7, 1, 40)).reshape(1, HEADS, 1, 40) / 30 + np.float32(0.01)
    strange = channels.copy()
    strange.reshape(-1)[:4] = np.array([0, -0.25, 1e-40, 1e-3], np.float32)
    ort = [onnx_runtime(b, *case) for b in (8, 4) for case in
           ((tensor, DIM, []), (channels, DIM, []), (wide, 40, []), (tensor, DIM, SPECIAL), (strange, DIM, SPECIAL[3:]))]
    single = [1] * 32
    infinities = SPECIAL[:1] + bits(np.ones(31))  # one head with an infinity
    constant = bits(np.full(32, 0.75))  # a head of which all numbers are equal
    openvino = [open_vino(p, *case) for p in ("u8", "u4") for case in (
        ("BY_CHANNEL", 0, [40]), ("BY_CHANNEL", 0, single), ("BY_CHANNEL", 0, [32]), ("BY_CHANNEL", 16, [5, 1, 1, 30, 1]), ("BY_TOKEN", 16, [3, 1]),
        ("BY_TOKEN", 0, [3], constant + infinities))]
    versions = {p: importlib.metadata.version(p) for p in ("numpy", "onnx", "onnxruntime", "openvino")}
    text = json.dumps({"versions": versions, "onnxruntime": ort, "openvino": openvino}, indent=1)
    pathlib.Path(__file__).with_name("vectors.json").write_text(text + "\n")
