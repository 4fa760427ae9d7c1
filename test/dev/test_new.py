"""./dev new: what it writes is complete, in its place, and never over something that exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from dev import file_rules, new, places
from dev.steps import StepFailed


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "dialects" / "frame"
    folder.mkdir(parents=True)
    (folder / "Frame.td").write_text("// All.\n#endif // FRAME\n")
    (folder / "FrameOps.td").write_text('// Ops.\ndef Frame_XOp : Frame_Op<"x"> {}\n\n#endif // OPS\n')
    (folder / "FrameOps.h").write_text('// Ops.\n#include "dialects/frame/FrameOps.h.inc"\n')
    (folder / "CMakeLists.txt").write_text("# Frame.\nheadrace_dialect(frame Frame SOURCES FrameOps.cpp)\n")
    return tmp_path


def test_an_op_has_definition_verifier_and_tests(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new.make(checkout, ["op", "frame", "top_n"])
    definitions = (checkout / "dialects/frame/FrameOps.td").read_text()
    assert 'def Frame_TopNOp : Frame_Op<"top_n"> {' in definitions
    assert definitions.endswith("}\n\n#endif // OPS\n")
    assert "LogicalResult TopNOp::verify()" in (checkout / "dialects/frame/FrameTopN.cpp").read_text()
    assert "SOURCES FrameTopN.cpp FrameOps.cpp" in (checkout / "dialects/frame/CMakeLists.txt").read_text()
    written = capsys.readouterr().out.split()
    assert "test/dialects/frame/top_n.mlir" in written
    rules = {f.rule for name in written for f in file_rules.check_text(name, (checkout / name).read_text())}
    assert rules == {"unfinished"}


@pytest.mark.parametrize(
    ("words", "fragment"),
    [
        (["op", "frame", "x"], "exists already: frame.x"),
        (["op", "nowhere", "y"], "no such dialect: nowhere"),
        (["op", "frame", "TopN"], "a name must be"),
    ],
)
def test_refusals_write_nothing(checkout: Path, words: list[str], fragment: str) -> None:
    before = {path: path.read_text() for path in checkout.rglob("*") if path.is_file()}
    with pytest.raises(StepFailed, match=fragment):
        new.make(checkout, words)
    assert {path: path.read_text() for path in checkout.rglob("*") if path.is_file()} == before


def test_a_transport_has_every_call_of_the_interface(checkout: Path) -> None:
    folder = checkout / "runtime" / "transport"
    folder.mkdir(parents=True)
    (folder / "CMakeLists.txt").write_text("# Transports.\n")
    new.make(checkout, ["transport", "wire"])
    source = (folder / "wire.cpp").read_text()
    interface = (places.ROOT / "runtime/transport/transport.h").read_text()
    calls = re.findall(r"virtual [^~;]*?(\w+)\([^;]*= 0;", interface)
    assert {"send", "receive", "peerStatus"} <= set(calls)
    assert [call for call in calls if not re.search(rf"\b{call}\([^;{{]*override", source)] == []
    assert "headrace_transport_wire SOURCES wire.cpp" in (folder / "CMakeLists.txt").read_text()


def test_a_pass_has_declaration_source_and_test(checkout: Path) -> None:
    folder = checkout / "passes" / "form"
    folder.mkdir(parents=True)
    (folder / "Passes.td").write_text("// Passes.\n\n#endif // PASSES\n")
    (folder / "Passes.h").write_text("// Passes.\n#define GEN_PASS_DECL\n")
    (folder / "CMakeLists.txt").write_text(
        "# Form.\nheadrace_compiler_library(headrace_form SOURCES\n  a.cpp)\n"
    )
    new.make(checkout, ["pass", "form", "fuse_maps"])
    assert 'def FormFuseMaps : Pass<"form-fuse-maps"' in (folder / "Passes.td").read_text()
    assert "GEN_PASS_DEF_FORMFUSEMAPS" in (folder / "fuse_maps.cpp").read_text()
    assert "SOURCES fuse_maps.cpp\n  a.cpp" in (folder / "CMakeLists.txt").read_text()
    assert "--form-fuse-maps" in (checkout / "test/passes/form/fuse_maps.mlir").read_text()
