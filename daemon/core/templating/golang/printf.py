"""Go's fmt: how `print`, `println`, `printf` and a bare `{{ . }}` format each value."""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from syncret.daemon.core.templating.golang.budget import Budget
from syncret.daemon.core.templating.golang.comparison import sorted_keys
from syncret.daemon.core.templating.golang.format_flags import SIGNED_BASES, Flags
from syncret.daemon.core.templating.golang.types import UNSIGNED
from syncret.daemon.core.templating.golang.values import (
    NO_VALUE,
    GoObject,
    NamedInteger,
    TypedList,
    TypedMap,
    Uint8,
    Value,
    text_of,
    type_of,
)

NIL: Final = "<nil>"
NO_VALUE_TEXT: Final = "<no value>"
_FLOATS: Final = {"v": "g", "F": "f"}
_WITH_SIX_DIGITS: Final = frozenset("fFeE")
_WITH_METHODS: Final = frozenset("vsxXq")


def sprint(value: Value, budget: Budget | None = None) -> str:
    """The value as `%v` writes it."""
    if type(value) is str:
        return value
    if value is NO_VALUE:
        return NO_VALUE_TEXT
    return Printer(Flags(), budget).argument(value, "v")


def print_all(arguments: Sequence[Value], budget: Budget | None = None) -> str:
    """Like fmt.Sprint: a space between two arguments neither of which is a string."""
    parts: list[str] = []
    after_string = True
    for argument in arguments:
        is_string = isinstance(argument, str)
        if not is_string and not after_string:
            parts.append(" ")
        parts.append(sprint(argument, budget))
        after_string = is_string
    return "".join(parts)


def print_line(arguments: Sequence[Value], budget: Budget | None = None) -> str:
    """Like fmt.Sprintln."""
    return " ".join(sprint(argument, budget) for argument in arguments) + "\n"


class Printer:
    """Formats values under one set of flags. Each element is charged: values can contain one another."""

    def __init__(self, flags: Flags, budget: Budget | None) -> None:
        self.flags = flags
        self.budget = budget
        self.erroring = False

    def argument(self, value: Value, verb: str) -> str:
        """Format one argument under the verb."""
        written = self._argument(value, verb)
        if self.budget is not None:
            self.budget.make(len(written))
        return written

    def _argument(self, value: Value, verb: str) -> str:
        if value is None or value is NO_VALUE:
            return self.flags.pad(NIL) if verb in "Tv" else self.bad_verb(value, verb)
        if verb == "T":
            return self.flags.string(type_of(value).name)
        if verb in "wp":
            return self.bad_verb(value, verb)
        return self._value(value, verb, depth=0)

    def _value(self, value: Value, verb: str, depth: int) -> str:
        if self.budget is not None:
            self.budget.step(3)
        for kind, write in _WRITERS:
            if isinstance(value, kind):
                return write(self, value, verb, depth)
        return "interface {}(nil)" if self.flags.sharp_v else NIL

    def bad_verb(self, value: Value, verb: str) -> str:
        """The error text of fmt for a verb that does not suit the value."""
        if value is None or value is NO_VALUE:
            return f"%!{verb}({NIL})"
        was, self.erroring = self.erroring, True
        written = self._value(value, "v", depth=0)
        self.erroring = was
        return f"%!{verb}({type_of(value).name}={written})"

    def write_string(self, value: str, verb: str) -> str:
        if verb == "s" or (verb == "v" and not self.flags.sharp_v):
            return self.flags.string(value)
        if verb in "xX":
            return self.flags.hexadecimal(value, upper=verb == "X")
        if verb not in "qv":
            return self.bad_verb(value, verb)
        if self.budget is not None:
            self.budget.look_at_each(value)
        return self.flags.quoted(value)

    def write_bool(self, value: bool, verb: str) -> str:  # noqa: FBT001 (it is the value that is written)
        if verb not in "tv":
            return self.bad_verb(value, verb)
        return self.flags.pad("true" if value else "false")

    def write_integer(self, value: int, verb: str) -> str:
        if verb == "v" and self.flags.sharp_v and type_of(value).kind in UNSIGNED:
            return self._with_sharp(value)
        if verb in SIGNED_BASES:
            return self.flags.integer(value, SIGNED_BASES[verb], mark="0o" if verb == "O" else "")
        if verb == "c":
            return self.flags.character(value)
        if verb == "q":
            return self.flags.quoted_character(value)
        return self.flags.unicode(value) if verb == "U" else self.bad_verb(value, verb)

    def _with_sharp(self, value: int) -> str:
        self.flags.sharp = True
        written = self.flags.integer(value, "x")
        self.flags.sharp = False
        return written

    def write_float(self, value: float, verb: str) -> str:
        if verb not in "vbgGxXfFeE":
            return self.bad_verb(value, verb)
        return self.flags.float(value, _FLOATS.get(verb, verb), 6 if verb in _WITH_SIX_DIGITS else None)

    def write_complex(self, value: complex, verb: str) -> str:
        if verb not in "vbgGxXfFeE":
            return self.bad_verb(value, verb)
        plus = self.flags.plus
        real = self.write_float(value.real, verb)
        self.flags.plus = True
        imaginary = self.write_float(value.imag, verb)
        self.flags.plus = plus
        return f"({real}{imaginary}i)"

    def write_bytes(self, value: bytes, verb: str, depth: int) -> str:
        if self.budget is not None and verb not in "sxXq":
            self.budget.step(3 * len(value))
        if verb == "s":
            return self.flags.string(text_of(value))
        if verb in "xX":
            return self.flags.hexadecimal(value, upper=verb == "X")
        if verb == "q":
            return self.flags.quoted(text_of(value))
        if verb in "vd" and self.flags.sharp_v:
            name = "[]uint8" if depth else "[]byte"
            return f"{name}{{{', '.join(map(self._with_sharp, value))}}}"
        if verb in "vd":
            return "[" + " ".join(self.flags.integer(each, "d") for each in value) + "]"
        return "[" + " ".join(self.write_integer(Uint8(each), verb) for each in value) + "]"

    def write_list(self, value: list[Value], verb: str, depth: int) -> str:
        elements = [self._element(each, verb, depth) for each in value]
        if not self.flags.sharp_v:
            return f"[{' '.join(elements)}]"
        name = type_of(value).name
        if isinstance(value, TypedList) and value.is_nil:
            return f"{name}(nil)"
        return f"{name}{{{', '.join(elements)}}}"

    def write_map(self, value: dict[Value, Value], verb: str, depth: int) -> str:
        pairs = [
            f"{self._element(key, verb, depth)}:{self._element(value[key], verb, depth)}"
            for key in sorted_keys(value)
        ]
        if not self.flags.sharp_v:
            return f"map[{' '.join(pairs)}]"
        name = type_of(value).name
        if isinstance(value, TypedMap) and value.is_nil:
            return f"{name}(nil)"
        return f"{name}{{{', '.join(pairs)}}}"

    def _element(self, value: Value, verb: str, depth: int) -> str:
        written = self._value(value, verb, depth + 1)
        if self.budget is not None:
            self.budget.make(len(written))
        return written

    def write_named(self, value: NamedInteger, verb: str) -> str:
        if verb in _WITH_METHODS and not (self.flags.sharp_v or self.erroring):
            return self.write_string(value.text(), verb)
        return self.write_integer(value, verb)

    def write_object(self, value: GoObject, verb: str) -> str:
        if verb in _WITH_METHODS and not self.flags.sharp_v:
            return self.write_string(value.text(), verb)
        return self.bad_verb(value, verb) if not self.erroring else value.text()


_Writer: TypeAlias = Callable[[Printer, Any, str, int], str]
_WRITERS: Final[tuple[tuple[type, _Writer], ...]] = (
    (str, lambda printer, value, verb, _: printer.write_string(value, verb)),
    (bool, lambda printer, value, verb, _: printer.write_bool(value, verb)),
    (NamedInteger, lambda printer, value, verb, _: printer.write_named(value, verb)),
    (int, lambda printer, value, verb, _: printer.write_integer(value, verb)),
    (float, lambda printer, value, verb, _: printer.write_float(value, verb)),
    (complex, lambda printer, value, verb, _: printer.write_complex(value, verb)),
    (bytes, Printer.write_bytes),
    (list, Printer.write_list),
    (dict, Printer.write_map),
    (GoObject, lambda printer, value, verb, _: printer.write_object(value, verb)),
)
"""In this order, because a bool is an int in Python."""
