"""headrace-topo: detects, imports, draws and compares; files appear whole or not at all."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from random import Random

import headrace as hr
import pytest
from jsonschema import Draft202012Validator

ROOT = Path(__file__).parents[2]
DATA = ROOT / "test" / "data" / "topology"
SCHEMA = Draft202012Validator(json.loads((ROOT / "docs" / "reference" / "topology.schema.json").read_text()))
SHIPPED = [file.stem for file in sorted((ROOT / "runtime" / "model" / "topology" / "files").glob("*.json"))]


def run(
    *arguments: object, status: int = 0, path: str | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    tool = shutil.which("headrace-topo")
    assert tool, "headrace-topo is not on PATH"
    variables = {**os.environ, **environment, **({"PATH": path} if path else {})}
    command = [tool, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=variables, timeout=120)
    assert done.returncode == status, done.stderr
    return done


def imported(*arguments: object) -> dict:
    document = json.loads(run("import", *arguments).stdout)
    assert [error.message for error in SCHEMA.iter_errors(document)] == []
    return document


def value(figure: object) -> float:
    return figure["v"] if isinstance(figure, dict) else figure  # type: ignore[return-value]


def origin(document: dict, figure: object) -> str:
    default = document.get("defaults", {}).get("kind", "assumed")
    return figure.get("kind", default) if isinstance(figure, dict) else default


@pytest.fixture(scope="module")
def detected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("detect")
    disk = folder / "disk"
    disk.mkdir()
    start = time.monotonic()
    done = run("detect", "--ranks", 2, "--disk", disk, "--output", folder / "here.json")
    assert time.monotonic() - start < 60  # about five seconds alone on a machine
    assert done.stdout == ""
    assert "random reads" in done.stderr  # progress
    assert list(disk.iterdir()) == []
    assert [file.name for file in folder.iterdir() if file != disk] == ["here.json"]
    return folder / "here.json"


def test_detect_describes_this_machine(detected: Path) -> None:
    document = json.loads(detected.read_text())
    assert [error.message for error in SCHEMA.iter_errors(document)] == []
    cpu = document["device_types"]["cpu"]
    assert cpu["mem"]["capacity"]
    assert len(cpu["mem"]["random_gather"]) >= 2
    assert {"f32", "f64", "scalar"} <= set(cpu["compute"])
    assert document["node_types"]["node"]["devices"]["cpu"] == ["cpu", 2]
    assert "measured" in detected.read_text()
    assert set(cpu["codecs"]) == {"lz4", "snappy", "zstd"}
    for codec in cpu["codecs"].values():
        assert value(codec["ratio"]) > 1.2
        assert value(codec["dec"]) > 1e7 and value(codec["enc"]) > 1e7
        assert {origin(document, figure) for figure in codec.values()} == {"measured"}
    assert value(cpu["codecs"]["zstd"]["ratio"]) > value(cpu["codecs"]["lz4"]["ratio"])
    assert run("check", detected).stdout.startswith(f"{detected}: 2 ranks on 1 nodes")


def test_a_query_is_planned_for_what_was_detected(detected: Path, tpch_small: Path) -> None:
    text = "select n_regionkey, count(*) as n from nation group by n_regionkey order by n_regionkey"
    name = json.loads(detected.read_text())["name"]
    assert f"topology {name}" in hr.explain(text, tpch_small, ranks=2, topology=detected)
    table = hr.sql(text, tpch_small, ranks=2, topology=detected)
    assert table.column("n").to_pylist() == [5, 5, 5, 5, 5]


def fake_nvidia_smi(folder: Path, matrix: str) -> str:
    """A PATH whose nvidia-smi tells of two H100."""
    tool = folder / "nvidia-smi"
    query = "NVIDIA H100 80GB HBM3, 81559, 9.0, 5, 16"
    script = ["#!/bin/sh", 'if [ "$1" = topo ]; then cat <<"EOF"', matrix, "EOF"]
    script += [f'else echo "{query}"; echo "{query}"; fi', ""]
    tool.write_text("\n".join(script))
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    return f"{folder}:{os.environ['PATH']}"


@pytest.mark.parametrize(
    ("cell", "hops"),
    [("NV18", ["nvl[i].out", "nvl[j].in"]), ("PHB", ["pcie[i].out", "dram", "pcie[j].in"])],
)
def test_detect_asks_nvidia_smi(cell: str, hops: list[str], tmp_path: Path) -> None:
    matrix = (
        f"\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \t{cell}\t0-1\nGPU1\t{cell}\t X \t0-1\n\nLegend:\n  X = Self"
    )
    path = fake_nvidia_smi(tmp_path, matrix)
    document = json.loads(run("detect", "--disk", tmp_path, path=path).stdout)
    assert document["node_types"]["node"]["devices"]["gpu"] == ["H100-SXM", 2]
    routes = {
        (route["from"], route["to"]): route["via"] for route in document["node_types"]["node"]["routes"]
    }
    assert routes["gpu[i].hbm", "gpu[j].hbm"] == hops
    assert [error.message for error in SCHEMA.iter_errors(document)] == []


def dgx(folder: Path, name: str) -> str:
    """A PATH whose nvidia-smi prints what that of a DGX does."""
    tool = folder / "nvidia-smi"
    smi = DATA.parent / "nvidia-smi" / name
    tool.write_text(f'#!/bin/sh\nif [ "$1" = topo ]; then cat {smi}-topo.txt\nelse cat {smi}-query.csv; fi\n')
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    return f"{folder}:{os.environ['PATH']}"


def fake_cuda() -> str:
    """The folder of a CUDA driver on the host's memory."""
    tool = shutil.which("headrace-topo")
    assert tool
    folder = Path(tool).resolve().parent.parent / "fake_cuda"
    assert (folder / "libcuda.so.1").exists()
    return str(folder)


@pytest.mark.parametrize(
    ("name", "model", "links", "switches"),
    [("dgx-h100", "H100-SXM", 18 * 25e9, None), ("dgx-a100", "A100-SXM", 12 * 25e9, "gpu/2")],
)
def test_detect_on_a_dgx(name: str, model: str, links: float, switches: str | None, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    done = run("detect", "--disk", tmp_path / "disk", path=dgx(tmp_path, name))
    document = json.loads(done.stdout)
    assert [error.message for error in SCHEMA.iter_errors(document)] == []
    node = document["node_types"]["node"]
    assert node["devices"]["gpu"] == [model, 8]
    resources = node["resources"]
    assert resources["nvl"]["bw"]["v"] == links
    assert origin(document, resources["nvl"]["bw"]) == "datasheet"
    assert resources["nvsw"]["sharing"] == "fatpipe"
    assert resources.get("pcisw", {}).get("per") == switches
    assert "skipped: no CUDA driver: libcuda.so.1" in done.stderr


def test_rates_of_gpus_are_measured(tmp_path: Path) -> None:
    path = dgx(tmp_path, "dgx-h100")
    document = json.loads(run("detect", path=path, LD_LIBRARY_PATH=fake_cuda()).stdout)
    assert [error.message for error in SCHEMA.iter_errors(document)] == []
    resources = document["node_types"]["node"]["resources"]
    for figure in (
        resources["nvl"]["bw"],
        resources["nvl"]["alpha"],
        resources["pcie"]["bw"],
        resources["pcie"]["alpha"],
        document["device_types"]["H100-SXM"]["mem"]["bw"],
    ):
        assert origin(document, figure) == "measured" and value(figure) > 0
    assert (
        value(document["device_types"]["H100-SXM"]["mem"]["bw"]) < 1e12
    )  # of this machine's memory, which the fake copies in


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"HEADRACE_FAKE_CUDA_FAILS": "cuInit"}, "the CUDA driver refuses cuInit: 999"),
        ({"HEADRACE_FAKE_CUDA_FAILS": "cuMemAlloc"}, "the CUDA driver refuses cuMemAlloc: 999"),
        ({"HEADRACE_FAKE_CUDA_FAILS": "copy"}, "the CUDA driver refuses a copy: 999"),
        ({"HEADRACE_FAKE_CUDA_DEVICES": "0"}, "the CUDA driver knows no GPU"),
    ],
)
def test_gpus_that_cannot_be_measured(variables: dict[str, str], message: str, tmp_path: Path) -> None:
    path = dgx(tmp_path, "dgx-h100")
    done = run("detect", path=path, LD_LIBRARY_PATH=fake_cuda(), **variables)
    assert f"skipped: {message}" in done.stderr
    document = json.loads(done.stdout)
    nvlink = document["node_types"]["node"]["resources"]["nvl"]["bw"]
    assert origin(document, nvlink) == "datasheet"


def test_a_gpu_alone_and_gpus_without_a_way_to_each_other(tmp_path: Path) -> None:
    path = dgx(tmp_path, "dgx-h100")
    for variables in ({"HEADRACE_FAKE_CUDA_DEVICES": "1"}, {"HEADRACE_FAKE_CUDA_FAILS": "peer"}):
        done = run("detect", path=path, LD_LIBRARY_PATH=fake_cuda(), **variables)
        assert "to another GPU: not directly" in done.stderr
        document = json.loads(done.stdout)
        resources = document["node_types"]["node"]["resources"]
        assert origin(document, resources["pcie"]["bw"]) == "measured"
        assert origin(document, resources["nvl"]["bw"]) == "datasheet"


def test_a_disk_that_cannot_be_written_is_skipped(tmp_path: Path) -> None:
    done = run("detect", "--disk", tmp_path / "nowhere", "--output", tmp_path / "t.json")
    assert "skipped: cannot make a file" in done.stderr
    assert "disk" not in json.loads((tmp_path / "t.json").read_text())["device_types"]


def test_import_of_nccl() -> None:
    document = imported("nccl", DATA / "nccl-h100.xml", "--nodes", 4)
    node = document["node_types"]["node"]
    assert node["devices"] == {"cpu": ["cpu", 1], "gpu": ["H100-SXM", 8]}
    assert document["device_types"]["cpu"]["cores"] == 32
    resources = node["resources"]
    assert resources["nvl"]["bw"]["v"] == 18 * 25e9
    assert resources["nvl"]["count"] == 8
    assert resources["nvsw"]["sharing"] == "fatpipe"
    assert resources["pcie"]["bw"]["v"] == 64e9
    assert resources["pcisw"]["per"] == "gpu/2" and resources["pcisw"]["count"] == 4
    assert resources["nic"]["bw"]["v"] == 50e9 and resources["nic"]["count"] == 8
    assert resources["nic"]["gdr"] is True
    alpha = resources["nic"]["alpha"]
    assert (alpha["v"] if isinstance(alpha, dict) else alpha) == pytest.approx(2.5e-6)
    assert document["fabric"]["rails"] == 8
    assert document["instances"] == [{"type": "node", "name": "nccl", "count": 4}]


def test_import_of_hwloc() -> None:
    document = imported("hwloc", DATA / "server.xml")
    assert document["name"] == "server7"
    cpu = document["device_types"]["cpu"]
    assert cpu["cores"] == 8 and cpu["numa"] == 2
    assert [cache["capacity"] for cache in cpu["mem"]["caches"]] == [32768, 1048576, 33554432]
    assert [cache.get("sharers", 1) for cache in cpu["mem"]["caches"]] == [1, 1, 4]
    node = document["node_types"]["node"]
    assert node["devices"]["gpu"] == ["L40S", 2]
    assert node["resources"]["pcisw"]["per"] == "gpu/2"
    assert set(document["device_types"]) == {"cpu", "disk", "L40S"}


def test_import_of_slurm_switches() -> None:
    document = imported("slurm", DATA / "slurm-tree.conf", "--node", "dgx-h100")
    assert document["groups"] == {
        "leaf1": {"members": [["dgx-h100", 32]], "failure_domain": "rack"},
        "leaf3": {"members": [["dgx-h100", 17]], "failure_domain": "rack"},
        "spine1": {"members": [["leaf1", 2]]},
        "spine2": {"members": [["leaf3", 1]]},
        "core": {"members": [["spine1", 1], ["spine2", 1]]},
    }
    assert document["instances"] == [{"type": "core"}]


def test_import_of_slurm_blocks(tmp_path: Path) -> None:
    file = tmp_path / "blocks.json"
    run("import", "slurm", DATA / "slurm-block.conf", "--node", "dgx-a100", "--output", file)
    assert run("check", file).stdout.startswith(f"{file}: 432 ranks on 54 nodes")


WRONG_SLURM = {
    "SwitchName=a Switches=b\nSwitchName=b Switches=a": "line 1: switches contain each other: a",
    "SwitchName=r Nodes=n\nSwitchName=a Switches=b\nSwitchName=b Switches=a": (
        "line 2: switches contain each other: a"
    ),
    "SwitchName=a Switches=b": "line 1: unknown switch: b",
    "SwitchName=a Nodes=n[1-4294967296]": (
        "line 1: more than 1048576 names are not supported: n[1-4294967296]"
    ),
    "SwitchName=a Nodes=n[1-": "line 1: expected a list as n[1-3,7], got n[1-",
    "SwitchName=a Nodes=n[3-1]": "line 1: expected a range as 1-3, got 3-1",
    "SwitchName=a Nodes=n\nSwitchName=b Nodes=n": "line 2: node stands twice: n",
    "SwitchName=a Nodes=n\nSwitchName=a Nodes=m": "line 2: name stands twice: a",
    "SwitchName=a": "line 1: needs either Nodes or Switches: a",
    "Colour=red": "line 1: unknown key: Colour",
    "": "line 0: no SwitchName or BlockName in it",
}


@pytest.mark.parametrize("text", WRONG_SLURM)
def test_wrong_slurm_files(text: str, tmp_path: Path) -> None:
    file = tmp_path / "topology.conf"
    file.write_text(text)
    done = run("import", "slurm", file, "--node", "dgx-h100", "--output", tmp_path / "out", status=1)
    assert done.stderr == f"headrace-topo: {file}: {WRONG_SLURM[text]}\n"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("format", ["nccl", "hwloc"])
@pytest.mark.parametrize(
    "text",
    [
        "",
        "<system",
        "<other/>",
        "<a>" * 100_000,
        '<!DOCTYPE a [<!ENTITY b "&c;&c;"><!ENTITY c "x">]>\n'
        '<system version="1"><cpu affinity="&b;"/></system>',
    ],
    ids=["empty", "cut", "other", "deep", "entities"],
)
def test_wrong_xml_files(format: str, text: str, tmp_path: Path) -> None:
    file = tmp_path / "file.xml"
    file.write_text(text)
    done = run("import", format, file, "--output", tmp_path / "out", status=1)
    assert done.stderr.startswith(f"headrace-topo: {file}: ")
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_gpus_of_two_models_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "mixed.xml"
    file.write_text((DATA / "nccl-h100.xml").read_text().replace('device="0x2330"', 'device="0x2335"', 1))
    done = run("import", "nccl", file, status=1)
    why = "GPUs of several models in one node are not supported: H200 and H100"
    assert done.stderr == f"headrace-topo: {file}: {why}\n"


@pytest.mark.parametrize(("format", "file"), [("nccl", "nccl-h100.xml"), ("hwloc", "server.xml")])
def test_damaged_xml_files(format: str, file: str, tmp_path: Path) -> None:
    """Pieces cut out of files: an error or a topology, never a crash."""
    whole = (DATA / file).read_text()
    random = Random(11)
    for _ in range(25):
        at = random.randrange(len(whole))
        damaged = tmp_path / "damaged.xml"
        damaged.write_text(whole[:at] + whole[at + random.randint(1, 60) :])
        tool = shutil.which("headrace-topo")
        assert tool
        done = subprocess.run([tool, "import", format, damaged], capture_output=True, text=True, timeout=60)
        assert done.returncode in (0, 1), (at, done.stderr)
        assert (done.returncode == 1) == done.stderr.startswith(f"headrace-topo: {damaged}: ")


@pytest.mark.parametrize("name", [*SHIPPED, "machine"])
def test_show_draws_every_shipped_topology(name: str, tmp_path: Path) -> None:
    text = run("show", name).stdout
    assert text.startswith(name)
    assert "Placement" in text and "Routes" in text
    assert max(len(line) for line in text.splitlines()) < 200
    assert len(text.splitlines()) < 120
    run("show", name, "--svg", tmp_path / "t.svg")
    root = ElementTree.parse(tmp_path / "t.svg").getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert (tmp_path / "t.svg").stat().st_size < 200_000
    width = float(root.attrib["width"])
    for box in root.iter("{http://www.w3.org/2000/svg}rect"):
        if "x" in box.attrib:
            assert 0 <= float(box.attrib["x"]) <= width - float(box.attrib["width"])


def test_show_of_a_hundred_thousand_gpus() -> None:
    text = run("show", "gb200-100k").stdout
    assert "100,800 ranks on 1,400 nodes" in text
    assert "└─ 14 × rack" in text


def test_diff(tmp_path: Path) -> None:
    assert run("diff", "dgx-h100", "dgx-h100").stdout == ""
    lines = run("diff", "dgx-h100", "dgx-h200", status=1).stdout.splitlines()
    assert '~ $.name: "dgx-h100" → "dgx-h200"' in lines
    assert "+ $.node_types.dgx-h200" in "\n".join(line[: len("+ $.node_types.dgx-h200")] for line in lines)
    document = json.loads((ROOT / "runtime/model/topology/files/ethernet-fast.json").read_text())
    # Said otherwise, but the same.
    assumed = {"v": document["fabric"]["tiers"][0]["bw"], "rel_err": 0.3, "kind": "assumed"}
    document["fabric"]["tiers"][0]["bw"] = assumed
    file = tmp_path / "same.json"
    file.write_text(json.dumps(document))
    assert run("diff", "ethernet-fast", file).stdout == ""
    assumed["rel_err"] = 0.1
    file.write_text(json.dumps(document))
    changed = run("diff", "ethernet-fast", file, status=1).stdout
    assert changed == "~ $.fabric.tiers[0].bw.rel_err: 0.3 → 0.1\n"
    done = run("diff", "dgx-h100", "nowhere", status=2)
    assert done.stderr == "headrace-topo: cannot open topology file: nowhere\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fly"], "unknown command: fly"),
        (["show"], "show needs one topology"),
        (["show", "dgx-h100", "--colour", "red"], "unknown option: --colour"),
        (["detect", "--ranks", "0"], "--ranks must be from 1 to 4096, got 0"),
        (["import", "yaml", "/dev/null"], "format must be nccl, hwloc or slurm, got yaml"),
        (["import", "slurm", "/dev/null"], "slurm says nothing of the nodes: needs --node TOPOLOGY"),
        (["import", "nccl", "nowhere.xml"], "cannot open: nowhere.xml"),
        (["show", "dgx-h100", "--svg"], "needs a value: --svg"),
        (["show", "dgx-h100", "--svg", "/nowhere/t.svg"], "cannot write: /nowhere/t.svg"),
    ],
)
def test_wrong_use(arguments: list[str], message: str) -> None:
    done = run(*arguments, status=1)
    assert done.stderr.startswith(f"headrace-topo: {message}")
    assert done.stdout == ""
