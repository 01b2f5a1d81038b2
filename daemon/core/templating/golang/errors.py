"""Errors of templates, with line and column. No message contains a value."""

from typing import NamedTuple


class FunctionError(Exception):
    """A function rejects its arguments. The message says why and quotes none of them."""

    def __init__(self, message: str) -> None:
        self.message = message
        super().__init__(message)


class TemplateError(Exception):
    """A template does not parse or does not render.

    `name` is the template (inside `define`, the inner one), `line` and `column` count from 1, `function` is
    the function that failed, or empty. The message quotes names of the template, but no value and no literal.
    """

    def __init__(self, message: str, *, name: str, line: int, column: int, function: str = "") -> None:
        self.message = message
        self.name = name
        self.line = line
        self.column = column
        self.function = function
        super().__init__(message)

    def __str__(self) -> str:
        called = f"function {self.function}: " if self.function else ""
        return f"template {self.name}, line {self.line}, column {self.column}: {called}{self.message}"


class Place(NamedTuple):
    """A position in a template, in characters. Line and column are computed only for an error."""

    name: str
    text: str
    position: int

    def error(self, message: str, function: str = "") -> TemplateError:
        """The error at this position."""
        line = self.text.count("\n", 0, self.position) + 1
        column = self.position - self.text.rfind("\n", 0, self.position)
        return TemplateError(message, name=self.name, line=line, column=column, function=function)
