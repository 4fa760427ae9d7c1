"""The Debian packages that the build needs, installed when missing."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence

from dev.steps import StepFailed, run, step

PACKAGES = [
    "ccache",
    "clang-22",
    "clang-format-22",
    "cmake",
    "git",
    "libclang-rt-22-dev",
    "libcurl4-openssl-dev",  # its header; the library is loaded by who reads files of stores
    "libexpat1-dev",  # of headrace-topo
    "libgtest-dev",
    "libhwloc-dev",  # of headrace-topo
    "libmlir-22-dev",
    "libopenblas-dev",
    "libre2-dev",
    "libsimgrid-dev",  # of one test: the judge of the simulator
    "libzstd-dev",  # of LLVM, where it is linked statically: the wheel
    "lld-22",
    "llvm-22-dev",
    "llvm-22-tools",
    "mlir-22-tools",
    "ninja-build",
    "nlohmann-json3-dev",
    "openmpi-bin",  # of the tests that start ranks by mpirun
    "python3",
    "python3-dev",
    "python3-venv",
    "zlib1g-dev",  # as libzstd-dev
]

# Of the suite `engines` alone: daemons and a Java, which not every desk wants.
ENGINES = ["munge", "openjdk-17-jre-headless", "slurm-client", "slurmctld", "slurmd"]


def missing(names: Sequence[str] = PACKAGES) -> list[str]:
    """The packages that dpkg does not know as installed, in their order."""
    query = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *names],
        capture_output=True,
        text=True,
        check=False,  # exits 1 when it knows nothing of a name
    )
    rows = (line.split() for line in query.stdout.splitlines())
    installed = {row[0] for row in rows if row[1:] == ["installed"]}
    return [name for name in names if name not in installed]


def ensure(wanted: Sequence[str] = PACKAGES) -> None:
    """Installs what is missing with apt-get, as root or through sudo."""
    if not shutil.which("dpkg-query"):
        return  # not a Debian: CMake says what it does not find
    names = missing(wanted)
    if not names:
        return
    as_root: list[str] = []
    if os.geteuid() != 0:
        if not shutil.which("sudo"):
            raise StepFailed(f"missing Debian packages; as root: apt-get install {' '.join(names)}")
        as_root = ["sudo", "-n"]
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    with step(f"Debian packages ({len(names)} missing)") as current:
        current.always = True
        run([*as_root, "apt-get", "update"], "apt-update", environment=quiet)
        run(
            [*as_root, "apt-get", "install", "-y", "--no-install-recommends", *names],
            "apt-install",
            environment=quiet,
            on_line=lambda line: current.progress(line[:60]),
        )
