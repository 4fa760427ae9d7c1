"""The settings of a run as options of a command: flags, defaults and explanations come from the runtime."""

from __future__ import annotations

import argparse
import os

from headrace._src.errors import translated

#: Settings that commands have options of their own for.
_OWN = ("memory", "threads", "ranks")


def add_settings(parser: argparse.ArgumentParser) -> None:
    """An option for each setting; what is not given comes from the environment."""
    from headrace import _runtime

    group = parser.add_argument_group(
        "settings of the run", "also from the environment: --exchange-buffer is HEADRACE_EXCHANGE_BUFFER"
    )
    for setting in _runtime.settings():
        if setting["name"] in _OWN:
            continue
        group.add_argument(
            setting["flag"],
            dest=f"setting:{setting['flag']}",
            metavar=setting["range"],
            help=f"{setting['doc']} (default: {setting['default']})".replace("%", "%%"),
        )


def add_threads(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--threads", type=int, help="workers of all ranks together (default: processors)")


def add_log(parser: argparse.ArgumentParser) -> None:
    """--log alone, for commands that compile but do not run."""
    parser.add_argument(
        "--log",
        dest="setting:--log",
        metavar="off|error|warning|info|debug",
        help="what is written to standard error (default: off; also HEADRACE_LOG)",
    )


def given_settings(arguments: argparse.Namespace) -> dict[str, str]:
    """Those on the line, by flag, as messages name them.

    --log also holds for the compiler, which looks at the environment.
    """
    given = {
        name.removeprefix("setting:"): value
        for name, value in vars(arguments).items()
        if name.startswith("setting:") and value is not None
    }
    if "--log" in given:
        from headrace import _runtime

        os.environ["HEADRACE_LOG"] = translated(lambda: _runtime.setting("log", {"--log": given["--log"]}))
    return given
