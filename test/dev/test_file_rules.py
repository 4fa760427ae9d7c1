"""House rules about files: the rules one by one, and the repository as it is."""

from __future__ import annotations

from pathlib import Path

from dev import file_rules


def test_the_repository_keeps_the_rules_about_files() -> None:
    assert [str(finding) for finding in file_rules.check()] == []


def test_names_that_could_hold_anything() -> None:
    assert file_rules.check_name("runtime/exec/StringUtils.h")
    assert file_rules.check_name("passes/form/common.cpp")
    assert file_rules.check_name("runtime/memory/pool_manager.h")
    assert not file_rules.check_name("runtime/communication/exchange.h")
    assert not file_rules.check_name("passes/optimize/CommonSubplans.cpp")


def test_a_file_opens_by_saying_what_it_is_for() -> None:
    assert [f.rule for f in file_rules.check_text("runtime/base/x.h", "#pragma once\n")] == ["opening"]
    assert file_rules.check_text("runtime/base/x.h", "// What x is.\n#pragma once\n") == []
    assert file_rules.check_text("tools/dev/x.py", "# What x is.\n") == []
    assert [f.rule for f in file_rules.check_text("runtime/base/x.cpp", "int x;\n")] == ["opening"]


def test_a_file_holds_one_idea() -> None:
    text = "// Long.\n" + "int x;\n" * file_rules.LINES_MAX
    assert [f.rule for f in file_rules.check_text("runtime/base/x.cpp", text)] == ["length"]


def test_a_source_that_no_cmake_file_names_is_dead() -> None:
    texts = {"a/CMakeLists.txt": "add(x.cpp)", "a/x.cpp": "", "a/y.cpp": ""}
    assert [f.path for f in file_rules.unbuilt(texts)] == ["a/y.cpp"]


def test_a_source_named_through_a_variable_is_not_dead() -> None:
    texts = {"a/CMakeLists.txt": "add(${_what}_fuzzer.cpp)", "a/decode_fuzzer.cpp": "", "a/decode.cpp": ""}
    assert [f.path for f in file_rules.unbuilt(texts)] == ["a/decode.cpp"]


def test_sources_in_braces_are_several() -> None:
    from dev.file_rules import _alternatives

    assert _alternatives("runtime/a.cpp,") == ["runtime/a.cpp"]
    assert _alternatives("runtime/{a,b_c}.{h,cpp}") == [
        "runtime/a.h",
        "runtime/a.cpp",
        "runtime/b_c.h",
        "runtime/b_c.cpp",
    ]


def test_every_source_is_named_by_a_test() -> None:
    assert [str(finding) for finding in file_rules.untested()] == []


def test_sources_that_no_test_names(tmp_path: Path) -> None:
    files = {
        "runtime/base/named.cpp": "",
        "runtime/base/included.cpp": "",
        "runtime/base/told.cpp": "",
        "passes/form/named.cpp": "",  # that of base is another
        "passes/form/whole.cpp": "",
        "test/unit/base/named_test.cpp": '#include "runtime/base/included.h"\n// runtime/base/{told,x}.cpp',
        "test/python/test_whole_programs.py": "",
        "test/data/form.json": '"runtime/base/nobody.cpp"',
        "runtime/base/nobody.cpp": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = sorted(finding.path for finding in file_rules.untested(tmp_path))
    assert found == ["passes/form/named.cpp", "runtime/base/nobody.cpp"]
