"""A topology of one machine with CPUs, as `headrace-tune calibrate` writes it."""

from __future__ import annotations

import json
from pathlib import Path


def write_machine(file: Path, cores: int, **work: float) -> Path:
    """One slot for each core; work: seconds a unit by term."""
    slot = {
        "class": "cpu",
        "compute": {"f32": 6e10, "f64": 3e10, "scalar": 1.5e9},
        "launch": {"kernel": 5e-6},
        "mem": {"space": "host", "capacity": 4e9, "bw": 8e9},
        "work": work,
    }
    node = {
        "devices": {"cpu": ["slot", cores]},
        "resources": {"dram": {"bw": 8e9, "alpha": 1e-5}},
        "routes": [{"from": "cpu[i].host", "to": "cpu[j].host", "via": ["dram"]}],
    }
    document = {
        "schema": "topology/1",
        "name": "machine",
        "units": "SI (bytes, seconds, bytes/s, flop/s)",
        "device_types": {"slot": slot},
        "node_types": {"host": node},
        "instances": [{"type": "host", "name": "machine", "count": 1}],
    }
    file.write_text(json.dumps(document))
    return file
