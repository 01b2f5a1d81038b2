"""Go's format strings: `printf`."""

from collections.abc import Sequence
from typing import Final

from syncret.daemon.core.templating.golang.budget import Budget
from syncret.daemon.core.templating.golang.format_flags import Flags
from syncret.daemon.core.templating.golang.printf import NIL, Printer
from syncret.daemon.core.templating.golang.values import NO_VALUE, Value, type_of

_LARGEST: Final = 1_000_000
_FLAGS: Final = {"#": "sharp", "0": "zero", "+": "plus", "-": "minus", " ": "space"}


def sprintf(template: str, arguments: Sequence[Value], budget: Budget | None = None) -> str:
    """Like fmt.Sprintf, including its error texts for wrong verbs and counts."""
    return _Format(template, arguments, budget).run()


class _Format:
    def __init__(self, template: str, arguments: Sequence[Value], budget: Budget | None) -> None:
        self.template = template
        self.arguments = arguments
        self.budget = budget
        self.at = 0
        self.number = 0
        self.reordered = False
        self.good_number = True
        self.written: list[str] = []

    def run(self) -> str:
        template = self.template
        while self.at < len(template):
            percent = template.find("%", self.at)
            if percent < 0:
                self.written.append(template[self.at :])
                break
            self.written.append(template[self.at : percent])
            self.at = percent + 1
            if self.budget is not None:
                self.budget.step(5)
            if not self.verb():
                break
        if not self.reordered and self.number < len(self.arguments):
            self.extra()
        return "".join(self.written)

    def peek(self) -> str:
        return self.template[self.at : self.at + 1]

    def verb(self) -> bool:
        """Write one verb with its flags; False at the end of the format."""
        flags = Flags()
        self.good_number = True
        while self.peek() in _FLAGS and self.peek():
            setattr(flags, _FLAGS[self.peek()], True)
            self.at += 1
        after_index = self.index()
        after_index = self.width(flags, after_index=after_index)
        if self.peek() == "." and self.at + 1 < len(self.template):
            self.at += 1
            after_index = self.precision(flags, after_index=after_index)
        if not after_index:
            self.index()
        verb = self.peek()
        if not verb:
            self.written.append("%!(NOVERB)")
            return False
        self.at += 1
        self.write(verb, flags)
        return True

    def write(self, verb: str, flags: Flags) -> None:
        if verb == "%":
            self.written.append("%")
        elif not self.good_number:
            self.written.append(f"%!{verb}(BADINDEX)")
        elif self.number >= len(self.arguments):
            self.written.append(f"%!{verb}(MISSING)")
        else:
            if verb in "vw":
                flags.sharp_v, flags.sharp = flags.sharp, False
                flags.plus_v, flags.plus = flags.plus, False
            if self.budget is not None:
                self.budget.make((flags.width or 0) + (flags.precision or 0))
            self.written.append(Printer(flags, self.budget).argument(self.arguments[self.number], verb))
            self.number += 1

    def width(self, flags: Flags, *, after_index: bool) -> bool:
        if self.peek() != "*":
            flags.width = self.digits()
            if after_index and flags.width is not None:
                self.good_number = False
            return after_index
        self.at += 1
        flags.width = self.star()
        if flags.width is None:
            self.written.append("%!(BADWIDTH)")
        elif flags.width < 0:
            flags.width, flags.minus, flags.zero = -flags.width, True, False
        return False

    def precision(self, flags: Flags, *, after_index: bool) -> bool:
        if after_index:
            self.good_number = False
        after_index = self.index()
        if self.peek() != "*":
            flags.precision = self.digits() or 0
            return after_index
        self.at += 1
        flags.precision = self.star()
        if flags.precision is not None and flags.precision < 0:
            flags.precision = None
        if flags.precision is None:
            self.written.append("%!(BADPREC)")
        return False

    def star(self) -> int | None:
        """A width or precision that is an argument."""
        if self.number >= len(self.arguments):
            return None
        value = self.arguments[self.number]
        self.number += 1
        if not isinstance(value, int) or isinstance(value, bool) or abs(value) > _LARGEST:
            return None
        return int(value)

    def digits(self) -> int | None:
        """A number in the format; one that is far too large consumes the rest of the format, as in Go."""
        start = self.at
        value = 0
        while "0" <= self.peek() <= "9":
            if value > _LARGEST:
                self.at = len(self.template)
                return None
            value = value * 10 + int(self.peek())
            self.at += 1
        return value if self.at > start else None

    def index(self) -> bool:
        """`[3]`: the index of the next argument."""
        if self.peek() != "[":
            return False
        self.reordered = True
        end = self.template.find("]", self.at)
        if end < 0 or len(self.template) - self.at < len("[1]"):
            self.good_number = False
            self.at += 1
            return False
        inside = self.template[self.at + 1 : end]
        self.at = end + 1
        digits = inside.lstrip("0")[:8]
        if not (inside.isascii() and inside.isdigit()) or int(digits or "0") > 10 * _LARGEST:
            self.good_number = False
            return False
        if not 0 < int(digits or "0") <= len(self.arguments):
            self.good_number = False
            return True
        self.number = int(digits) - 1
        return True

    def extra(self) -> None:
        printer = Printer(Flags(), self.budget)
        extra = [
            NIL if each is None or each is NO_VALUE else f"{type_of(each).name}={printer.argument(each, 'v')}"
            for each in self.arguments[self.number :]
        ]
        self.written.append(f"%!(EXTRA {', '.join(extra)})")
