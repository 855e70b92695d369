"""Writes the trained reader as `reader.onnx`, in 8 bits, and `judge.onnx`: `python export.py WORK FOLDER`."""

import os
import sys
import tempfile

import numpy as np
from train import FIRST, HEADS, LAST, PARTS, SIZE


def export(work, folder):
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from onnxruntime.quantization import QuantType, quantize_dynamic

    weights = dict(np.load(os.path.join(work, "reader.npz")))
    info = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    class Graph:
        def __init__(self):
            self.nodes, self.constants = [], []

        def constant(self, name, values):
            self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
            return name

        def node(self, operator, inputs, output, domain="", **settings):
            outputs = output if isinstance(output, list) else [output]
            self.nodes.append(helper.make_node(operator, inputs, outputs, name=outputs[0], domain=domain, **settings))
            return output

        def linear(self, values, name):
            product = self.node("MatMul", [values, self.constant(name + ".w", weights[name + ".weight"].T)], name + ".product")
            return self.node("Add", [product, self.constant(name + ".b", weights[name + ".bias"])], name)

        def normal(self, values, name):
            scale = self.constant(name + ".w", weights[name + ".weight"])
            bias = self.constant(name + ".b", weights[name + ".bias"])
            return self.node("LayerNormalization", [values, scale, bias], name, axis=-1, epsilon=1e-12)

        def save(self, inputs, outputs, path):
            made = helper.make_graph(self.nodes, "reader", inputs, outputs, self.constants)
            domains = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
            onnx.save(helper.make_model(made, opset_imports=domains, ir_version=8), path)

    graph, values = Graph(), "states"
    for at in range(LAST - FIRST):
        name = f"layers.{at}"
        three = [f"{name}.{each}" for each in "qkv"]
        graph.node("Split", [graph.linear(values, name + ".qkv")], three, axis=-1, num_outputs=3)
        heads = graph.node("MultiHeadAttention", three, name + ".heads", domain="com.microsoft", num_heads=HEADS)
        values = graph.node("Add", [values, graph.linear(heads, name + ".ao")], name + ".seen")
        values = graph.normal(values, name + ".aln")
        bent = graph.node("Gelu", [graph.linear(values, name + ".fi")], name + ".gelu", domain="com.microsoft")
        values = graph.normal(graph.node("Add", [values, graph.linear(bent, name + ".fo")], name + ".sum"), name + ".oln")
    graph.constant("tokens", np.array([1], np.int64))
    graph.node("ReduceSum", [values, "tokens"], "sum", keepdims=0)
    graph.node("LpNormalization", ["sum"], "vector", axis=-1, p=2)
    graph.node("LpNormalization", [graph.linear(values, "proj")], "parts", axis=-1, p=2)
    graph.linear(values, "weigh")
    with tempfile.TemporaryDirectory() as made:
        exact = os.path.join(made, "exact.onnx")
        outputs = [info("vector", [1, SIZE]), info("parts", [1, "tokens", PARTS]), info("weigh", [1, "tokens", 1])]
        graph.save([info("states", [1, "tokens", SIZE])], outputs, exact)
        quantize_dynamic(
            exact,
            os.path.join(folder, "reader.onnx"),
            op_types_to_quantize=["MatMul"],
            per_channel=True,
            reduce_range=True,
            weight_type=QuantType.QInt8,
            extra_options={"DefaultTensorType": TensorProto.FLOAT, "MatMulConstBOnly": True},
        )
    graph, number = Graph(), lambda name, value: graph.constant(name, np.array(value, np.float32))
    graph.node("Sub", ["texts", "question"], "difference"), graph.node("Abs", ["difference"], "apart")
    graph.node("Mul", ["texts", "question"], "together")
    graph.node("Concat", ["together", "apart"], "both", axis=-1)
    graph.node("Mul", ["both", number("wide", 19)], "features")
    bent = graph.node("Gelu", [graph.linear("features", "dense")], "bent", domain="com.microsoft")
    graph.node("ReduceSum", ["together", graph.constant("last", np.array([-1], np.int64))], "cosine", keepdims=1)
    graph.node("Sub", ["cosine", graph.constant("bias", weights["bias"])], "above")
    graph.node("Mul", ["above", graph.constant("scale", np.exp(weights["scale"]))], "scaled")
    # each token of the question with what it attends to in each text
    graph.node("Transpose", ["parts"], "turned", perm=[0, 2, 1]), graph.node("MatMul", ["words", "turned"], "close")
    graph.node("Mul", ["close", graph.constant("sharp", np.exp(weights["sharp"]))], "sharper")
    graph.node("Mul", ["sharper", number("five", 5)], "likeness"), graph.node("Add", ["likeness", "missing"], "left")
    graph.node("Softmax", ["left"], "share", axis=-1), graph.node("MatMul", ["share", "parts"], "found")
    graph.node("Shape", ["found"], "shape"), graph.node("Expand", ["words", "shape"], "each")
    graph.node("Mul", ["each", "found"], "product"), graph.node("Mul", ["product", number("eight", 8)], "agreed")
    graph.node("Sub", ["each", "found"], "distance"), graph.node("Abs", ["distance"], "differs")
    graph.node("Concat", ["each", "found", "agreed", "differs"], "pair", axis=-1)
    graph.node("Mul", ["pair", number("four", 4)], "pairs")
    compared = graph.node("Gelu", [graph.linear("pairs", "compare")], "compared", domain="com.microsoft")
    graph.node("Softmax", ["weights"], "shares", axis=-1), graph.node("MatMul", ["shares", compared], "seen")
    graph.node("Squeeze", [graph.linear("seen", "attended"), graph.constant("row", np.array([1], np.int64))], "by_parts")
    graph.node("Add", ["scaled", graph.linear(bent, "out")], "by_vectors"), graph.node("Add", ["by_vectors", "by_parts"], "odds")
    inputs = {"question": [1, SIZE], "words": [1, "words", PARTS], "weights": [1, 1, "words"]}
    inputs |= {"texts": ["texts", SIZE], "parts": ["texts", "tokens", PARTS], "missing": ["texts", 1, "tokens"]}
    inputs = [info(name, shape) for name, shape in inputs.items()]
    graph.save(inputs, [info("odds", ["texts", 1])], os.path.join(folder, "judge.onnx"))


if __name__ == "__main__":
    export(*sys.argv[1:])
