"""`./dev gpu-bundle [DIR]`: makes the folder that a machine with a GPU runs with one command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from dev import places
from dev.gpu_bundle import making
from dev.steps import StepFailed


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev gpu-bundle", description=__doc__)
    default = places.ROOT / "build" / "gpu-bundle"
    parser.add_argument("folder", nargs="?", type=Path, default=default, help="default: build/gpu-bundle")
    options = parser.parse_args(words)
    try:
        size = making.make(places.build_folder("release"), options.folder)
    except StepFailed as failed:
        print(failed, file=sys.stderr)
        return 1
    print(f"{options.folder}: {size / 1e6:.1f} MB; copy it to the machine and run: ./run --json results.json")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
