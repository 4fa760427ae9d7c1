"""The GPU bundle is whole: its runner passes on the emulated driver, and fails where something is wrong."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "tools"))

from dev.gpu_bundle import making  # noqa: E402

BUILD = Path(shutil.which("headrace-translate") or "").resolve().parents[1]


@pytest.fixture(scope="session")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gpu") / "bundle"
    size = making.make(BUILD, folder)
    print(f"the bundle has {size / 1e6:.1f} MB")
    assert size <= 60_000_000
    return folder


def run(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [str(folder / "run"), *words]
    environment = {"PATH": "/usr/bin:/bin", **variables}
    return subprocess.run(command, check=False, capture_output=True, text=True, env=environment, timeout=300)


def results(folder: Path, *words: str) -> dict[str, Any]:
    path = folder.parent / "results.json"
    path.unlink(missing_ok=True)
    done = run(folder, "--emulated", "--json", str(path), *words)
    document: dict[str, Any] = json.loads(path.read_text())
    assert (done.returncode == 0) == (document["failed"] == 0), done.stdout + done.stderr
    return document


def part_of(bundle: Path, tmp_path: Path, *names: str) -> Path:
    """A bundle of these cases alone, to be changed."""
    folder = tmp_path / "bundle"
    shutil.copytree(bundle, folder, ignore=shutil.ignore_patterns("cases"))
    for name in names:
        shutil.copytree(bundle / "cases" / name, folder / "cases" / name)
    return folder


def changed(bundle: Path, tmp_path: Path, name: str, change: Any) -> dict[str, Any]:
    """Results of one case whose case.json is changed."""
    folder = part_of(bundle, tmp_path, name)
    file = folder / "cases" / name / "case.json"
    case = json.loads(file.read_text())
    change(case)
    file.write_text(json.dumps(case))
    return results(folder, "--only", name)


def test_all_of_it_passes_on_the_emulated_driver(bundle: Path) -> None:
    document = results(bundle)
    failed = [result for result in document["results"] if not result["pass"]]
    assert failed == []
    assert document["machine"]["device"] == "emulated GPU"
    for result in document["results"]:
        assert {"name", "kind", "pass", "device", "driver", "capability"} <= result.keys()
    names = {result["name"].split("/")[0] for result in document["results"]}
    cases = {name for path in making.CASES.glob("*.toml") for name, _, _ in making.read(path)}
    assert cases <= names
    figures = {result["name"] for result in document["results"] if result["kind"] == "figure"}
    assert figures == {
        "memory/copying kernel",
        "memory/copy within the device",
        "memory/copy to the device",
        "memory/copy from the device",
        "launches/in a stream",
        "launches/in a graph",
        "decoding/codes",
        "product/ours",
        "scan/q01",
        "scan/q06",
    }
    # Each case ran in each of its forms, with two shapes.
    for name, document_of_case, _ in [
        entry for path in making.CASES.glob("*.toml") for entry in making.read(path)
    ]:
        runs = [r for r in document["results"] if r["kind"] == "case" and r["name"].startswith(f"{name}/")]
        assert len(runs) == 2 * len(document_of_case["forms"]), name


def test_a_wrong_row_is_found(bundle: Path, tmp_path: Path) -> None:
    def change(case: dict[str, Any]) -> None:
        row = case["expect"][0]["rows"][0]
        row[2] = str(int(row[2]) + 1)

    document = changed(bundle, tmp_path, "joins_dense", change)
    assert document["failed"] == 6
    assert re.search(r"row 0 is \[.*\], expected \[", document["results"][-1]["detail"])


def test_a_missing_row_is_found(bundle: Path, tmp_path: Path) -> None:
    document = changed(bundle, tmp_path, "many_groups", lambda case: case["expect"][0]["rows"].pop())
    assert document["failed"] == 2
    assert "rows, expected" in document["results"][-1]["detail"]


def test_a_wrong_float_is_found(bundle: Path, tmp_path: Path) -> None:
    def change(case: dict[str, Any]) -> None:
        rows = case["expect"][0]["rows"]
        next(row for row in rows if isinstance(row[1], float))[1] += 1e-3

    assert changed(bundle, tmp_path, "extremes", change)["failed"] == 4


def test_an_error_that_does_not_come_is_found(bundle: Path, tmp_path: Path) -> None:
    def change(case: dict[str, Any]) -> None:
        case["steps"][0]["capacity"]["by_customer"] = 3000

    document = changed(bundle, tmp_path, "full", change)
    assert document["failed"] == 2
    assert "expected error 4, got none" in document["results"][-1]["detail"]


def test_an_error_that_is_not_expected_is_found(bundle: Path, tmp_path: Path) -> None:
    document = changed(bundle, tmp_path, "overflow", lambda case: case["steps"][0].pop("error"))
    assert document["failed"] == 2
    assert "texts: error 1 in row 63" in document["results"][-1]["detail"]


def test_a_wrong_tensor_is_found(bundle: Path, tmp_path: Path) -> None:
    def change(case: dict[str, Any]) -> None:
        case["steps"][0]["tensors"][1]["offset"] += 4

    document = changed(bundle, tmp_path, "network", change)
    assert document["failed"] == 2
    assert re.search(r"main_0: element \d+ is .*, expected", document["results"][-1]["detail"])


def test_what_the_manifest_lacks_is_an_error(bundle: Path, tmp_path: Path) -> None:
    def rename(case: dict[str, Any]) -> None:
        case["steps"][0]["kernel"] = "scan_nothing"

    document = changed(bundle, tmp_path, "q06_parts", rename)
    assert "the manifest has no kernel: scan_nothing" in str(document["results"])
    for index, (key, value, message) in enumerate(
        [
            ("from", "nothing", "no step before it makes the state: nothing"),
            ("table", "nothing", "the case has no table: nothing"),
            ("column", "nothing", "the case has no such column: "),
            ("state", "nothing", "the manifest has no state: nothing"),
        ]
    ):

        def change(case: dict[str, Any], key: str = key, value: str = value) -> None:
            scan = next(k for k in case["manifest"]["kernels"] if k["symbol"] == "scan_lineitem_0")
            if key == "from":
                case["steps"][1]["from"] = value
            elif key == "table":
                scan["table"] = value
            elif key == "column":
                scan["columns"][0]["file"] = value
            else:
                scan["states"] = [value]

        document = changed(bundle, tmp_path / str(index), "q06_parts", change)
        assert document["failed"] > 0
        assert message in str(document["results"])


def test_a_kernel_that_touches_what_it_may_not_fails_alone(bundle: Path, tmp_path: Path) -> None:
    """Rows that are not there: the process of that case loses its device, the next one has its own."""
    folder = part_of(bundle, tmp_path, "q06", "q06_parts")
    file = folder / "cases" / "q06_parts" / "case.json"
    case = json.loads(file.read_text())
    case["tables"]["lineitem"]["rows"] += 100_000_000
    file.write_text(json.dumps(case))
    document = results(folder, "--only", "q06")
    wrong = [result["name"] for result in document["results"] if not result["pass"]]
    assert wrong == ["q06_parts/plain/3xmax"]
    assert "was lost, " in str(document["results"])
    assert any(result["name"].startswith("scan/q06") for result in document["results"])


def test_a_figure_of_no_scan_is_an_error(bundle: Path, tmp_path: Path) -> None:
    def change(case: dict[str, Any]) -> None:
        case["figure"]["kernel"] = "groups0"

    document = changed(bundle, tmp_path, "q06", change)
    assert document["failed"] == 1
    assert "a figure is about a scan of a table of its case" in document["results"][-1]["detail"]


def test_files_that_are_missing_or_broken_are_errors(bundle: Path, tmp_path: Path) -> None:
    folder = part_of(bundle, tmp_path, "q01", "q03", "q06", "q06_parts")
    (folder / "cases" / "q01" / "data.bin").unlink()
    (folder / "cases" / "q03" / "case.json").write_text("{")
    (folder / "cases" / "q06" / "kernels.so").write_text("nothing")
    document = results(folder, "--only", "q0")
    text = str(document["results"])
    assert "cannot read a file of the bundle: " in text
    assert "a case that is not JSON: " in text
    assert "loading kernels: CUDA_ERROR_INVALID_PTX" in text
    assert document["passed"] > 0


def test_a_part_that_hangs_is_killed(bundle: Path) -> None:
    document = results(bundle, "--only", "q18", "--timeout", "0.01")
    assert "no end within 0 s: killed" in str(document["results"])


def test_cases_run_under_a_sanitizer(bundle: Path, tmp_path: Path) -> None:
    """In place of NVIDIA's, a script that finds an error in one case, and says nothing of others."""
    script = tmp_path / "compute-sanitizer"
    script.write_text(
        '#!/bin/sh\nwhile [ "$1" != "--error-exitcode" ]; do tool=$2; shift; done\nshift; code=$1; shift\n'
        '"$@"\ncase "$*" in *q06_parts*) echo "ERROR SUMMARY: 1 error"; exit $code;; esac\n'
    )
    script.chmod(0o755)
    document = results(bundle, "--only", "q06", "--sanitizer", str(script))
    found = {r["name"]: r for r in document["results"] if r["kind"] == "sanitizer"}
    assert set(found) == {
        f"sanitizer/{tool}/{case}"
        for tool in ("memcheck", "racecheck", "synccheck")
        for case in ("q06", "q06_parts")
    }
    assert {name for name, result in found.items() if not result["pass"]} == {
        name for name in found if name.endswith("q06_parts")
    }
    assert "exit status 9\n" in found["sanitizer/memcheck/q06_parts"]["detail"]
    assert "ERROR SUMMARY: 1 error" in found["sanitizer/memcheck/q06_parts"]["detail"]


def test_a_wrong_row_is_found_under_a_sanitizer_too(bundle: Path, tmp_path: Path) -> None:
    script = tmp_path / "compute-sanitizer"
    script.write_text('#!/bin/sh\nshift 4\nexec "$@"\n')
    script.chmod(0o755)
    folder = part_of(bundle, tmp_path, "many_groups")
    file = folder / "cases" / "many_groups" / "case.json"
    case = json.loads(file.read_text())
    case["expect"][0]["rows"].pop()
    file.write_text(json.dumps(case))
    document = results(folder, "--only", "many_groups", "--sanitizer", str(script))
    found = {r["name"].split("/")[1]: r for r in document["results"] if r["kind"] == "sanitizer"}
    assert not found["memcheck"]["pass"] and not found["synccheck"]["pass"]
    assert "by atomics" in found["racecheck"]["skipped"]  # its blocks share rows


def test_without_a_driver_it_says_what_to_install(bundle: Path, tmp_path: Path) -> None:
    if Path("/dev/nvidiactl").exists():
        pytest.skip("this machine has a GPU")
    path = tmp_path / "results.json"
    done = run(bundle, "--json", str(path))
    assert done.returncode == 1
    document = json.loads(path.read_text())
    assert "no CUDA driver, install NVIDIA's: " in document["results"][0]["detail"]
    assert "0 passed, 1 failed" in done.stdout


def test_its_command_line(bundle: Path, tmp_path: Path) -> None:
    assert "usage: run " in run(bundle, "--frobnicate").stderr
    assert "figure:scan:q06" in run(bundle, "--list").stdout.split()
    done = run(bundle, "--emulated", "--only", "overflow", "--json", str(tmp_path / "no" / "x.json"))
    assert done.returncode == 2
    assert "cannot write the results: " in done.stderr


def test_the_runner_needs_libc_alone(bundle: Path) -> None:
    """And one that Ubuntu 22.04 has."""
    report = subprocess.run(
        ["objdump", "-p", str(bundle / "run")], check=True, capture_output=True, text=True
    ).stdout
    needed = set(re.findall(r"NEEDED +(\S+)", report))
    assert needed <= {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}
    versions = {tuple(map(int, found)) for found in re.findall(r"GLIBC_(\d+)\.(\d+)", report)}
    assert max(versions) <= (2, 35)


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("")
    with pytest.raises(making.StepFailed, match="not empty, and no bundle"):
        making.make(BUILD, tmp_path)
    assert os.listdir(tmp_path) == ["mine"]
