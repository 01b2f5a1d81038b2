"""The flags, width and precision of a printf verb, and how they shape its output."""

from dataclasses import dataclass

from syncret.daemon.core.templating.golang.floats import format_float
from syncret.daemon.core.templating.golang.literals import can_backquote, quote, quote_rune, rune
from syncret.daemon.core.templating.golang.values import bytes_of

_SHARP_DIGITS = 6


@dataclass(slots=True)
class Flags:
    """What is between the percent sign and the verb. `sharp_v` and `plus_v` stand for `%#v` and `%+v`."""

    sharp: bool = False
    zero: bool = False
    plus: bool = False
    minus: bool = False
    space: bool = False
    sharp_v: bool = False
    plus_v: bool = False
    width: int | None = None
    precision: int | None = None

    def pad(self, text: str, *, zeros: bool = True) -> str:
        """The text filled up to the width."""
        if not self.width or len(text) >= self.width:
            return text
        if self.minus:
            return text.ljust(self.width)
        return text.rjust(self.width, "0" if self.zero and zeros else " ")

    def string(self, text: str) -> str:
        """What `%s` writes."""
        return self.pad(text[: self.precision])

    def quoted(self, text: str) -> str:
        """What `%q` writes for a string."""
        text = text[: self.precision]
        if self.sharp and can_backquote(text):
            return self.pad(f"`{text}`")
        return self.pad(quote(text, ascii_only=self.plus))

    def character(self, number: int) -> str:
        """What `%c` writes."""
        return self.pad(rune(number))

    def quoted_character(self, number: int) -> str:
        """What `%q` writes for a number."""
        return self.pad(quote_rune(number, ascii_only=self.plus))

    def unicode(self, number: int) -> str:
        """What `%U` writes."""
        number %= 1 << 64
        text = f"U+{number:0{max(self.precision or 0, 4)}X}"
        if self.sharp and number <= 0x10FFFF and chr(number).isprintable():  # noqa: PLR2004 (the last rune)
            text += f" '{chr(number)}'"
        return self.pad(text, zeros=False)

    def hexadecimal(self, text: str | bytes, *, upper: bool) -> str:
        """What `%x` writes for a string or for bytes."""
        data = (text if isinstance(text, bytes) else bytes_of(text))[: self.precision]
        mark = ("0X" if upper else "0x") if self.sharp else ""
        digits = data.hex(" ") if self.space else data.hex()
        digits = digits.upper() if upper else digits
        if not data:
            mark = ""
        if self.space:
            return self.pad(mark + digits.replace(" ", f" {mark}"))
        return self.pad(mark + digits)

    def integer(self, number: int, base: str, *, mark: str = "") -> str:
        """The number in the base `b`, `o`, `d`, `x` or `X`; `mark` precedes its digits."""
        if self.precision == 0 and number == 0:
            return " " * (self.width or 0)
        least = self.precision or 0
        if self.precision is None and self.zero and not self.minus and self.width:
            least = self.width - (number < 0 or self.plus or self.space)
        digits = format(abs(number), base).rjust(least, "0")
        if self.sharp:
            digits = {"b": "0b", "x": "0x", "X": "0X"}.get(base, "") + digits
            if base == "o" and digits[0] != "0":
                digits = "0" + digits
        sign = "-" if number < 0 else "+" if self.plus else " " if self.space else ""
        return self.pad(sign + mark + digits, zeros=False)

    def float(self, number: float, verb: str, precision: int | None) -> str:
        """A float under a verb; `precision` is the default if the format gives none."""
        if self.precision is not None:
            precision = self.precision
        text = format_float(number, verb, precision)
        if text[0] not in "+-":
            text = "+" + text
        if self.space and text[0] == "+" and not self.plus:
            text = " " + text[1:]
        if text[1] in "IN":
            bare = text[1:] if text[1] == "N" and not self.space and not self.plus else text
            return self.pad(bare, zeros=False)
        if self.sharp and verb != "b":
            text = self._with_point(text, verb, precision)
        if self.plus or text[0] != "+":
            if self.zero and not self.minus and self.width and self.width > len(text):
                return text[0] + text[1:].rjust(self.width - 1, "0")
            return self.pad(text)
        return self.pad(text[1:])

    @staticmethod
    def _with_point(text: str, verb: str, precision: int | None) -> str:
        """`#`: always a point, and for some verbs the zeros at the end."""
        wanted = (_SHARP_DIGITS if precision is None else precision) if verb in "gGx" else 0
        marks = "pP" if verb in "xX" else "eEpP"
        split = next((at for at, each in enumerate(text) if each in marks), len(text))
        body, tail = text[:split], text[split:]
        significant = body[1:].replace(".", "").lstrip("0")
        if "." not in body:
            wanted -= body[1:] == "0"
            body += "."
        return body + "0" * max(0, wanted - len(significant)) + tail


SIGNED_BASES = {"v": "d", "d": "d", "b": "b", "o": "o", "O": "o", "x": "x", "X": "X"}
"""Verbs of integers, and the base that each writes."""
