"""CPU sockets with memory of their own: what is divided among them, and the link between them."""

from __future__ import annotations

import json
from pathlib import Path

import headrace as hr
import pytest
from topology_tool import DATA, SCHEMA, dgx, imported, imported_with_notes, origin, routes_of, run, value

NCCL = (DATA / "nccl-h100.xml").read_text()
HWLOC = (DATA / "server.xml").read_text()
ACROSS = ["dram[i]", "socket[i].out", "socket[j].in", "dram[j]"]


def gpus_on(*counts: int, cpu: str = "") -> str:
    """NCCL's file of sockets with so many GPUs without NVLinks."""
    text = '<system version="1">'
    device = '<pci busid="0000:{:02x}:00.0" class="0x030200" device="0x26b9"><gpu dev="{}" gdr="0"/></pci>'
    first = 0
    for socket, count in enumerate(counts):
        text += f'<cpu numaid="{socket}" arch="x86_64" affinity="ffff" {cpu}>'
        text += "".join(device.format(i, i) for i in range(first, first + count)) + "</cpu>"
        first += count
    return text + "</system>"


def written(folder: Path, text: str) -> Path:
    file = folder / f"{len(text)}.xml"
    file.write_text(text)
    return file


def socket_of(document: dict) -> dict:
    return document["node_types"]["node"]["resources"]["socket"]


def test_each_socket_has_its_part() -> None:
    document, notes = imported_with_notes("nccl", DATA / "nccl-h100.xml")
    cpu = document["device_types"]["cpu"]
    assert document["node_types"]["node"]["devices"]["cpu"] == ["cpu", 2]
    assert cpu["cores"] == 16
    assert value(cpu["mem"]["bw"]) == 16 * 8e9  # as much as its cores can take
    assert [value(rate) <= value(cpu["mem"]["bw"]) for _, rate in cpu["mem"]["random_gather"]] == [True, True]
    dram = document["node_types"]["node"]["resources"]["dram"]
    assert (dram["count"], dram["per"], value(dram["bw"])) == (2, "cpu", 16 * 8e9)
    routes = routes_of(document)
    assert routes["cpu[i].host", "cpu[j].host"] == ACROSS
    assert routes["gpu[i].hbm", "cpu[j].host"][-1] == "dram[i/4]"
    assert "the link between sockets: 22 GB/s, assumed, as NCCL does for such CPUs" in notes


@pytest.mark.parametrize(
    ("cpu", "rate", "source"),
    [
        ('vendor="GenuineIntel" familyid="6" modelid="207"', 40e9, "nccl"),
        ('vendor="GenuineIntel" familyid="6" modelid="143"', 22e9, "nccl"),
        ('vendor="GenuineIntel" familyid="6" modelid="85"', 10e9, "nccl"),
        ('vendor="GenuineIntel" familyid="6" modelid="79"', 20e9, None),
        ('vendor="AuthenticAMD" familyid="175" modelid="17"', 16e9, "nccl"),
        ("", 20e9, None),
    ],
)
def test_the_rate_is_assumed_by_the_cpu(cpu: str, rate: float, source: str | None, tmp_path: Path) -> None:
    document = imported("nccl", written(tmp_path, gpus_on(1, 1, cpu=cpu)))
    figure = socket_of(document)["bw"]
    assert value(figure) == rate and origin(document, figure) == "assumed"
    assert (figure["src"] if isinstance(figure, dict) else None) == source
    assert source is None or document["sources"][source].keys() == {"ref", "date", "license"}


def test_gpus_of_two_sockets_reach_each_other_over_the_link(tmp_path: Path) -> None:
    routes = routes_of(imported("nccl", written(tmp_path, gpus_on(2, 2))))
    across = ["pcie[i].out", "dram[i/2]", "socket[i/2].out", "socket[j/2].in", "dram[j/2]", "pcie[j].in"]
    assert routes["gpu[i].hbm", "gpu[j].hbm"] == across
    assert routes["gpu[0].hbm", "gpu[1].hbm"] == ["pcie.out", "dram", "pcie[1].in"]
    assert routes["gpu[2].hbm", "gpu[3].hbm"] == ["pcie[2].out", "dram[1]", "pcie[3].in"]
    assert ("gpu[1].hbm", "gpu[2].hbm") not in routes
    assert routes["gpu[i].hbm", "cpu[j].host"] == ["pcie[i].out", "dram[i/2]"]


def test_gpus_of_one_socket_do_not_need_the_link(tmp_path: Path) -> None:
    routes = routes_of(imported("nccl", written(tmp_path, gpus_on(3, 0))))
    assert routes["gpu[i].hbm", "gpu[j].hbm"] == ["pcie[i].out", "dram[i/3]", "pcie[j].in"]
    assert routes["cpu[i].host", "cpu[j].host"] == ACROSS


def test_nvlinks_go_before_the_way_through_the_host(tmp_path: Path) -> None:
    text = gpus_on(2, 2).replace(
        '<gpu dev="0" gdr="0"/>',
        '<gpu dev="0" gdr="0"><nvlink target="0000:01:00.0" count="2" tclass="0x030200"/></gpu>',
    )
    routes = routes_of(imported("nccl", written(tmp_path, text)))
    assert routes["gpu[0].hbm", "gpu[1].hbm"] == ["nvl.out"]
    assert routes["gpu[2].hbm", "gpu[3].hbm"] == ["pcie[2].out", "dram[1]", "pcie[3].in"]


@pytest.mark.parametrize("counts", [(0, 2), (1, 2), (2, 0, 2)])
def test_gpus_that_are_not_divided_evenly(counts: tuple[int, ...], tmp_path: Path) -> None:
    document, notes = imported_with_notes("nccl", written(tmp_path, gpus_on(*counts)))
    assert document["node_types"]["node"]["devices"]["cpu"] == ["cpu", 1]
    assert "socket" not in document["node_types"]["node"]["resources"]
    as_one = f"the memories of {len(counts)} sockets count as one"
    assert f"{as_one}: GPUs are not divided evenly among them, in order" in notes


DISTANCES = """<distances2 type="NUMANode" nbobjs="2" kind="5" name="NUMALatency" indexing="os">
    <indexes length="4">0 1 </indexes><u64values length="12">10 32 32 10 </u64values></distances2>"""
BANDWIDTH = """<memattr name="Bandwidth" flags="5">
    <memattr_value target_obj_gp_index="47" target_obj_type="NUMANode" value="30000"
                   initiator_cpuset="0x000000ff"/></memattr>"""


def test_hwloc_tells_of_distances_and_bandwidth(tmp_path: Path) -> None:
    link = socket_of(imported("hwloc", DATA / "server.xml"))
    assert value(link["bw"]) == 20e9 and value(link["alpha"]) == 5e-8  # at both ends
    text = HWLOC.replace("<support", DISTANCES + "<support", 1)
    text = text.replace("</topology>", BANDWIDTH + "</topology>")
    document, notes = imported_with_notes("hwloc", written(tmp_path, text))
    link = socket_of(document)
    assert value(link["bw"]) == pytest.approx(30000 * 2**20)
    assert origin(document, link["bw"]) == "datasheet"
    assert value(link["alpha"]) == pytest.approx((3.2 - 1) * 1e-7 / 2)
    assert "the link between sockets: 31.5 GB/s, as the firmware tells" in notes


def without_gpus(folder: Path) -> Path:
    return written(folder, HWLOC.replace("[10de:", "[1234:"))


def test_ranks_of_cpus_are_divided_among_sockets(tmp_path: Path) -> None:
    file = without_gpus(tmp_path)
    document = imported("hwloc", file, "--ranks", 4)
    assert document["node_types"]["node"]["resources"]["dram"]["per"] == "cpu/2"
    routes = routes_of(document)
    assert routes["cpu[i].host", "cpu[j].host"] == [hop.replace("]", "/2]") for hop in ACROSS]
    assert routes["cpu[0].host", "cpu[1].host"] == ["dram"]
    assert routes["cpu[2].host", "cpu[3].host"] == ["dram[1]"]
    assert routes_of(imported("hwloc", file))["cpu[i].host", "cpu[j].host"] == ["dram"]
    for ranks, why in (
        (3, "3 ranks are not divided evenly"),
        (128, "128 ranks are too many for routes of pairs"),
    ):
        document, notes = imported_with_notes("hwloc", file, "--ranks", ranks)
        assert routes_of(document)["cpu[i].host", "cpu[j].host"] == ["dram"]
        assert f"the memories of 2 sockets count as one: {why}" in notes


def test_such_machines_are_priced(tmp_path: Path, tpch_small: Path) -> None:
    text = "select n_regionkey, count(*) as n from nation group by n_regionkey"
    for name, arguments in {
        "gpus": ("nccl", written(tmp_path, gpus_on(2, 2)), "--nodes", 2),
        "cpus": ("hwloc", without_gpus(tmp_path), "--ranks", 4, "--nodes", 2),
    }.items():
        file = tmp_path / f"{name}.json"
        run("import", *arguments, "--output", file)
        assert hr.cost(text, tpch_small, ranks=8, topology=file).seconds > 0
        assert "socket" in run("show", file).stdout
        run("show", file, "--svg", tmp_path / "t.svg")


def test_detect_asks_for_the_sockets_of_gpus(tmp_path: Path) -> None:
    """On the structure of a file, as hwloc allows."""
    done = run("detect", path=dgx(tmp_path, "dgx-h100"), HWLOC_XMLFILE=str(DATA / "server.xml"))
    document = json.loads(done.stdout)
    assert [error.message for error in SCHEMA.iter_errors(document)] == []
    assert document["node_types"]["node"]["devices"]["cpu"] == ["cpu", 2]
    routes = routes_of(document)
    assert routes["cpu[i].host", "cpu[j].host"] == ACROSS
    assert routes["gpu[i].hbm", "cpu[j].host"][-1] == "dram[i/4]"
    assert "the link between sockets: 20 GB/s, assumed" in done.stderr
