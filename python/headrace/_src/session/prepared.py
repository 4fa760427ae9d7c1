"""PREPARE, EXECUTE and DEALLOCATE: statements with places for values, kept by name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from headrace._src.errors import SqlError, UserError
from headrace._src.sql.brackets import closing, split_at_commas
from headrace._src.sql.literals import NotConstantError, typed_value_of
from headrace._src.sql.parameters import Parameters, with_values
from headrace._src.sql.script import query_alone, statements_of
from headrace._src.sql.spelling import NOTHING, WORD
from headrace._src.sql.tables import unquoted

_PREPARE = re.compile(rf"{NOTHING}prepare\s+({WORD}){NOTHING}(?:(\()|as\b)", re.IGNORECASE | re.DOTALL)
_EXECUTE = re.compile(rf"{NOTHING}execute\s+({WORD}){NOTHING}(\()?", re.IGNORECASE | re.DOTALL)
_END = re.compile(rf"{NOTHING};?{NOTHING}", re.DOTALL)
_DEALLOCATE = re.compile(
    rf"{NOTHING}deallocate\s+(?:prepare\s+)?({WORD}){NOTHING};?{NOTHING}", re.IGNORECASE | re.DOTALL
)
_NAMED = re.compile(r"\s*(\w+)\s*:=(.*)", re.DOTALL)


@dataclass(frozen=True)
class Execution:
    """A statement that was prepared, with its values."""

    text: str
    parameters: Parameters


class Prepared:
    """The statements of a session by name, in small letters."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def said(self, text: str, parameters: Parameters) -> Execution | bool:
        """What an EXECUTE means; True: the text was a PREPARE or DEALLOCATE; False: it is none of these.

        parameters: values in the text itself.
        """
        if prepare := _PREPARE.match(text):
            if parameters:
                raise UserError("PREPARE takes no values: EXECUTE does")
            self._keep(prepare, text)
            return True
        if deallocate := _DEALLOCATE.fullmatch(text):
            self._texts.pop(_key(deallocate), None)
            return True
        execute = _EXECUTE.match(text)
        end = closing(text, execute.end()) if execute and execute[2] else 0
        if not execute or not _END.fullmatch(text, end + 1 if end else execute.end()):
            return False  # or a script
        if _key(execute) not in self._texts:
            raise SqlError(f"no such prepared statement: {unquoted(execute[1])}")
        given = with_values(text[execute.end() : end] if end else "", parameters)
        return Execution(self._texts[_key(execute)], _values(given))

    def _keep(self, prepare: re.Match[str], text: str) -> None:
        if prepare[2]:
            raise SqlError(f"PREPARE {prepare[1]} takes no list of types: cast its parameters")
        # What stands in front is blank: the statement keeps its places.
        statement = re.sub(r"\S", " ", prepare[0]) + text[prepare.end() :]
        if len(statements_of(statement)) > 1:
            raise SqlError("PREPARE is of one statement, and is no part of a script")
        self._texts[_key(prepare)] = query_alone(statement)


def _key(said: re.Match[str]) -> str:
    return unquoted(said[1]).lower()


def _values(given: str) -> Parameters:
    by_number: list[Any] = []
    by_name: dict[str, Any] = {}
    for part in split_at_commas(given) if given.strip() else ():
        named = _NAMED.fullmatch(part)
        try:
            value = typed_value_of(named[2] if named else part)
        except NotConstantError as error:
            raise SqlError(f"EXECUTE takes constants: {error}") from None
        if named:
            by_name[named[1]] = value
        else:
            by_number.append(value)
    if by_name and by_number:
        raise UserError("the values of EXECUTE are all named, or none is")
    return by_name or by_number
