"""The published JSON Schema: shipped files follow it, and it and the reader know the same keys."""

from __future__ import annotations

import copy
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs" / "reference" / "topology.schema.json").read_text())
SHIPPED = sorted((ROOT / "model" / "topology" / "files").glob("*.json"))
EVERY_KEY = json.loads((ROOT / "test" / "data" / "topology" / "every-key.json").read_text())
VALIDATOR = Draft202012Validator(SCHEMA)


def read(document: Any, folder: Path) -> str:
    """The reader's complaint, or an empty text."""
    tool = shutil.which("headrace-topo")
    assert tool, "headrace-topo is not on PATH"
    file = folder / "topology.json"
    file.write_text(document if isinstance(document, str) else json.dumps(document))
    done = subprocess.run([tool, "check", str(file)], capture_output=True, text=True, timeout=20)
    assert done.returncode in (0, 2), done.stderr
    assert (done.returncode == 0) == (done.stderr == "")
    return done.stderr.removeprefix(f"headrace-topo: user error: {file}: ").rstrip()


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_shipped_files_follow_it(file: Path) -> None:
    assert [error.message for error in VALIDATOR.iter_errors(json.loads(file.read_text()))] == []


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_figures_of_codecs_say_where_they_come_from(file: Path) -> None:
    document = json.loads(file.read_text())
    for device in document["device_types"].values():
        for codec in device.get("codecs", {}).values():
            for figure in (codec["enc"], codec["dec"]):
                source = document["sources"][figure["src"]]
                assert figure["kind"] == "assumed" or {"ref", "date", "license"} <= source.keys(), source


def test_the_examples_of_the_page_are_read(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "reference" / "topology.md").read_text()
    whole = [text for text in re.findall(r"```json\n(.*?)```", page, re.DOTALL) if '"schema"' in text]
    assert whole
    for text in whole:
        assert read(text, tmp_path) == ""
        assert list(VALIDATOR.iter_errors(json.loads(text))) == []


def test_every_key_is_on_the_page() -> None:
    page = (ROOT / "docs" / "reference" / "topology.md").read_text()
    keys = {key for shape in properties_of(SCHEMA) for key in shape}
    assert sorted(key for key in keys if not re.search(rf"[`\"]{key}[`\"]|\b{key}[·+ `]", page)) == []


def test_a_hundred_thousand_gpus_take_a_few_kilobytes() -> None:
    assert (ROOT / "model/topology/files/gb200-100k.json").stat().st_size < 8192


def changed(*steps: str | int, value: Any = ...) -> Any:
    """EVERY_KEY with one value replaced, or removed."""
    document = copy.deepcopy(EVERY_KEY)
    place = document
    for step in steps[:-1]:
        place = place[step]
    if value is ...:
        del place[steps[-1]]
    else:
        place[steps[-1]] = value
    return document


BOX = ("node_types", "box")
PAIR = {"from": "gpu[0].hbm", "to": "gpu[1].hbm", "via": ["nvl[i].out", "nvl[j].in"]}
# Written otherwise than usual.
ODD = {
    "whole numbers with a point": changed("instances", 0, "count", value=1.0),
    "no name of an instance": changed("instances", 0, "name"),
    "route of one pair": changed(*BOX, "routes", value=[*EVERY_KEY["node_types"]["box"]["routes"], PAIR]),
}


@pytest.mark.parametrize("what", ODD)
def test_schema_and_reader_accept(what: str, tmp_path: Path) -> None:
    assert [error.message for error in VALIDATOR.iter_errors(ODD[what])] == []
    assert read(ODD[what], tmp_path) == ""


WRONG = {
    "missing name": changed("name"),
    "other schema": changed("schema", value="topology/2"),
    "unknown unit": changed("units", value="GiB"),
    "unit in a figure": changed("device_types", "gpu-a", "mem", "bw", value="3.35 TB/s"),
    "unit beside a figure": changed("device_types", "gpu-a", "mem", "bw", value={"v": 1, "unit": "GB/s"}),
    "zero bandwidth": changed(*BOX, "resources", "nic", "bw", value=0),
    "negative capacity": changed("device_types", "gpu-a", "mem", "capacity", value=-1),
    "negative latency": changed(*BOX, "resources", "nic", "alpha", value=-1e-6),
    "unknown class": changed("device_types", "gpu-a", "class", value="abacus"),
    "unknown sharing": changed(*BOX, "resources", "nvsw", "sharing", value="maybe"),
    "cycle in a route": changed(*BOX, "routes", 1, "via", value=["pcie[i].up", "dram", "dram"]),
    "no hop": changed(*BOX, "routes", 1, "via", value=["pcie[x].up"]),
    "unknown tier": changed(*BOX, "tiers", 0, "tier", value="attic"),
    "unknown collective": changed("collectives", 0, "op", value="all_smile"),
    "two bandwidths": changed("collectives", 0, "B_alg", value=1e9),
    "unknown fabric": changed("fabric", "kind", value="string"),
    "undated": changed("defaults", "date", value="yesterday"),
    "rumour": changed("defaults", "kind", value="rumour"),
    "no instance": changed("instances", value=[]),
    "empty group": changed("groups", "rack", "members", value=[]),
    "count of text": changed("instances", 0, "count", value="two"),
    "efficiency": changed("device_types", "gpu-a", "mem", "bw", "eff", value=2),
    "empty name": changed("name", value=""),
    "empty name of an instance": changed("instances", 0, "name", value=""),
    "no processors": changed("device_types", "gpu-a", "sms", value=0),
    "next to nothing": changed("device_types", "gpu-a", "mem", "bw", value=1e-300),
    "no such month": changed("defaults", "date", value="2025-13-45"),
    "percent": changed("defaults", "rel_err", value=50),
    "no way": changed(*BOX, "routes", 1, "via", value=[]),
    "from the network": changed(*BOX, "routes", 1, "from", value="net"),
    "index of an end": changed(*BOX, "routes", 1, "from", value="gpu[x].hbm"),
    "dotted name": changed(*BOX, "resources", "a.b", value={"bw": 1}),
}


@pytest.mark.parametrize("what", WRONG)
def test_schema_and_reader_refuse(what: str, tmp_path: Path) -> None:
    assert list(VALIDATOR.iter_errors(WRONG[what])), what
    assert read(WRONG[what], tmp_path).startswith("$"), what


# What no schema can say: the reader alone refuses it, with its path.
BEYOND = {
    "$.node_types.box.routes: no route from gpu[i].hbm to gpu[j].hbm": changed(*BOX, "routes", 0),
    "$.node_types.box.routes: no route from gpu[i].hbm to net": changed(*BOX, "routes", 3),
    "$.groups.rack.members[0]: cycle: the group contains itself: pod": changed(
        "groups", "rack", "members", value=[["pod", 1]]
    ),
    "$.instances[0].type: unknown node type or group: pid": changed("instances", 0, "type", value="pid"),
    "$.node_types.box.resources.nic.count: per gpu/1 there are 8, got 7": changed(
        *BOX, "resources", "nic", "count", value=7
    ),
}


@pytest.mark.parametrize("message", BEYOND)
def test_reader_refuses_what_a_schema_cannot_say(message: str, tmp_path: Path) -> None:
    assert list(VALIDATOR.iter_errors(BEYOND[message])) == []
    assert read(BEYOND[message], tmp_path) == message


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    tool = shutil.which("headrace-topo")
    assert tool
    done = subprocess.run([tool, "check", str(tmp_path)], capture_output=True, text=True, timeout=20)
    assert done.returncode == 2
    assert done.stderr == f"headrace-topo: user error: cannot read topology file: {tmp_path}\n"


def test_huge_and_deep_files_are_refused_at_once(tmp_path: Path) -> None:
    deep = "[" * 1_000_000 + "]" * 1_000_000
    assert read(deep, tmp_path).endswith("more than 32 levels of brackets are not supported")
    names = ", ".join(f'"g{i}": {{"members": [["g{i - 1}", 1]]}}' for i in range(1, 1_000_000))
    assert "more than 16777216 bytes are not supported" in read(f'{{"groups": {{{names}}}}}', tmp_path)
    assert read('{"name": "a", "name": "b"}', tmp_path) == "$: name appears twice: name"


def test_endless_files_are_refused() -> None:
    tool = shutil.which("headrace-topo")
    assert tool
    done = subprocess.run([tool, "check", "/dev/zero"], capture_output=True, text=True, timeout=20)
    assert done.returncode == 2
    assert "more than 16777216 bytes" in done.stderr


# Keys of the schema against keys of the reader.


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].split("/")[-1]]
    return schema


def alternatives(schema: dict[str, Any], value: Any) -> dict[str, Any]:
    """The branch of a oneOf that this value takes."""
    schema = resolved(schema)
    for option in schema.get("oneOf", []):
        option = resolved(option)
        if "type" in option and VALIDATOR.evolve(schema={"$defs": SCHEMA["$defs"], **option}).is_valid(value):
            return option
    return schema


def objects(
    schema: dict[str, Any], value: Any, path: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], dict[str, Any]]]:
    """Every object of the document with the schema of its keys."""
    schema = alternatives(schema, value)
    if isinstance(value, dict):
        known = schema.get("properties", {})
        if schema.get("additionalProperties") is False:
            yield path, schema
        for key, inner in value.items():
            yield from objects(known.get(key, schema.get("additionalProperties")), inner, (*path, key))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            fixed = schema.get("prefixItems", [])
            yield from objects(fixed[i] if i < len(fixed) else schema["items"], inner, (*path, i))


def properties_of(schema: Any) -> Iterator[frozenset[str]]:
    """The key sets of all closed objects anywhere in a schema."""
    if isinstance(schema, dict):
        if schema.get("additionalProperties") is False and "properties" in schema:
            yield frozenset(schema["properties"])
        for inner in schema.values():
            yield from properties_of(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from properties_of(inner)


def test_the_sample_has_every_key() -> None:
    assert [error.message for error in VALIDATOR.iter_errors(EVERY_KEY)] == []
    used: dict[frozenset[str], set[str]] = {}
    for path, schema in objects(SCHEMA, EVERY_KEY):
        value = EVERY_KEY
        for step in path:
            value = value[step]
        used.setdefault(frozenset(schema["properties"]), set()).update(value)
    for keys in properties_of(SCHEMA):
        assert used.get(keys, set()) == set(keys)


def test_the_reader_accepts_every_key(tmp_path: Path) -> None:
    assert read(EVERY_KEY, tmp_path) == ""


def test_reader_and_schema_know_the_same_keys(tmp_path: Path) -> None:
    seen = set()
    for path, schema in objects(SCHEMA, EVERY_KEY):
        shape = (frozenset(schema["properties"]), path[-1:] if len(path) == 1 else ())
        if shape in seen:
            continue
        seen.add(shape)
        document = changed(*path, "colour", value=1)
        complaint = read(document, tmp_path)
        match = re.search(r": unknown key: colour; known here: (.*)", complaint)
        assert match, f"{path}: {complaint}"
        known = set(match.group(1).split(", "))
        # A GPU has sms and a CPU cores: the schema says so in a rule, not in its keys.
        if "sms" in schema["properties"]:
            known |= {"sms", "cores"}
        assert known == set(schema["properties"]), path
