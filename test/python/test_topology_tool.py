"""headrace-topo: user error: detects, imports, draws and compares; files appear whole or not at all."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import stat
import subprocess
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from random import Random

import headrace as hr
import pytest
from topology_tool import (
    DATA,
    ROOT,
    SCHEMA,
    dgx,
    imported,
    imported_with_notes,
    origin,
    routes_of,
    run,
    value,
)

SHIPPED = [file.stem for file in sorted((ROOT / "model" / "topology" / "files").glob("*.json"))]


def error(document: dict, figure: object) -> float:
    default = document.get("defaults", {}).get("rel_err", 0.15)
    return figure.get("rel_err", default) if isinstance(figure, dict) else default


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


def memory_of_machine() -> float:
    """As a run without a topology has it."""
    text = run("show", "machine").stdout
    figure, prefix = re.search(r"([0-9.]+) ([kMGT])B of hosts", text).groups()  # type: ignore[union-attr]
    return float(figure) * {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}[prefix]


def test_detect_describes_this_machine(detected: Path) -> None:
    document = json.loads(detected.read_text())
    assert [error.message for error in SCHEMA.iter_errors(document)] == []
    cpu = document["device_types"]["cpu"]
    assert cpu["mem"]["capacity"]
    assert len(cpu["mem"]["random_gather"]) >= 2
    assert {"f32", "f64", "scalar"} <= set(cpu["compute"])
    assert document["node_types"]["node"]["devices"]["cpu"] == ["cpu", 2]
    assert "measured" in detected.read_text()
    rates = [cpu["mem"]["bw"], cpu["mem"]["alpha"], *(rate for _, rate in cpu["mem"]["random_gather"])]
    assert all(0.05 <= error(document, rate) <= 1 for rate in rates)
    assert value(cpu["mem"]["capacity"]) == pytest.approx(memory_of_machine() / 2, rel=0.01)
    assert set(cpu["codecs"]) == {"lz4", "snappy", "zstd"}
    for codec in cpu["codecs"].values():
        assert value(codec["ratio"]) > 1.2
        assert value(codec["dec"]) > 1e7 and value(codec["enc"]) > 1e7
        assert {origin(document, figure) for figure in codec.values()} == {"measured"}
    assert value(cpu["codecs"]["zstd"]["ratio"]) > value(cpu["codecs"]["lz4"]["ratio"])
    assert run("check", detected).stdout.startswith(f"{detected}: 2 ranks on 1 node, hash")


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
    [("NV18", ["nvl.out"]), ("PHB", None)],
)
def test_detect_asks_nvidia_smi(cell: str, hops: list[str] | None, tmp_path: Path) -> None:
    matrix = (
        f"\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \t{cell}\t0-1\nGPU1\t{cell}\t X \t0-1\n\nLegend:\n  X = Self"
    )
    path = fake_nvidia_smi(tmp_path, matrix)
    document = json.loads(run("detect", "--disk", tmp_path, path=path).stdout)
    assert document["node_types"]["node"]["devices"]["gpu"] == ["H100-SXM", 2]
    routes = routes_of(document)
    assert routes["gpu[i].hbm", "gpu[j].hbm"] == ["pcie[i].out", "dram", "pcie[j].in"]
    assert routes.get(("gpu[0].hbm", "gpu[1].hbm")) == hops
    assert [error.message for error in SCHEMA.iter_errors(document)] == []


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


def test_a_driver_that_lacks_functions(tmp_path: Path) -> None:
    """Any library by its name."""
    mapped = Path("/proc/self/maps").read_text().splitlines()
    shutil.copy(next(line.split()[-1] for line in mapped if ".so" in line), tmp_path / "libcuda.so.1")
    done = run("detect", path=dgx(tmp_path, "dgx-h100"), LD_LIBRARY_PATH=str(tmp_path))
    assert "skipped: the CUDA driver lacks cu" in done.stderr


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
    done = run("detect", "--disk", "/proc", "--output", tmp_path / "t.json")
    assert "skipped: cannot make a file" in done.stderr
    assert "disk" not in json.loads((tmp_path / "t.json").read_text())["device_types"]


def test_import_of_nccl() -> None:
    document = imported("nccl", DATA / "nccl-h100.xml", "--nodes", 4)
    node = document["node_types"]["node"]
    assert node["devices"] == {"cpu": ["cpu", 2], "gpu": ["H100-SXM", 8]}
    assert document["device_types"]["cpu"]["cores"] == 16
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


def nccl_file(folder: Path, gpus: list[str], device: str = "0x1db1", net: str = "", cpu: str = "") -> Path:
    """A machine whose GPUs, at 0000:0N:00.0, have these elements inside."""
    pci = '<pci busid="0000:0{0}:00.0" class="0x030200" device="{1}" link_speed="16.0 GT/s" link_width="16">'
    pieces = [
        pci.format(i, device) + f'<gpu dev="{i}" gdr="0">{inner}</gpu></pci>' for i, inner in enumerate(gpus)
    ]
    file = folder / "nccl.xml"
    head = f'<system version="1"><cpu numaid="0" arch="x86_64" {cpu}>'
    file.write_text("\n".join([head, *pieces, net, "</cpu></system>"]))
    return file


AFFINITY = 'affinity="ffffffff"'


def links_to(*targets: tuple[int, int]) -> str:
    return "".join(
        f'<nvlink target="0000:0{gpu}:00.0" count="{count}" tclass="0x030200"/>' for gpu, count in targets
    )


def test_links_between_some_gpus_are_routes_of_their_pairs(tmp_path: Path) -> None:
    gpus = [links_to((1, 2), (2, 1)), links_to((0, 2)), links_to((0, 1)), ""]
    document = imported("nccl", nccl_file(tmp_path, gpus, cpu=AFFINITY))
    routes = routes_of(document)
    assert routes["gpu[0].hbm", "gpu[1].hbm"] == ["nvl2.out"]
    assert routes["gpu[0].hbm", "gpu[2].hbm"] == ["nvl1.out"]
    assert routes["gpu[i].hbm", "gpu[j].hbm"] == ["pcie[i].out", "dram", "pcie[j].in"]
    assert len([ends for ends in routes if ends[0].startswith("gpu[") and ends[1].startswith("gpu[")]) == 3
    resources = document["node_types"]["node"]["resources"]
    assert resources["nvl2"]["bw"]["v"] == 50e9 and resources["nvl1"]["bw"]["v"] == 25e9
    assert "domains" not in document["node_types"]["node"]


def test_a_link_to_the_cpu_carries_what_goes_to_the_host(tmp_path: Path) -> None:
    file = nccl_file(tmp_path, ['<c2c bw="447000" count="1"/>'] * 2, device="0x2941", cpu=AFFINITY)
    document = imported("nccl", file)
    assert document["node_types"]["node"]["resources"]["c2c"]["bw"]["v"] == 447e9
    assert routes_of(document)["gpu[i].hbm", "cpu[j].host"] == ["c2c[i].out", "dram"]


@pytest.mark.parametrize(
    ("device", "capacity", "known"),
    [("0x20b0", 40e9, True), ("0x20b2", 80e9, True), ("0x1db5", 32e9, True), ("0xabcd", 16e9, False)],
)
def test_the_variant_of_a_gpu_is_that_of_its_device(
    device: str, capacity: float, known: bool, tmp_path: Path
) -> None:
    document, notes = imported_with_notes("nccl", nccl_file(tmp_path, [""], device, cpu=AFFINITY))
    (gpu,) = (kind for kind in document["device_types"].values() if kind["class"] == "gpu")
    assert value(gpu["mem"]["capacity"]) == capacity
    assert (f"PCI device {device}: not a GPU that is known" in notes) == (not known)


def test_what_a_file_does_not_say_is_told(tmp_path: Path) -> None:
    net = '<pci busid="0000:40:00.0" class="0x020700"><nic><net name="a" speed="0"/></nic></pci>'
    switch = '<nvlink target="0000:f0:00.0" count="9" tclass="0x068000"/>'
    gpus = [switch, "", '<nvlink target="0000:99:00.0" count="2" tclass="0x068001"/>']
    document, notes = imported_with_notes("nccl", nccl_file(tmp_path, gpus, net=net))
    assert notes == [
        "NVLinks of some GPUs to a switch that others are not on: left out",
        "NVLinks to 0000:99:00.0, which is not a GPU of the file: left out",
        "no cores in it: assumed 32",
        "the host's memory, rates of memory and cores: assumed",
        "no figures of a V100 are shipped: what it computes is assumed, that of a modest one",
        "rates of 1 of 1 network cards: 1.25 GB/s assumed",
    ]
    cpu = document["device_types"]["cpu"]
    assert cpu["cores"] == 32
    assert value(cpu["mem"]["bw"]) == 200e9
    assert (
        "no network card in it: one of 1.25 GB/s is assumed"
        in (imported_with_notes("nccl", nccl_file(tmp_path, [""]), "--nodes", 2)[1])
    )


@pytest.mark.parametrize(
    ("wrong", "name"), [('link_width="-4"', "link_width"), ('link_speed="-1"', "link_speed")]
)
def test_negative_figures_are_refused(wrong: str, name: str, tmp_path: Path) -> None:
    file = nccl_file(tmp_path, ["", ""])
    lines = file.read_text().splitlines()
    lines[2] = ElementTree.tostring(ElementTree.fromstring(lines[2]), encoding="unicode").replace(
        {"link_width": 'link_width="16"', "link_speed": 'link_speed="16.0 GT/s"'}[name], wrong
    )
    file.write_text("\n".join(lines))
    done = run("import", "nccl", file, status=2)
    got = wrong.split('"')[1]
    assert (
        done.stderr == f"headrace-topo: user error: {file}: line 3: {name} must not be negative, got {got}\n"
    )


def test_import_of_hwloc() -> None:
    document = imported("hwloc", DATA / "server.xml")
    assert document["name"] == "server7"
    cpu = document["device_types"]["cpu"]
    assert cpu["cores"] == 4 and "numa" not in cpu
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


def test_blocks_that_belong_together_are_templates() -> None:
    document = imported("slurm", DATA / "slurm-block.conf", "--node", "dgx-a100")
    assert document["groups"]["rack1-rack2"] == {"members": [["rack1", 2]]}
    assert document["instances"] == [{"type": "rack1-rack2"}, {"type": "rack1", "name": "rack3"}]


def test_host_lists_may_have_several_brackets(tmp_path: Path) -> None:
    file = tmp_path / "topology.conf"
    file.write_text("SwitchName=s Nodes=gpu-a[1-4]n[01-02],b[1,3]\n")
    document = imported("slurm", file, "--node", "dgx-a100")
    assert document["groups"]["s"]["members"] == [["dgx-a100", 10]]


def test_what_scontrol_prints_is_read(tmp_path: Path) -> None:
    file = tmp_path / "printed"
    file.write_text(
        "SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=n[1-2]\n"
        "SwitchName=leaf2 Level=0 LinkSpeed=1 Nodes=n[3-4]\n"
        "SwitchName=top Level=1 LinkSpeed=1 Nodes=n[1-4] Switches=leaf[1-2]\n"
    )
    document = imported("slurm", file, "--node", "dgx-a100")
    assert document["groups"]["top"]["members"] == [["leaf1", 2]]


def test_the_node_of_a_cluster(tmp_path: Path) -> None:
    conf = DATA / "slurm-tree.conf"
    done = run("import", "slurm", conf, "--node", "mixed-generation", status=2)
    assert done.stderr == (
        "headrace-topo: user error: --node needs a topology of one type of node, mixed-generation has: "
        "a100 h100\n"
    )
    done = run("import", "slurm", conf, "--node", "machine", status=2)
    assert done.stderr.startswith(
        "headrace-topo: user error: --node needs a node with a route to net, machine has none; "
        "headrace-topo detect finds the network cards of a machine"
    )
    # One machine behind no switch, as detect writes it.
    document = imported("nccl", DATA / "nccl-h100.xml")
    node = tmp_path / "node.json"
    node.write_text(json.dumps(document))
    made, notes = imported_with_notes("slurm", conf, "--node", node)
    assert notes == ["no fabric in the topology of the node: switches at the rate of nic are assumed"]
    assert made["fabric"]["rails"] == 8


def test_show_tells_placements_of_one_template_apart(tmp_path: Path) -> None:
    file = tmp_path / "blocks.json"
    run("import", "slurm", DATA / "slurm-block.conf", "--node", "dgx-a100", "--output", file)
    assert "1 × rack1 (rack3)" in run("show", file).stdout


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
    "SwitchName=a Nodes=n\nSwitchName=b Nodes=n": "line 2: node appears twice: n",
    "SwitchName=a Nodes=n\nSwitchName=a Nodes=m": "line 2: name appears twice: a",
    "SwitchName=a": "line 1: needs either Nodes or Switches: a",
    "Colour=red": "line 1: unknown key: Colour",
    "Nodes=n": "line 1: needs a SwitchName",
    "SwitchName=a Nodes=n,,m": "line 1: empty name in a list",
    "SwitchName=dgx-h100 Nodes=n": "a switch has the name of a node type: dgx-h100",
    "BlockName=a Nodes=n[1-4]\nBlockSizes=4,6": (
        "line 2: expected sizes that are multiples of each other, as 18,36, got 4,6"
    ),
    "- topology: default\n  cluster_default: true": (
        "line 1: this is topology.yaml, which is not read: give topology.conf, or what scontrol show "
        "topology prints"
    ),
    "": "line 0: no SwitchName or BlockName in it",
}


@pytest.mark.parametrize("text", WRONG_SLURM)
def test_wrong_slurm_files(text: str, tmp_path: Path) -> None:
    file = tmp_path / "topology.conf"
    file.write_text(text)
    done = run("import", "slurm", file, "--node", "dgx-h100", "--output", tmp_path / "out", status=2)
    assert done.stderr == f"headrace-topo: user error: {file}: {WRONG_SLURM[text]}\n"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("format", ["nccl", "hwloc"])
@pytest.mark.parametrize(
    ("text", "nccl", "hwloc"),
    [
        ("", "", ""),
        ("<system", "", ""),
        (
            "<other/>",
            "not a topology file of NCCL: expected <system>, got <other>",
            "not an hwloc XML file: expected <topology>, got <other>",
        ),
        (
            '<system version="1"/>',
            "no GPU in it; dump one with NCCL_TOPO_DUMP_FILE=FILE in a run of NCCL",
            "",
        ),
        ("<topology/>", "", "not an hwloc XML file: hwloc refuses what is in it"),
        ("<a>" * 100_000, "too many elements within each other", "too many elements within each other"),
        (
            '<!DOCTYPE a [<!ENTITY b "&c;&c;"><!ENTITY c "x">]>\n'
            '<system version="1"><cpu affinity="&b;"/></system>',
            "entities are not supported",
            "entities are not supported",
        ),
    ],
    ids=["empty", "cut", "other", "no_gpu", "no_machine", "deep", "entities"],
)
def test_wrong_xml_files(format: str, text: str, nccl: str, hwloc: str, tmp_path: Path) -> None:
    file = tmp_path / "file.xml"
    file.write_text(text)
    done = run("import", format, file, "--output", tmp_path / "out", status=2)
    assert done.stderr.startswith(f"headrace-topo: user error: {file}: ")
    assert (nccl if format == "nccl" else hwloc) in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_gpus_of_two_models_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "mixed.xml"
    file.write_text((DATA / "nccl-h100.xml").read_text().replace('device="0x2330"', 'device="0x2335"', 1))
    done = run("import", "nccl", file, status=2)
    why = "GPUs of several models in one node are not supported: H200 and H100"
    assert done.stderr == f"headrace-topo: unsupported error: {file}: {why}\n"


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
        assert done.returncode in (0, 1, 2), (at, done.stderr)
        assert (done.returncode == 0) == done.stdout.startswith("{")
        assert all(
            re.match(rf"headrace-topo: ((user|unsupported) error: )?{re.escape(str(damaged))}: ", line)
            for line in done.stderr.splitlines()
        )


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


@pytest.mark.parametrize(
    ("name", "missing"),
    [("mixed-generation", ["in a node", "between nodes"]), ("dgx-a100", ["between nodes"]), ("p5-2node", [])],
)
def test_show_tells_where_no_collectives_were_measured(name: str, missing: list[str]) -> None:
    lines = run("show", name).stdout.splitlines()
    told = [line.split("none measured")[0].strip() for line in lines if "none measured" in line]
    assert told == missing


def test_show_of_a_hundred_thousand_gpus() -> None:
    text = run("show", "gb200-100k").stdout
    assert "100,800 ranks on 1,400 nodes" in text
    assert "└─ 14 × rack" in text


def test_diff(tmp_path: Path) -> None:
    assert run("diff", "dgx-h100", "dgx-h100").stdout == ""
    lines = run("diff", "dgx-h100", "dgx-h200", status=1).stdout.splitlines()
    assert '~ $.name: "dgx-h100" → "dgx-h200"' in lines
    assert "~ $.device_types: H100-SXM → H200-SXM" in lines
    memory = "~ $.device_types.H200-SXM.mem"
    assert f"{memory}.capacity: 8e+10 → 1.41e+11 (×1.76, more than the error)" in lines
    assert f"{memory}.bw: 2.68e+12 → 3.84e+12 (×1.43, more than the error)" in lines
    assert "~ $.device_types.H200-SXM.codecs.lz4.enc: 1.48e+11 → 2.12e+11 (×1.43, within the error)" in lines
    assert "~ $.node_types: dgx-h100 → dgx-h200" in lines
    assert not [line for line in lines if line.startswith(("+", "-"))]
    document = json.loads((ROOT / "model/topology/files/ethernet-fast.json").read_text())
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
    assert done.stderr.startswith(
        "headrace-topo: user error: no such topology: expected a file, or one of dgx-a100, "
    )
    assert done.stderr.endswith(", machine; got nowhere\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "usage: headrace-topo COMMAND"),
        (["fly"], "headrace-topo: user error: unknown command: fly"),
        (["show"], "headrace-topo: user error: needs a topology"),
        (["show", "dgx-h100", "--colour", "red"], "headrace-topo: user error: unknown option: --colour"),
        (["check", "dgx-h100", "--svg", "x"], "headrace-topo: user error: unknown option: --svg"),
        (
            ["detect", "--ranks", "0"],
            "headrace-topo: user error: --ranks needs a number from 1 to 4096, got 0",
        ),
        (
            ["detect", "--disk", "/nonexistent"],
            "headrace-topo: user error: --disk needs a folder, got /nonexistent",
        ),
        (
            ["import", "yaml", "/dev/null"],
            "headrace-topo: user error: format must be nccl, hwloc or slurm, and come first",
        ),
        (
            ["import", "slurm", "/dev/null"],
            "headrace-topo: user error: slurm says nothing of the nodes: needs --node",
        ),
        (["import"], "headrace-topo: user error: needs a format and a file\nsee headrace-topo import --help"),
        (["import", "nccl", "nowhere.xml"], "headrace-topo: user error: cannot open: nowhere.xml"),
        (["import", "nccl", "x", "--ranks", "3"], "headrace-topo: user error: unknown option: --ranks"),
        (["import", "slurm", "x", "--ranks", "3"], "headrace-topo: user error: unknown option: --ranks"),
        (
            ["import", "hwloc", "x", "--node", "y"],
            "headrace-topo: user error: unknown option, did you mean --nodes?",
        ),
        (["show", "dgx-h100", "--svg"], "headrace-topo: user error: needs a value: --svg"),
    ],
)
def test_wrong_use(arguments: list[str], message: str) -> None:
    done = run(*arguments, status=2)
    assert done.stderr.startswith(message)
    assert len(done.stderr.splitlines()) <= 2 or not arguments
    assert done.stdout == ""


@pytest.mark.parametrize("arguments", [["show", "dgx-h100", "--svg"], ["detect", "--output"]])
def test_output_that_cannot_be_written_is_found_before_any_work(arguments: list[str]) -> None:
    done = run(*arguments, "/nonexistent/t.json", status=1)
    said = "cannot write the output: /nonexistent/t.json: No such file or directory"
    assert done.stderr == f"headrace-topo: io error: {said}\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGPIPE, signal.SIGKILL])
def test_nothing_is_left_of_a_measurement_that_is_ended(number: int, tmp_path: Path) -> None:
    command = [shutil.which("headrace-topo"), "detect", "--output", str(tmp_path / "t.json")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr and process.stderr.readline() == "headrace-topo: structure\n"
        process.send_signal(number)
        process.communicate()
    assert process.returncode == -number
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["detect", "import", "show", "list", "diff", "check"])
def test_every_command_has_help(command: str) -> None:
    assert run(command, "--help").stdout.startswith(f"usage: headrace-topo {command}")


def test_list_names_what_can_be_shown() -> None:
    names = [line.split(":")[0] for line in run("list").stdout.splitlines()]
    assert sorted(names) == sorted([*SHIPPED, "machine"])


def test_check_tells_of_every_file(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.json").write_text("{}")
    done = run("check", tmp_path / "a.json", "dgx-h100", tmp_path / "b.json", status=2)
    assert [line.split(": ")[2] for line in done.stderr.splitlines()] == [
        str(tmp_path / f"{n}.json") for n in "ab"
    ]
    assert done.stdout.startswith("dgx-h100: 32 ranks on 4 nodes")
