"""`./dev wheel`: the Python package as one file for pip, with compiler, runtime and tools in it."""

from __future__ import annotations

import argparse
import base64
import hashlib
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

from dev import building, linked_libraries, places
from dev.linked_libraries import Binary
from dev.python_environment import exclusive
from dev.steps import StepFailed, run, step

FOLDER = places.ROOT / "build" / "wheel"
LICENCES = ("LICENSE", "NOTICE")
# Debian packages of which parts are in the binaries: their licences are in the wheel.
_PARTS = ("libexpat1", "libhwloc15", "libllvm22", "libmlir-22", "libopenblas0-pthread", "libre2-9")
_PARTS += ("libudev1", "libzstd1", "nlohmann-json3-dev", "zlib1g")
_TOOLS = ("interpret", "opt", "run", "topo", "translate", "tune")
_SUMMARY = "Compiles programs over tables and tensors for a described cluster, and runs them"


def make(output: Path = FOLDER) -> Path:
    """Builds the wheel into a folder; returns its path. Refuses a binary that would not load elsewhere."""
    build = building.build("release", ["headrace_wheel"])
    stage = FOLDER / "content"
    with step("wheel") as current, exclusive(places.ROOT / "build" / "wheel.lock"):
        current.always = True
        shutil.rmtree(stage, ignore_errors=True)
        install = ["cmake", "--install", build, "--component", "wheel", "--prefix", stage, "--strip"]
        run(install, "wheel", environment=building.variables())
        binaries = linked_libraries.binaries(stage)
        if wrong := linked_libraries.faults(stage, binaries, {"pyarrow": _libraries_of_pyarrow()}):
            raise StepFailed("\n".join(wrong))
        tag = f"{_python_tag()}-{_platform_tag(binaries)}"
        _add_information(stage, tag)
        output.mkdir(parents=True, exist_ok=True)
        wheel = output / f"headrace-{version()}-{tag}.whl"
        _pack(stage, wheel)
        current.outcome = f"{wheel.stat().st_size / 1e6:.1f} MB"
    return wheel


def version() -> str:
    """The version of the project, which stands in its CMakeLists.txt alone."""
    match = re.search(r"project\(headrace VERSION ([\d.]+)", (places.ROOT / "CMakeLists.txt").read_text())
    assert match is not None
    return match.group(1)


def requirements() -> list[str]:
    """What the package needs at run time, each as pip writes it: pyarrow==26.0.1."""
    lines = (line.split("#")[0].strip() for line in places.PACKAGE_REQUIREMENTS.read_text().splitlines())
    return [line for line in lines if line]


def _libraries_of_pyarrow() -> list[str]:
    command = [places.environment_python(), "-c", "import pyarrow; print(pyarrow.get_library_dirs()[0])"]
    folder = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    return [path.name for path in Path(folder).glob("lib*.so*")]


def _licence_of_nanobind() -> Path:
    folder = places.environment() / "lib"
    return next(folder.glob("python*/site-packages/nanobind-*.dist-info/licenses/LICENSE"))


def _python_tag() -> str:
    """The modules are built for one version of Python."""
    command = [places.environment_python(), "-c", "import sys; print('cp%d%d' % sys.version_info[:2])"]
    tag = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    return f"{tag}-{tag}"


def _platform_tag(binaries: Sequence[Binary]) -> str:
    """pip refuses the wheel where glibc is older than what the binaries ask for."""
    major, minor = max(binary.glibc for binary in binaries)
    return f"manylinux_{major}_{minor}_x86_64"


#: Ibis, and what it needs itself to compile expressions, show them, and make data frames of rows.
_OF_IBIS = ("ibis-framework>=12", "packaging", "pandas", "pyarrow-hotfix", "rich")


def _add_information(stage: Path, tag: str) -> None:
    """The folder headrace-VERSION.dist-info, but for the list of files."""
    folder = stage / f"headrace-{version()}.dist-info"
    (folder / "licenses").mkdir(parents=True)
    licences = {name: places.ROOT / name for name in LICENCES}
    licences |= {f"{name}.txt": Path("/usr/share/doc", name, "copyright") for name in _PARTS}
    licences |= {"nanobind.txt": _licence_of_nanobind()}
    for name, file in licences.items():
        shutil.copy(file, folder / "licenses" / name)
    python = re.sub(r"cp3(\d+)-.*", r"==3.\1.*", tag)
    lines = ["Metadata-Version: 2.4", "Name: headrace", f"Version: {version()}", f"Summary: {_SUMMARY}"]
    lines += ["License-Expression: Apache-2.0 WITH LLVM-exception", f"Requires-Python: {python}"]
    lines += [f"License-File: {name}" for name in licences]
    lines += [f"Requires-Dist: {line}" for line in requirements()]
    lines += ["Provides-Extra: ibis"]
    lines += [f'Requires-Dist: {needed}; extra == "ibis"' for needed in _OF_IBIS]
    lines += ["Description-Content-Type: text/markdown", "", (places.ROOT / "README.md").read_text()]
    (folder / "METADATA").write_text("\n".join(lines))
    generator = "Wheel-Version: 1.0\nGenerator: headrace ./dev wheel\nRoot-Is-Purelib: false"
    (folder / "WHEEL").write_text(f"{generator}\nTag: {tag}\n")
    commands = ["headrace = headrace._src.command_line:main"]
    commands += [f"headrace-{name} = headrace._src.tools:main" for name in _TOOLS]
    lines = ["[console_scripts]", *commands, "", "[ibis.backends]", "headrace = headrace.ibis", ""]
    (folder / "entry_points.txt").write_text("\n".join(lines))


def _pack(stage: Path, wheel: Path) -> None:
    """The folder as a zip file with its list of files. The same content gives the same file."""
    files = sorted(path for path in stage.rglob("*") if path.is_file())
    record = next(path for path in files if path.name == "WHEEL").parent / "RECORD"
    rows = [f"{path.relative_to(stage)},{_hash(path)},{path.stat().st_size}" for path in files]
    record.write_text("\n".join([*rows, f"{record.relative_to(stage)},,", ""]))
    temporary = wheel.with_suffix(".tmp")
    with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in [*files, record]:
            entry = zipfile.ZipInfo(str(path.relative_to(stage)), (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            program = path.parent.name == "bin" or ".so" in path.suffixes
            entry.external_attr = (0o100755 if program else 0o100644) << 16
            archive.writestr(entry, path.read_bytes())
    temporary.replace(wheel)


def _hash(path: Path) -> str:
    digest = hashlib.sha256(path.read_bytes()).digest()
    return f"sha256={base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}"


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev wheel", description=__doc__)
    parser.add_argument("--output", type=Path, default=FOLDER, metavar="DIR", help="default: build/wheel")
    options = parser.parse_args(words)
    try:
        print(make(options.output))
    except StepFailed as failed:
        print(failed, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
