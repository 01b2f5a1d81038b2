"""Compiles expressions, and keeps their programs: thousands of resources share a few expressions."""

import re
from collections import OrderedDict
from typing import Final, NamedTuple, TypeAlias

from cel_expr_python import cel

from syncret.daemon.core.exports.cel.ast import hints_of
from syncret.daemon.core.exports.cel.environment import environment
from syncret.daemon.core.exports.cel.failures import TOO_DEEP, refusal
from syncret.daemon.core.exports.cel.messages import Checked, Text
from syncret.daemon.core.exports.cel.rewriting import rewritten
from syncret.daemon.core.exports.problems import Failure

MOST_KEPT: Final = 500_000
"""Characters of all expressions whose programs are kept: a program takes some 160 times as many bytes."""

_LONGEST_KEPT: Final = MOST_KEPT // 50
_HAS_ANOTHER_FORM: Final = re.compile(f"{TOO_DEEP}|undeclared reference to 'unwrap")
_NO_TYPE: Final = "a map without a type"


class Compiled(NamedTuple):
    """An expression that can be evaluated."""

    program: cel.Expression
    checked: Checked


_Key: TypeAlias = tuple[bool, str, frozenset[str]]


class Programs:
    """The programs of the expressions that were used last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[_Key, Compiled | Failure] = OrderedDict()
        self.size = 0
        """Characters of the expressions that are kept."""

    def of(self, text: Text, escaped: frozenset[str]) -> Compiled | Failure:
        """The program; `escaped`: those of its fields that are meant by their other names."""
        key = (text.for_secret, text.source, escaped)
        known = self._kept.get(key)
        if known is not None:
            self._kept.move_to_end(key)
            return known
        made = _compiled(text, escaped)
        if len(text.source) <= _LONGEST_KEPT:
            self._kept[key] = made
            self.size += len(text.source)
        while self.size > MOST_KEPT:
            (_, oldest, _), _ = self._kept.popitem(last=False)
            self.size -= len(oldest)
        return made

    def clear(self) -> None:
        """Forget all, where memory ends."""
        self._kept.clear()
        self.size = 0


def _compiled(text: Text, escaped: frozenset[str]) -> Compiled | Failure:
    space = environment(for_secret=text.for_secret)
    try:
        try:
            program, tree = space.compile(rewritten(text.source, escaped) if escaped else text.source)
        except RuntimeError as error:
            if escaped or not _HAS_ANOTHER_FORM.search(str(error)):
                raise
            program, tree = space.compile(rewritten(text.source))
    except RuntimeError as error:
        return refusal(str(error), for_secret=text.for_secret)
    return Compiled(program, Checked(_type_of(program), tuple(sorted(hints_of(tree)))))


def _type_of(program: cel.Expression) -> str:
    try:
        return str(program.return_type())
    except RuntimeError:  # of maps with keys that none can have, which compile
        return _NO_TYPE
