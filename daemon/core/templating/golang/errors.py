"""Errors of templates, with line and column. No message contains a value."""

from typing import NamedTuple


class FunctionError(Exception):
    """A function rejects its arguments. The message says why and quotes none of them."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        self.message = message
        self.hint = hint
        super().__init__(message)


class TemplateError(Exception):
    """A template does not parse or does not render.

    `name` is the template (inside `define`, the inner one), `line` and `column` count from 1, `function` is
    the function that failed, or empty. The message quotes names of the template, but no value and no literal;
    so does the hint, which says what to write instead.
    """

    def __init__(
        self, message: str, *, name: str, line: int, column: int, function: str = "", hint: str = ""
    ) -> None:
        self.message = message
        self.hint = hint
        self.name = name
        self.line = line
        self.column = column
        self.function = function
        super().__init__(message)

    def __str__(self) -> str:
        called = f"function {self.function}: " if self.function else ""
        return f"template {self.name}, line {self.line}, column {self.column}: {called}{self.message}"


class Position(NamedTuple):
    """Line and column, from 1."""

    line: int
    column: int


class Place(NamedTuple):
    """A position in a template, in characters. Line and column are computed only for an error."""

    name: str
    text: str
    position: int

    def error(self, message: str, function: str = "", hint: str = "") -> TemplateError:
        """The error at this position."""
        line, column = self.line_and_column
        return TemplateError(message, name=self.name, line=line, column=column, function=function, hint=hint)

    @property
    def line_and_column(self) -> Position:
        """The position as a reader counts."""
        line = self.text.count("\n", 0, self.position) + 1
        return Position(line, self.position - self.text.rfind("\n", 0, self.position))
