"""Finds in a parsed template which keys of its data it reads, and which regular expressions it has.

Only what surely is a key of the data counts: a field of `.` where that still is the data, a field of `$`, and
`index` of either with a name. What is read from variables and in loops over other values is not looked at.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from syncret.config.spelling import did_you_mean
from syncret.daemon.core.templating.golang import nodes
from syncret.daemon.core.templating.golang.errors import Place, Position
from syncret.daemon.core.templating.golang.parser import parse
from syncret.daemon.core.templating.operator import FUNCTIONS
from syncret.daemon.core.templating.remedies import with_index
from syncret.providers.errors import SyncError
from syncret.providers.kit.golang import regexp
from syncret.providers.work import Work

_REGEXP: Final = ("regex", "mustRegex")
_TAKES_TEXT: Final = "regexQuoteMeta"
_MAIN: Final = "main"


class KeyRead(NamedTuple):
    """A key of the data that the template reads, and the fields below it."""

    key: str
    below: Sequence[str] = ()

    def remedy(self, known: Sequence[str]) -> str:
        """The hint with the key to write instead, given the known ones."""
        whole = ".".join((self.key, *self.below))
        if self.below and whole in known:
            return with_index(whole)
        return did_you_mean(self.key, known) or "there are no keys"


class BadExpression(NamedTuple):
    """A regular expression that does not compile, in a call of this function."""

    function: str
    hint: str


Finding: TypeAlias = KeyRead | BadExpression


def findings(text: str, delims: tuple[str, str]) -> Iterator[tuple[Position, Finding]]:
    """The findings in a template that parses, in its order, each once."""
    walk = _Walk(parse(_MAIN, text, FUNCTIONS.table, *delims))
    walk.body(walk.trees[_MAIN], data=True)
    for position, found in sorted(dict.fromkeys(walk.found), key=lambda each: each[0]):
        yield Place(_MAIN, text, position).line_and_column, found


class _Walk:
    """Goes through the nodes. `data` says whether the dot is the data; `dollar` whether `$` is."""

    def __init__(self, trees: dict[str, list[nodes.Node]]) -> None:
        self.trees = trees
        self.found: list[tuple[int, Finding]] = []
        self._dollar = True
        self._invoked: set[str] = set()

    def body(self, body: Iterable[nodes.Node], *, data: bool) -> None:
        for node in body:
            match node:
                case nodes.Action(pipe=pipe):
                    self._pipe(pipe, data=data)
                case nodes.Branch(pipe=pipe, body=inner, otherwise=otherwise):
                    self._pipe(pipe, data=data)
                    self.body(
                        inner, data=data if isinstance(node, nodes.If) else self._is_data(pipe, data=data)
                    )
                    self.body(otherwise or (), data=data)
                case nodes.Invocation(name=name, pipe=pipe):
                    self._invocation(name, pipe, data=data)
                case _:
                    pass

    def _invocation(self, name: str, pipe: nodes.Pipe | None, *, data: bool) -> None:
        """A template that is called with the data reads it as this one does."""
        if pipe is None:
            return
        self._pipe(pipe, data=data)
        if self._is_data(pipe, data=data) and name in self.trees and name not in self._invoked:
            self._invoked.add(name)
            outside, self._dollar = self._dollar, True
            self.body(self.trees[name], data=True)
            self._dollar = outside

    def _is_data(self, pipe: nodes.Pipe, *, data: bool) -> bool:
        """Whether the value of a pipeline is the data itself."""
        if len(pipe.commands) != 1 or len(pipe.commands[0].operands) != 1:
            return False
        return self._is_data_operand(pipe.commands[0].operands[0], data=data)

    def _is_data_operand(self, operand: nodes.Operand, *, data: bool) -> bool:
        match operand:
            case nodes.Dot():
                return data
            case nodes.Variable(name="$", fields=[]):
                return self._dollar
            case _:
                return False

    def _pipe(self, pipe: nodes.Pipe, *, data: bool) -> None:
        for command in pipe.commands:
            self._call(command.operands, data=data)
            for operand in command.operands:
                self._operand(operand, data=data)

    def _operand(self, operand: nodes.Operand, *, data: bool) -> None:
        match operand:
            case nodes.Field(position=position, names=[key, *below]) if data:
                self.found.append((position, KeyRead(key, tuple(below))))
            case nodes.Variable(position=position, name="$", fields=[key, *below]) if self._dollar:
                self.found.append((position, KeyRead(key, tuple(below))))
            case nodes.Chain(operand=inner):
                self._operand(inner, data=data)
            case nodes.Pipe():
                self._pipe(operand, data=data)
            case _:
                pass

    def _call(self, operands: Sequence[nodes.Operand], *, data: bool) -> None:
        match operands:
            case [nodes.Identifier(name="index"), of, nodes.String(position=position, value=key), *_]:
                if self._is_data_operand(of, data=data):
                    self.found.append((position, KeyRead(key)))
            case [nodes.Identifier(name=name), nodes.String(position=position, value=source), *_]:
                if name.startswith(_REGEXP) and name != _TAKES_TEXT:
                    self._expression(position, name, source)
            case _:
                pass

    def _expression(self, position: int, function: str, source: str) -> None:
        try:
            regexp.compile(source, Work())
        except SyncError as error:
            self.found.append((position, BadExpression(function, error.hint)))
