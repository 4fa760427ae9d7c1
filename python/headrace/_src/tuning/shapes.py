"""Shapes of a mesh: the ranks of a topology along several axes."""

from __future__ import annotations

#: Shapes that a search looks at.
SHAPES_MAX = 12


def mesh_shapes(ranks_of_nodes: list[int]) -> list[str]:
    """Ways to arrange ranks along two or three axes, the last the fastest, as "node:2,rank:8".

    ranks_of_nodes: how many ranks each node has, in order. An axis `node` has a step of one node; where nodes
    are equal, shapes that keep the inner axes within a node come first, as what crosses nodes is dear. One
    axis is not among them.
    """
    ranks = sum(ranks_of_nodes)
    nodes = len(ranks_of_nodes)
    shapes = []
    if nodes > 1 and len(set(ranks_of_nodes)) == 1:
        inside = ranks_of_nodes[0]
        if inside > 1:
            shapes.append(f"node:{nodes},rank:{inside}")
        shapes += [f"node:{nodes},group:{inside // inner},rank:{inner}" for inner in _divisors(inside)]
    inner_sizes = sorted(_divisors(ranks), key=lambda inner: (_crosses(ranks_of_nodes, inner), -inner))
    named = set(shapes)
    for inner in inner_sizes:
        if f"node:{ranks // inner},rank:{inner}" not in named:
            shapes.append(f"outer:{ranks // inner},inner:{inner}")
    return shapes[:SHAPES_MAX]


def _divisors(number: int) -> list[int]:
    """All but 1 and the number itself, the largest first."""
    found = {divisor for divisor in range(2, int(number**0.5) + 1) if number % divisor == 0}
    return sorted(found | {number // divisor for divisor in found}, reverse=True)


def _crosses(ranks_of_nodes: list[int], inner: int) -> bool:
    """Whether a group of `inner` neighbours has ranks of two nodes."""
    return any(ranks % inner for ranks in ranks_of_nodes)
