"""A compilation takes no more time and memory for a million equal nodes than for ten thousand."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from golden_queries import statistics, substrait

pytestmark = pytest.mark.alone

_COMPILE = """
import json, resource, sys, time
from headrace import _compiler, _runtime
topology, ranks, query, statistics = json.load(sys.stdin)
session = _compiler.Session()
request = _compiler.Request()
request.ranks = ranks
request.topology = topology
request.plan_only = True
request.substrait = query
request.statistics = statistics
session.compile_sql(request)  # the first one also loads the compiler
started = time.monotonic()
answer = session.compile_sql(request)
cost = _runtime.cost(answer.plan_json, topology, ranks)
seconds = time.monotonic() - started
assert answer.ok, answer.error
print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""


def _compiled(nodes: int) -> tuple[float, float]:
    """Seconds, and MiB of the process."""
    topology = {
        "schema": "topology/1",
        "name": "many",
        "device_types": {
            "cpu": {"class": "cpu", "cores": 8, "mem": {"space": "host", "capacity": 6.4e10, "bw": 5e10}}
        },
        "node_types": {
            "server": {
                "devices": {"cpu": ["cpu", 1]},
                "resources": {"nic": {"bw": 1.2e9, "alpha": 1e-5, "duplex": "full"}},
                "routes": [{"from": "cpu[i].host", "to": "net", "via": ["nic[i].out"]}],
            }
        },
        "fabric": {"kind": "switch", "tiers": [{"bw": 1.2e9}]},
        "instances": [{"type": "server", "count": nodes, "name": "server"}],
    }
    words = json.dumps([json.dumps(topology), nodes, substrait("q03"), statistics()])
    run = subprocess.run([sys.executable, "-c", _COMPILE], input=words, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    seconds, mebibytes = json.loads(run.stdout)
    return seconds, mebibytes


def test_equal_nodes_cost_no_time_and_no_memory() -> None:
    few_seconds, few_mebibytes = min(_compiled(10_000) for _ in range(2))
    many_seconds, many_mebibytes = min(_compiled(1_000_000) for _ in range(2))
    assert many_mebibytes < few_mebibytes + 32, (few_mebibytes, many_mebibytes)
    assert many_seconds < 2 * few_seconds + 0.2, (few_seconds, many_seconds)
