"""Calls of every function that templates have, with fitting arguments and with every other kind."""

from collections.abc import Callable, Mapping
from random import Random
from typing import Final

from syncret.daemon.core.templating.functions.contract import Function
from syncret.daemon.core.templating.golang import types
from syncret.daemon.core.templating.golang.types import Type
from tests.suites.oracle.cases import material, pools, words
from tests.suites.oracle.cases.words import spelt

_DEEPEST: Final = 2
_ODD: Final = 0.08
_WRONG_COUNT: Final = 0.02


class Calls:
    """Makes calls as text, in parentheses.

    Args:
        functions: the declarations of all functions.
        chance: where choices come from; the same seed makes the same calls.
    """

    def __init__(self, functions: Mapping[str, Function], chance: Random) -> None:
        self._functions = functions
        self._chance = chance

    def call(self, name: str) -> str:
        """A call of this function."""
        chance, function = self._chance, self._functions[name]
        wanted = list(function.parameters)
        if function.variadic is not None:
            wanted += [function.variadic] * chance.choice([0, 1, 1, 2, 2, 3, 4])
        given = [self._argument(name, position, each) for position, each in enumerate(wanted)]
        if chance.random() < _WRONG_COUNT:
            given = given[:-1] if chance.getrandbits(1) else [*given, "nil"]
        return f"({' '.join([name, *given])})"

    def _argument(self, name: str, position: int, wanted: Type) -> str:
        chance = self._chance
        fitting = pools.POOLS.get(name, ())
        pool = fitting[min(position, len(fitting) - 1)] if fitting else None
        if chance.random() < _ODD:
            return self._odd(0) if pool is pools.small else self.anything()
        if pool is not None:
            return pool(self, chance)
        return self._typed(wanted)

    def _typed(self, wanted: Type) -> str:
        maker = _BY_TYPE.get(wanted)
        if maker is not None:
            return maker(self)
        return self.text() if wanted.kind is types.Kind.STRING else self.anything()

    def text(self) -> str:
        return spelt(words.text(self._chance))

    def integer(self) -> str:
        chance = self._chance
        return chance.choice(
            (*words.INTEGERS, str(chance.randrange(-20, 60)), str(chance.randrange(-20, 60)))
        )

    def floating(self) -> str:
        return self._chance.choice(words.FLOATS)

    def boolean(self) -> str:
        return self._chance.choice(("true", "false"))

    def items(self, depth: int = 0) -> str:
        """A list of one type or another."""
        chance = self._chance
        match chance.randrange(6):
            case 0:
                return f'(splitList "," {self.text()})'
            case 1:
                return f"(until {chance.randrange(6)})"
            case 2:
                return f"(list {' '.join(self.text() for _ in range(chance.randrange(4)))})"
            case _:
                return f"(list {' '.join(self.anything(depth + 1) for _ in range(chance.randrange(5)))})"

    def members(self, depth: int = 0) -> str:
        """A map of anything."""
        chance = self._chance
        names = chance.choices(
            ("a", "b", "c", "x", "y", ""), weights=(5, 5, 3, 3, 3, 1), k=chance.randrange(4)
        )
        return f"(dict {' '.join(f'{spelt(name)} {self.anything(depth + 1)}' for name in names)})"

    def moment(self) -> str:
        return '(toDate "2006-01-02 15:04:05" "2021-03-04 05:06:07")'

    def anything(self, depth: int = 0) -> str:
        """A value of any type."""
        if depth > _DEEPEST:
            return self.text()
        return self._chance.choice(_KINDS)(self, depth)

    def _odd(self, _depth: int) -> str:
        return self._chance.choice(material.ODD)


_BY_TYPE: Final[Mapping[Type, Callable[[Calls], str]]] = {
    types.STRING: Calls.text,
    types.INT: Calls.integer,
    types.INT64: Calls.integer,
    types.UINT32: Calls.integer,
    types.FLOAT64: Calls.floating,
    types.BOOL: Calls.boolean,
    types.LIST: Calls.items,
    types.MAP: Calls.members,
}

_KINDS: Final[tuple[Callable[[Calls, int], str], ...]] = (
    lambda calls, _depth: calls.text(),
    lambda calls, _depth: calls.text(),
    lambda calls, _depth: calls.text(),
    lambda calls, _depth: calls.integer(),
    lambda calls, _depth: calls.integer(),
    lambda calls, _depth: calls.floating(),
    lambda calls, _depth: calls.boolean(),
    Calls.items,
    Calls.members,
    Calls._odd,  # pyright: ignore[reportPrivateUsage]  # the table belongs to the class
)
