"""Meshes of several axes: what is divided over some, and moved over others, gives the same answers."""

from __future__ import annotations

import re
from collections.abc import Callable

import headrace as hr
import numpy as np
import pytest
from duckdb_oracle import same
from headrace import array as xp
from headrace._src.array.jit import TensorType
from tpch_queries import QUERIES

MESHES = ("a:2,b:2", "a:2,b:3", "a:1,b:4", "a:2,b:2,c:2")


@pytest.mark.parametrize("mesh", MESHES)
@pytest.mark.parametrize("name", ["q03", "q05", "q13", "q18", "q20", "q21"])
def test_queries(mesh: str, name: str, tpch_small: str) -> None:
    text = (QUERIES / f"{name}.sql").read_text()
    expected = hr.sql(text, tpch_small, threads=2)
    for seed in (None, 1, 2):
        same(hr.sql(text, tpch_small, mesh=mesh, threads=2, layout_seed=seed), expected)


def test_rows_go_over_every_subset_of_axes(tpch_small: str) -> None:
    """Or the test above says nothing."""
    kinds = set()
    for name in ("q03", "q05", "q13", "q18", "q20"):
        for seed in range(6):
            text = (QUERIES / f"{name}.sql").read_text()
            formed = hr.lower(text, tpch_small, "form", mesh="a:2,b:2", layout_seed=seed)
            kinds |= set(re.findall(r"pipe\.stream @\w+ +(\w+) over (\[[^\]]*\])", formed))
    for axes in ('["a"]', '["b"]', '["a", "b"]'):
        assert ("hash", axes) in kinds and ("broadcast", axes) in kinds, (axes, kinds)


def heads_of(batch: int, length: int, width: int, heads: int) -> Callable:
    def split(y):
        return xp.permute_dims(xp.reshape(y, (batch, length, heads, width // heads)), (0, 2, 1, 3))

    return split


def attention(q, k, v):
    scores = q @ xp.permute_dims(k, (0, 1, 3, 2))
    parts = xp.exp(scores - xp.max(scores, axis=-1, keepdims=True))
    return parts / xp.sum(parts, axis=-1, keepdims=True) @ v


def transformer(batch: int, length: int, width: int, heads: int) -> Callable:
    split = heads_of(batch, length, width, heads)

    def block(x, wq, wk, wv, wo, w1, w2):
        mixed = attention(split(x @ wq), split(x @ wk), split(x @ wv))
        joined = xp.reshape(xp.permute_dims(mixed, (0, 2, 1, 3)), (batch, length, width))
        x = x + joined @ wo
        return x + xp.maximum(x @ w1, 0.0) @ w2

    return block


def shapes_of(batch: int, length: int, width: int) -> list[tuple[int, ...]]:
    return [(batch, length, width), *[(width, width)] * 4, (width, 4 * width), (4 * width, width)]


@pytest.mark.parametrize("mesh", [None, "r:4", "data:2,model:2", "data:2,model:4", "a:2,b:2,c:2"])
def test_a_transformer_block(mesh: str | None) -> None:
    sizes = (4, 6, 16, 4)
    random = np.random.default_rng(7)
    arguments = [
        (random.standard_normal(shape) / np.sqrt(shape[-2])).astype(np.float32)
        for shape in shapes_of(*sizes[:3])
    ]
    block = transformer(*sizes)
    expected = hr.jit(block).trace(*arguments).evaluate(*arguments)  # type: ignore[attr-defined]
    for seed in (None, 1, 2, 3, 4, 5):
        found = hr.jit(mesh=mesh, threads=2, layout_seed=seed)(block)(*arguments)  # type: ignore[operator]
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4, err_msg=f"seed {seed}")


def reshards(function: Callable, shapes: list[tuple[int, ...]], **target: object) -> list[str]:
    """What moves between the ranks in a program of tensors of these shapes."""
    types = [TensorType(shape, "f32") for shape in shapes]
    local = hr.jit(**target)(function).trace(*types).lower().text  # type: ignore[call-overload]
    return re.findall(r"dist\.(all_\w+|reduce_scatter)", local)


def test_a_transformer_block_is_split_without_a_reshard_a_projection() -> None:
    sizes = (8, 2048, 4096, 32)
    moved = reshards(transformer(*sizes), shapes_of(*sizes[:3]), mesh="node:2,gpu:8", topology="p5-2node")
    # Batches over one axis, heads and features over the other: one sum for attention, one for the network;
    # then the result comes together.
    assert moved == ["all_reduce", "all_reduce", "all_gather"]
    assert reshards(transformer(*sizes), shapes_of(*sizes[:3]), ranks=8, topology="dgx-h100") == [
        "all_gather"
    ]


def test_attention_in_four_dimensions_is_split_by_batch_and_heads() -> None:
    function = hr.jit(mesh="a:8,b:8", topology="gb200-nvl72")(attention)  # type: ignore[operator]
    shard = function.trace(*[TensorType((8, 32, 2048, 128), "f32")] * 3).lower().phases["shard"]
    products = re.findall(r"linalg\.contract .*-> (tensor<\S+>)", shard)
    assert products == ["tensor<?x?x2048x2048xf32>", "tensor<?x?x2048x128xf32>"], shard


def test_place() -> None:
    random = np.random.default_rng(3)
    x, w = random.standard_normal((8, 6)), random.standard_normal((6, 4))

    def placed(x, w):
        return hr.place(hr.place(x, ("a", None)) @ hr.place(w, (None, "b")), ("a", "b")) * 2.0

    function = hr.jit(mesh={"a": 2, "b": 2}, threads=2)(placed)  # type: ignore[operator]
    np.testing.assert_allclose(function(x, w), x @ w * 2)
    text = function.trace(x, w).lower().phases["shard"]
    assert "dist.constrain" not in text and "linalg.matmul ins(%" in text
    assert re.search(r"linalg\.matmul .*tensor<\?x6xf64>, tensor<6x\?xf64>", text), text


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        (("a",), "an axis or None for each of 2 dimensions"),
        (("a", "a"), "an axis of the mesh for one dimension only"),
        (("c", None), "the mesh has no axis c; it has a, b"),
    ],
)
def test_place_refuses(axes: tuple[str | None, ...], message: str) -> None:
    function = hr.jit(mesh="a:2,b:2")(lambda x: hr.place(x, axes) + 1.0)  # type: ignore[operator]
    with pytest.raises((ValueError, hr.HeadraceError), match=message):
        function(np.zeros((4, 4)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mesh": "a:2,b:2", "ranks": 3}, "the mesh a:2,b:2 has 4 ranks, got ranks=3"),
        ({"mesh": "a:2,b"}, "mesh names axes with their sizes, such as node:2,gpu:4, got a:2,b"),
        ({"mesh": "a:2,b:0"}, "mesh names axes with their sizes"),
        ({"mesh": "a:2,a:2"}, "mesh axis names must be unique, got twice"),
    ],
)
def test_meshes_that_are_refused(options: dict[str, object], message: str, tpch_small: str) -> None:
    with pytest.raises(hr.HeadraceError, match=message):
        hr.sql("select count(*) from region", tpch_small, **options)  # type: ignore[arg-type]


def test_the_mesh_of_a_topologys_nodes() -> None:
    def product(x, w):
        return x @ w

    types = [TensorType((64, 64), "f32")] * 2

    def mesh(**target: object) -> str:
        text = hr.jit(mesh="nodes", **target)(product).trace(*types).lower().phases["shard"]  # type: ignore[call-overload]
        return re.search(r"#topo\.mesh<@mesh, (\[[^\]]*\])>", text)[1]  # type: ignore[index]

    assert mesh(ranks=16, topology="p5-2node") == '[("node", 2), ("rank", 8)]'
    assert mesh(ranks=8, topology="p5-2node") == '[("ranks", 8)]'
    assert mesh(ranks=4) == '[("ranks", 4)]'
    with pytest.raises(hr.HeadraceError, match="mesh=nodes needs as many ranks on each node, got 8, 4"):
        mesh(ranks=12, topology="p5-2node")


def test_the_axes_of_many_ranks(tpch_small: str) -> None:
    def mesh(text: str) -> str:
        return re.search(r"#topo\.mesh<@mesh, (\[[^\]]*\])>", text)[1]  # type: ignore[index]

    def of_query(ranks: int, topology: str) -> str:
        text = "select l_orderkey, count(*) from lineitem group by l_orderkey"
        return mesh(hr.lower(text, tpch_small, "shard", ranks=ranks, topology=topology))

    assert of_query(216, "gb200-100k") == '[("ranks", 216)]'
    assert of_query(288, "gb200-100k") == '[("node", 4), ("rank", 72)]'
    # Where the last node has fewer, parts of nodes that are equal: 13 nodes of 72, and one of 64.
    assert of_query(1000, "gb200-100k") == '[("part", 125), ("rank", 8)]'
    assert of_query(20_000, "gb200-100k") == '[("group", 50), ("part", 50), ("rank", 8)]'
    assert of_query(289, "gb200-100k") == '[("ranks", 289)]'
    assert of_query(100_800, "gb200-100k") == '[("node", 1400), ("rank", 72)]'
    types = [TensorType((64, 64), "f32")] * 2
    product = hr.jit(ranks=288, topology="gb200-100k")(lambda x, w: x @ w)  # type: ignore[operator]
    assert mesh(product.trace(*types).lower().phases["shard"]) == '[("ranks", 288)]'


def test_levels_are_taken_where_nodes_are_far_apart(tpch_small: str) -> None:
    """An all-reduce and a broadcast go axis by axis, and give what they give over all ranks at once."""

    def product(x, w):
        return x @ w

    random = np.random.default_rng(5)
    x, w = random.standard_normal((64, 4096)), random.standard_normal((4096, 128))
    function = hr.jit(mesh="nodes", ranks=16, topology="p5-2node", threads=2)(product)  # type: ignore[operator]
    placed = hr.jit(mesh="node:2,rank:8", topology="p5-2node", threads=2)(  # type: ignore[operator]
        lambda x, w: hr.place(x, (None, ("node", "rank"))) @ hr.place(w, (("node", "rank"), None))
    )
    moved = re.findall(r"dist\.(all_\w+|reduce_scatter)", placed.trace(x, w).lower().text)
    assert moved == ["reduce_scatter", "all_reduce", "all_gather"]
    for one in (function, placed):
        np.testing.assert_allclose(one(x, w), x @ w, rtol=1e-9, atol=1e-9)

    text = (
        "select n_name, count(*) as n from lineitem, supplier, nation "
        "where l_suppkey = s_suppkey and s_nationkey = n_nationkey group by n_name"
    )
    expected = hr.sql(text, tpch_small, threads=2)
    found = 0
    for seed in range(8):
        target = {"mesh": "node:2,rank:8", "topology": "p5-2node", "layout_seed": seed}
        formed = hr.lower(text, tpch_small, "form", **target)  # type: ignore[arg-type]
        axes = re.findall(r"pipe\.stream @\w+ +broadcast over (\[[^\]]*\])", formed)
        found += '["node"]' in axes and '["rank"]' in axes
        same(hr.sql(text, tpch_small, threads=2, **target), expected)  # type: ignore[arg-type]
    assert found > 0


@pytest.mark.parametrize("mesh", ["node:2,rank:8", "a:2,b:2,c:4"])
def test_rows_go_by_hash_in_levels(mesh: str, tpch_small: str) -> None:
    axes = re.findall(r"(\w+):", mesh)
    steps = [f'["{axis}"]' for axis in reversed(axes)]  # the innermost first
    toward = re.compile(r"hash over (\[[^\]]*\]) toward " + re.escape(str(axes).replace("'", '"')))
    taken = 0
    for name in ("q05", "q18", "q20", "q21"):
        text = (QUERIES / f"{name}.sql").read_text()
        expected = hr.sql(text, tpch_small, threads=2)
        for seed in range(1, 9):
            target = {"mesh": mesh, "topology": "p5-2node", "layout_seed": seed}
            found = toward.findall(hr.lower(text, tpch_small, "form", **target))  # type: ignore[arg-type]
            assert found == steps * (len(found) // len(steps))
            if found:
                taken += 1
                same(hr.sql(text, tpch_small, threads=2, **target), expected)  # type: ignore[arg-type]
    assert taken > 0


def test_groups_of_a_node_are_combined_before_they_leave_it(tpch_small: str) -> None:
    text = (
        "select o_orderdate, l_orderkey, n, q, c from orders join ("
        "select l_orderkey, l_shipmode, count(*) n, avg(l_quantity) q, min(l_comment) c from lineitem "
        "group by l_orderkey, l_shipmode) on l_orderkey = o_orderkey"
    )
    combined = re.compile(r"aggregate stage final .*\n.*dist\.exchange +hash .* over \[.node.\] toward ")
    taken = 0
    for seed in range(1, 150):
        target = {"mesh": "node:2,rank:8", "topology": "p5-2node", "layout_seed": seed}
        if combined.search(hr.lower(text, tpch_small, "shard", **target)):  # type: ignore[arg-type]
            taken += 1
            same(hr.sql(text, tpch_small, threads=2, **target), hr.sql(text, tpch_small))  # type: ignore[arg-type]
    assert taken > 0


def test_first_rows_come_to_the_first_rank_in_levels(tpch_small: str) -> None:
    text = (
        "select l_orderkey, l_comment from lineitem "
        "order by l_extendedprice desc, l_comment limit 20 offset 7"
    )
    expected = hr.sql(text, tpch_small, threads=2)
    taken = 0
    for seed in range(1, 20):
        target = {"mesh": "a:2,b:2,c:4", "topology": "p5-2node", "layout_seed": seed}
        shard = hr.lower(text, tpch_small, "shard", **target)  # type: ignore[arg-type]
        if len(re.findall(r'exchange +gather .* over \["[abc]"\]', shard)) == 3:
            taken += 1
            shown = hr.explain(text, tpch_small, **target)  # type: ignore[arg-type]
            assert "first along c" in shown and "first along b" in shown and "rank 0" in shown
        assert hr.sql(text, tpch_small, threads=2, **target).equals(expected)  # type: ignore[arg-type]
    assert taken > 0
