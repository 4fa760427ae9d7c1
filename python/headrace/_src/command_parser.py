"""The parser of the command line: its errors are one line, as those of every other tool."""

from __future__ import annotations

import argparse
import difflib
from typing import NoReturn


class CommandParser(argparse.ArgumentParser):
    """Refuses with the status 2, and with the nearest option where there is none of the name."""

    def __init__(self, **options: object) -> None:
        super().__init__(**options, allow_abbrev=False)  # type: ignore[arg-type]

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: user error: {message}\nsee {self.prog} --help\n")

    def read(self, given: list[str] | None) -> argparse.Namespace:
        """The arguments of the line. Call it on the parser of all commands."""
        arguments, others = self.parse_known_args(given)
        if others:
            self._command(arguments).refuse(others[0])
        return arguments

    def refuse(self, word: str) -> NoReturn:
        """Ends the process over a word that means nothing here."""
        if not word.startswith("-"):
            self.error(f"unexpected argument: {word}")
        name = word.split("=")[0]
        near = difflib.get_close_matches(name, self._option_string_actions, 1)
        self.error(f"unknown option{f', did you mean {near[0]}? got' if near else ':'} {name}")

    def _command(self, arguments: argparse.Namespace) -> CommandParser:
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                return action.choices[arguments.command]
        return self
