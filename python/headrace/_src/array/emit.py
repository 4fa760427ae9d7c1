"""A traced graph as textual MLIR: one func.func on ranked tensors, with linalg, tensor, arith and math."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

from headrace._src.array import shapes
from headrace._src.array.graph import Constant, Node, Operand, Place, Rows, Shape, in_order, same_shape

# function -> (op on floats, op on integers); None: not defined there
_ELEMENTWISE = {
    "add": ("arith.addf", "arith.addi"),
    "subtract": ("arith.subf", "arith.subi"),
    "multiply": ("arith.mulf", "arith.muli"),
    "divide": ("arith.divf", None),
    "maximum": ("arith.maximumf", "arith.maxsi"),
    "minimum": ("arith.minimumf", "arith.minsi"),
    "negative": ("arith.negf", None),  # integers: 0 - x
    "abs": ("math.absf", "math.absi"),
    "exp": ("math.exp", None),
    "sqrt": ("math.sqrt", None),
    "tanh": ("math.tanh", None),
}
_CONVERT = {
    ("f32", "f64"): "arith.extf",
    ("f64", "f32"): "arith.truncf",
    ("i64", "f32"): "arith.sitofp",
    ("i64", "f64"): "arith.sitofp",
    ("f32", "i64"): "arith.fptosi",
    ("f64", "i64"): "arith.fptosi",
}
_IDENTITY = {  # of a reduction: (floats, integers)
    "sum": (0.0, 0),
    "maximum": (-math.inf, -(2**63)),
    "minimum": (math.inf, 2**63 - 1),
}


def emit(
    name: str, parameters: Sequence[Node], results: tuple[Node, ...], place: Place, *, keeps: bool = False
) -> str:
    """The module with the function @name; every op carries the line of the user's program it comes from.

    keeps: the results stay on the ranks.
    """
    return _Writer(parameters).write(name, results, place, keeps)


def scalar_text(value: float | int, dtype: str) -> str:
    """A constant as arith.constant writes it."""
    if dtype == "i64":
        return str(value)
    if math.isfinite(value):
        if dtype == "f32":
            try:
                (value,) = struct.unpack("<f", struct.pack("<f", value))
            except OverflowError:
                value = math.copysign(math.inf, value)
        text = repr(value)
        mantissa, exponent, power = text.partition("e")
        if math.isfinite(value):
            return (mantissa if "." in mantissa else mantissa + ".0") + exponent + power
    code = ("<f", "<I", 8) if dtype == "f32" else ("<d", "<Q", 16)
    (bits,) = struct.unpack(code[1], struct.pack(code[0], value))
    return f"0x{bits:0{code[2]}X}"


def _tensor(shape: Shape, dtype: str) -> str:
    return "tensor<" + "".join(f"{extent}x" for extent in shape) + dtype + ">"


def _type(node: Node) -> str:
    return _tensor(node.shape, node.dtype)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _symbol(name: str) -> str:
    return name if name.isascii() and name.isidentifier() else _quoted(name)


def _location(place: Place) -> str:
    return f"loc({_quoted(place.file)}:{place.line}:0)"


def _layout(axes: Sequence[Sequence[str]]) -> str:
    """axes: of each dimension those that divide it."""
    dims = ", ".join(f"[{', '.join(map(_quoted, each))}]" for each in axes)
    return f"#dist.layout<@mesh, dims = [{dims}]>"


def _resident(parameter: Node) -> str:
    """The attribute of one that lies on the ranks."""
    layout = parameter.attributes["layout"]
    return f" {{dist.resident = {_layout(layout.axes)}}}" if layout else ""


def _map(loops: int, results: Sequence[int]) -> str:
    names = [f"d{d}" for d in range(loops)]
    return f"affine_map<({', '.join(names)}) -> ({', '.join(f'd{d}' for d in results)})>"


class _Writer:
    def __init__(self, parameters: Sequence[Node]) -> None:
        self._parameters = parameters
        self._lines: list[str] = []
        self._values = {node.number: f"%arg{index}" for index, node in enumerate(parameters)}
        self._next = 0

    def write(self, name: str, results: tuple[Node, ...], place: Place, keeps: bool) -> str:
        arguments = [
            f"{self._values[node.number]}: {_type(node)}{_resident(node)} "
            f"loc({_quoted(node.attributes['name'])})"
            for node in self._parameters
        ]
        attributes = " attributes {frame.result_resident = []}" if keeps else ""
        for node in in_order(results):
            if node.operation != "parameter":
                self._values[node.number] = getattr(self, "_" + node.operation)(node)
        types = ", ".join(map(_type, results))
        values = ", ".join(self._values[node.number] for node in results)
        where = _location(place)
        body = "\n".join(f"    {line}" for line in self._lines)
        return (
            "module {\n"
            f"  func.func @{_symbol(name)}({', '.join(arguments)}) -> ({types}){attributes} {{\n"
            f"{body}\n    return {values} : {types} {where}\n"
            f"  }} {where}\n"
            "}\n"
        )

    def _emit(self, text: str, place: Place, body: Sequence[str] = (), tail: str = "") -> str:
        """Writes `%n = text`, with a region's lines between it and the tail, if any."""
        value = f"%{self._next}"
        self._next += 1
        where = _location(place)
        if body:
            self._lines.append(f"{value} = {text} {{")
            self._lines.append(body[0])  # the block's header
            self._lines += [f"  {line} {where}" for line in body[1:]]
            self._lines.append(f"}}{tail} {where}")
        else:
            self._lines.append(f"{value} = {text} {where}")
        return value

    def _empty(self, node: Node) -> str:
        sizes = [self._size(extent, node.place) for extent in node.shape if isinstance(extent, Rows)]
        return self._emit(f"tensor.empty({', '.join(sizes)}) : {_type(node)}", node.place)

    def _size(self, rows: Rows, place: Place) -> str:
        """The extent of the parameter that has these rows."""
        for node in self._parameters:
            for dimension, extent in enumerate(node.shape):
                if extent is rows:
                    index = self._emit(f"arith.constant {dimension} : index", place)
                    value = self._values[node.number]
                    return self._emit(f"tensor.dim {value}, {index} : {_type(node)}", place)
        raise AssertionError("rows without a parameter")  # no test: rows come from parameters

    def _filled(self, node: Node, value: float | int) -> str:
        """A tensor like `node` that holds the value everywhere: where a reduction starts."""
        constant = self._emit(f"arith.constant {scalar_text(value, node.dtype)} : {node.dtype}", node.place)
        empty = self._empty(node)
        return self._emit(
            f"linalg.fill ins({constant} : {node.dtype}) outs({empty} : {_type(node)}) -> {_type(node)}",
            node.place,
        )

    def _generic(
        self,
        node: Node,
        inputs: Sequence[Node],
        maps: Sequence[str],
        iterators: Sequence[str],
        init: str,
        body: Sequence[str],
    ) -> str:
        kinds = ", ".join(f'"{kind}"' for kind in iterators)
        ins = ""
        if inputs:
            names = ", ".join(self._values[value.number] for value in inputs)
            ins = f"ins({names} : {', '.join(map(_type, inputs))}) "
        arguments = [f"%in{index}: {value.dtype}" for index, value in enumerate(inputs)]
        header = f"^bb0({', '.join([*arguments, f'%out: {node.dtype}'])}):"
        return self._emit(
            f"linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{kinds}]}} "
            f"{ins}outs({init} : {_type(node)})",
            node.place,
            [header, *body],
            f" -> {_type(node)}",
        )

    def _elementwise(self, node: Node) -> str:
        rank = len(node.shape)
        operands = [value for value in node.inputs if isinstance(value, Operand)]
        inputs = [operand.node for operand in operands]
        maps = [_map(rank, operand.dimensions) for operand in operands] + [_map(rank, range(rank))]
        dtype = inputs[0].dtype
        body: list[str] = []
        names: list[str] = []
        reads = 0
        for value in node.inputs:
            if isinstance(value, Constant):
                names.append(f"%c{len(names)}")
                body.append(f"{names[-1]} = arith.constant {scalar_text(value.value, dtype)} : {dtype}")
            else:
                names.append(f"%in{reads}")
                reads += 1
        function = node.attributes["function"]
        if function == "copy":
            result = names[0]
        elif function == "convert":
            result = "%r"
            body.append(f"%r = {_CONVERT[dtype, node.dtype]} {names[0]} : {dtype} to {node.dtype}")
        elif function == "negative" and dtype == "i64":
            result = "%r"
            body += ["%zero = arith.constant 0 : i64", f"%r = arith.subi %zero, {names[0]} : i64"]
        else:
            result = "%r"
            op = _ELEMENTWISE[function][dtype == "i64"]
            body.append(f"%r = {op} {', '.join(names)} : {dtype}")
        body.append(f"linalg.yield {result} : {node.dtype}")
        return self._generic(node, inputs, maps, ["parallel"] * rank, self._empty(node), body)

    def _transpose(self, node: Node) -> str:
        (source,) = node.inputs
        axes = node.attributes["axes"]
        rank = len(axes)
        maps = [_map(rank, [axes.index(d) for d in range(rank)]), _map(rank, range(rank))]
        body = [f"linalg.yield %in0 : {node.dtype}"]
        return self._generic(node, [source], maps, ["parallel"] * rank, self._empty(node), body)

    def _reduce(self, node: Node) -> str:
        (source,) = node.inputs
        axes, combine = node.attributes["axes"], node.attributes["combine"]
        rank = len(source.shape)
        kept = [d for d in range(rank) if d not in axes]
        maps = [_map(rank, range(rank)), _map(rank, kept)]
        iterators = ["reduction" if d in axes else "parallel" for d in range(rank)]
        integer = node.dtype == "i64"
        op = _ELEMENTWISE["add" if combine == "sum" else combine][integer]
        body = [f"%r = {op} %in0, %out : {node.dtype}", f"linalg.yield %r : {node.dtype}"]
        init = self._filled(node, _IDENTITY[combine][integer])
        return self._generic(node, [source], maps, iterators, init, body)

    def _matmul(self, node: Node) -> str:
        a, b = node.inputs
        init = self._filled(node, 0 if node.dtype == "i64" else 0.0)
        name = {(2, 2): "matmul", (3, 3): "batch_matmul"}.get((len(a.shape), len(b.shape)), "contract")
        maps = ""
        if name == "contract":
            # Loops: the result's dimensions, then the inner one.
            rank = len(node.shape)
            batch = range(len(b.shape) - 2)
            left = _map(rank + 1, [*range(rank - 1), rank])
            right = _map(rank + 1, [*batch, rank, rank - 1])
            maps = f"indexing_maps = [{left}, {right}, {_map(rank + 1, range(rank))}] "
        return self._emit(
            f"linalg.{name} {maps}ins({self._values[a.number]}, {self._values[b.number]} : "
            f"{_type(a)}, {_type(b)}) outs({init} : {_type(node)}) -> {_type(node)}",
            node.place,
        )

    def _place(self, node: Node) -> str:
        (source,) = node.inputs
        return self._emit(
            f"dist.constrain {self._values[source.number]} : {_type(node)} "
            f"to {_layout(node.attributes['axes'])}",
            node.place,
        )

    def _slice(self, node: Node) -> str:
        (source,) = node.inputs
        value, box = self._values[source.number], node.attributes["box"]
        sizes = []
        for dimension, extent in enumerate(box.sizes):
            if isinstance(extent, Rows):
                index = self._emit(f"arith.constant {dimension} : index", node.place)
                size = self._emit(f"tensor.dim {value}, {index} : {_type(source)}", node.place)
                sizes.append(size)
            else:
                sizes.append(str(extent))
        return self._emit(
            f"tensor.extract_slice {value}{list(box.starts)} [{', '.join(sizes)}] {list(box.steps)} : "
            f"{_type(source)} to {_type(node)}",
            node.place,
        )

    def _concat(self, node: Node) -> str:
        inputs = node.input_nodes()
        values = ", ".join(self._values[value.number] for value in inputs)
        types = ", ".join(map(_type, inputs))
        return self._emit(
            f"tensor.concat dim({node.attributes['axis']}) {values} : ({types}) -> {_type(node)}", node.place
        )

    def _gather(self, node: Node) -> str:
        source, places = node.input_nodes()
        return self._emit(
            f"tensor.gather {self._values[source.number]}[{self._values[places.number]}] gather_dims([0]) : "
            f"({_type(source)}, {_type(places)}) -> {_type(node)}",
            node.place,
        )

    def _reshape(self, node: Node) -> str:
        (source,) = node.inputs
        value, shape = self._values[source.number], source.shape
        groups = shapes.common_groups(shape, node.shape) if shape and node.shape else []
        if not node.shape or any(len(left) > 1 for left, _ in groups):
            middle = tuple(math.prod(shape[d] for d in left) for left, _ in groups)
            indices = str([left for left, _ in groups])
            value = self._emit(
                f"tensor.collapse_shape {value} {indices} : "
                f"{_tensor(shape, node.dtype)} into {_tensor(middle, node.dtype)}",
                node.place,
            )
            shape = middle
        if not same_shape(shape, node.shape):
            indices = str([right for _, right in groups])
            sizes = ", ".join(
                self._size(extent, node.place) if isinstance(extent, Rows) else str(extent)
                for extent in node.shape
            )
            value = self._emit(
                f"tensor.expand_shape {value} {indices} output_shape [{sizes}] : "
                f"{_tensor(shape, node.dtype)} into {_type(node)}",
                node.place,
            )
        return value
