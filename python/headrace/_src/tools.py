"""The C++ tools of the package: where they are, and the commands that pip makes for them."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from headrace._src.errors import HeadraceError

_PACKAGE = Path(__file__).resolve().parents[1]


def path(name: str) -> Path:
    """A tool of the installed package, or of the build that the package is imported from, or of the path."""
    import headrace

    # A build has links to the sources, so that only the package's own name leads to it.
    build = Path(headrace.__file__).parents[2]
    for folder in (_PACKAGE / "bin", build / "bin"):
        if (folder / name).exists():
            return folder / name
    found = shutil.which(name)
    if found is None:
        raise HeadraceError(f"cannot find {name}: put it on the path", "io")
    return Path(found)


def main() -> None:
    """Becomes the tool of the name that this process was started by."""
    command = Path(sys.argv[0])
    # A tool that starts `headrace` finds it where pip put both.
    os.environ["PATH"] = os.pathsep.join([str(command.parent.resolve()), os.environ.get("PATH", os.defpath)])
    os.execv(path(command.name), [command.name, *sys.argv[1:]])
