"""Writes vectors.json: results of ONNX's RotaryEmbedding (ai.onnx, opset 23).

    python generate.py > vectors.json        (versions: requirements.txt)

Every result is that of onnx.reference.ReferenceEvaluator. The cases are the
node tests of onnx/backend/test/case/node/rotaryembedding.py, held against their
published outputs and those of the function body ("_expanded"), and some of our
own for what these leave out: inputs of rank 3, num_heads on rank 4, rows longer
than a vector register, cosines and sines of real angles.

Each case comes in three types. The operator does not say how float16 and
bfloat16 are rounded: "y" is what the reference computes, which rounds every
operation to the type; "y_float32" is its result in float32, rounded once.

Tensors are little endian, in base64.
"""

import base64
import itertools
import json
import warnings

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # node tests of other operators
    from onnx.backend.test.case.node import collect_testcases

    node_tests = collect_testcases("RotaryEmbedding")

TYPES = {
    "float32": (TensorProto.FLOAT, np.float32),
    "float16": (TensorProto.FLOAT16, np.float16),
    "bfloat16": (TensorProto.BFLOAT16, ml_dtypes.bfloat16),
}


def evaluate(attributes, elem_type, inputs):
    """The operator's output for inputs X, cos_cache, sin_cache[, position_ids]."""
    names = ["X", "cos_cache", "sin_cache", "position_ids"][: len(inputs)]
    node = helper.make_node("RotaryEmbedding", names, ["Y"], **attributes)
    values = [
        helper.make_tensor_value_info(n, TensorProto.INT64 if n == "position_ids" else elem_type, x.shape)
        for n, x in zip(names, inputs)
    ]
    result = helper.make_tensor_value_info("Y", elem_type, inputs[0].shape)
    graph = helper.make_graph([node], "rotary", values, [result])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)])
    onnx.checker.check_model(model, full_check=True)
    (y,) = ReferenceEvaluator(model).run(None, dict(zip(names, inputs)))
    return y


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def published():
    """Name, attributes and inputs of the node tests."""
    for test in node_tests:
        (data,) = test.data_sets
        inputs, (want,) = data
        (y,) = ReferenceEvaluator(test.model).run(
            None, dict(zip([i.name for i in test.model.graph.input], inputs))
        )
        assert same_bits(y, want), test.name
        if test.name.endswith("_expanded"):
            continue
        (node,) = test.model.graph.node
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        assert same_bits(evaluate(attributes, TensorProto.FLOAT, inputs), want), test.name
        yield test.name, attributes, inputs


def our_own():
    random = np.random.default_rng(23)
    heads, rows = 2, 9
    for rank, interleaved, partial, ids in itertools.product((3, 4), (0, 1), (False, True), (True, False)):
        if rank == 3:
            batch, sequence, head, dim = 2, 2, 36, 20 if partial else 0
            shape = (batch, sequence, heads * head)
        else:
            batch, sequence, head, dim = 3, 7, 10, 6 if partial else 0
            shape = (batch, heads, sequence, head)
            if not (interleaved and partial):
                continue
        x = random.standard_normal(shape).astype(np.float32)
        pairs = (dim or head) // 2
        positions = np.arange(rows if ids else batch * sequence)
        angles = np.outer(positions, 10000.0 ** (-np.arange(pairs) / pairs))
        cache = (rows, pairs) if ids else (batch, sequence, pairs)
        inputs = [x] + [f(angles).astype(np.float32).reshape(cache) for f in (np.cos, np.sin)]
        if ids:
            inputs.append(random.integers(0, rows, (batch, sequence)))
            inputs[3][0, :2] = rows - 1, 0
        attributes = {"interleaved": interleaved, "rotary_embedding_dim": dim, "num_heads": heads}
        name = f"rank {rank}, interleaved {interleaved}, rotary_embedding_dim {dim}, " + ("" if ids else "no ") + "position_ids"
        yield name, attributes, inputs


def tensor(x):
    data = x.astype(x.dtype.newbyteorder("<")) if x.dtype != ml_dtypes.bfloat16 else x.view(np.uint16).astype("<u2")
    return {"shape": x.shape, "data": base64.b64encode(data.tobytes()).decode()}


cases = []
for name, attributes, inputs in itertools.chain(published(), our_own()):
    for type_name, (elem_type, dtype) in TYPES.items():
        ids = inputs[3:]
        rounded = [x.astype(dtype) for x in inputs[:3]]
        y = evaluate(attributes, elem_type, rounded + ids)
        assert y.dtype == dtype and y.shape == inputs[0].shape
        case = {"name": name, "type": type_name, **attributes}
        case |= {key: tensor(x) for key, x in zip(("x", "cos_cache", "sin_cache"), rounded)}
        if ids:
            case["position_ids"] = {"shape": ids[0].shape, "data": ids[0].ravel().tolist()}
        case["y"] = tensor(y)
        if dtype != np.float32:
            wide = evaluate(attributes, TensorProto.FLOAT, [x.astype(np.float32) for x in rounded] + ids)
            case["y_float32"] = tensor(wide.astype(dtype))
        cases.append(case)

print("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]")
