"""Whole templates: Go's own grammar and functions, right and wrong, over a dot of every JSON kind."""

from collections.abc import Callable
from random import Random
from typing import Final

from tests.suites.oracle.cases import formats

DOT: Final[dict[str, object]] = {
    "a": "A", "b": "héllo <&> \"q\" 'x'", "i": 42, "neg": -7, "f": 1.5, "big": 1e21, "z": 0, "zf": 0.0,
    "t": True, "fl": False, "nil": None, "l": [1, 2, 3], "ls": ["x", "y z", ""], "e": [], "em": {}, "s": "",
    "mixed": [1, "a", None, 2.5, True, [1, "q"], {"k": "v"}],
    "m": {"k": "v", "n": {"o": {"p": 5}}, "b": 2, "a": 1, "": 3}, "lm": [{"a": 1}, {"a": 2, "b": "x"}],
    "bin": "a\x00\x01\x7f\u00a0\u2028\u200b\ufeff\U0001f600é", "tiny": 1e-7, "frac": 0.1,
    "max": 9223372036854775807,
}  # fmt: skip

FIELDS: Final = (
    ".", ".a", ".b", ".i", ".neg", ".f", ".big", ".z", ".zf", ".t", ".fl", ".nil", ".l", ".ls", ".mixed",
    ".e", ".em", ".m", ".m.k", ".m.n.o.p", ".m.n", ".lm", ".s", ".bin", ".missing", ".missing.x", ".nil.x",
    ".a.b", ".tiny", ".frac", ".max", "$", "$.a", "$.m.k", "$.m.zz",
)  # fmt: skip
CONSTANTS: Final = (
    "1", "0", "-1", "2", "3", "10", "0x1F", "0b101", "0o17", "017", "1_000", "1.5", "1e3", "1e100", ".5",
    "-2.5", "0x1p4", "2i", "1+2i", "'a'", "'\\n'", "'é'", "'\\''", '"str"', '"%d"',
    '"a\\tb\\x41\\u00e9\\377"', "`raw`", '""', "true", "false", "nil", "9223372036854775807",
    "9223372036854775808", "18446744073709551615", "1e19", "1.0", "0x1e", "100", '"k"', '"é"', "-0", "+5",
    '"日本"', "1e400", "08", "1__0", "0x_1", "1_", '"\\xff"', "'ab'", '"\\q"',
)  # fmt: skip
_ENDLESS: Final = frozenset({".max", "9223372036854775807"})
_TAME_FIELDS: Final = tuple(each for each in FIELDS if each not in _ENDLESS)
_TAME_CONSTANTS: Final = tuple(each for each in CONSTANTS if each not in _ENDLESS)
_FUNCTIONS: Final = (
    "and", "or", "not", "len", "index", "slice", "print", "printf", "println", "html", "js", "urlquery",
    "call", "eq", "ne", "lt", "le", "gt", "ge",
)  # fmt: skip
_COMPARING: Final = frozenset(_FUNCTIONS[-6:])
_INDEXED: Final = (".l", ".ls", ".m", ".a", ".b", ".mixed", ".lm", '"héllo"', "$.bin")
_INDEXES: Final = ("0", "1", "2", "3", "-1", '"k"', ".z", ".i", '"n"', "nil")
_TEXTS: Final = (" text ", "\n\n", "é", "x", " \t\n a \n", "{", "}}", '"')
_ODDITIES: Final = (
    "{{end}}", "{{else}}", "{{break}}", "{{}}", "{{.a", "{{(}}", "{{$q}}", "{{foo}}", "{{.a.}}", '{{"x}}',
    "{{1 | 2}}", "{{. | .}}", "{{nil}}", "{{nil.x}}", "{{true.x}}", "{{-}}", "{{ $x:= 1}}",
    "{{range $a,}}{{end}}", "{{(1).x}}", "{{print(1)}}", "{{print 1(2)}}", "{{print .a.b.c}}", "{{.a,.b}}",
    "{{.é}}", "{{.a²}}", "{{if}}{{end}}", "{{template}}", '{{define "x"}}{{end}}', "{{/* c */}}",
    "{{- /* c */ -}}", "{{/* c */ }}", "{{ /* c */}}",
)  # fmt: skip
_SPOILERS: Final = ("", "{", "}", "(", ")", "|", " ", '"', "-", ".", "$")
DELIMITERS: Final = (("", ""), ("", ""), ("", ""), ("<<", ">>"), ("[[", "]]"), ("{%", "%}"), ("((", "))"))


class Templates:
    """Makes templates; the same seed makes the same ones."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._choose = chance.choice
        self._fields, self._constants = _TAME_FIELDS, _TAME_CONSTANTS

    def template(self) -> str:
        """A whole one, one in twenty of them with a character too many or too few.

        No number in it is so large that a loop over it would not end.
        """
        start = self._choose(("", "{{$x := 1}}{{$y := .m}}", '{{$x := .a}}{{$y := "Y"}}'))
        text = start + self._body(self._choose((1, 2, 3)))
        if 'template "T"' in text or not self._chance.randrange(10):
            inner = self._choose(("<{{.}}>", "{{range .}}{{.}}{{end}}", "{{$x}}", "{{.a}}{{$.k}}"))
            text += f'{{{{define "T"}}}}{inner}{{{{end}}}}'
        if text and not self._chance.randrange(20):
            at = self._chance.randrange(len(text))
            text = text[:at] + self._choose(_SPOILERS) + text[at + 1 :]
        return text

    def pipeline(self) -> str:
        """A template that is one pipeline."""
        self._fields, self._constants = FIELDS, CONSTANTS
        return f"{{{{$x := 1}}}}{{{{$y := .m}}}}{{{{{self._pipe(2)}}}}}"

    def _body(self, depth: int) -> str:
        return "".join(self._node(depth) for _ in range(self._choose((1, 1, 2, 3))))

    def _node(self, depth: int) -> str:
        if depth <= 0:
            return self._choose(_TEXTS)
        kinds: tuple[Callable[[int], str], ...] = (
            self._action, self._action, self._action, self._action, self._text, self._text, self._text,
            self._if, self._if, self._with, self._range, self._range, self._variable, self._invocation,
            self._oddity,
        )  # fmt: skip
        return self._choose(kinds)(depth)

    def _tag(self, inside: str) -> str:
        return self._choose(("{{", "{{", "{{", "{{- ")) + inside + self._choose(("}}", "}}", "}}", " -}}"))

    def _text(self, _depth: int) -> str:
        return self._choose(_TEXTS)

    def _action(self, _depth: int) -> str:
        return self._tag(self._pipe(2))

    def _variable(self, _depth: int) -> str:
        if self._chance.getrandbits(1):
            return self._tag(self._choose(("$x", "$y", "$x.a", "$y.k", "$")))
        return self._tag(self._choose(("$x := ", "$y := ", "$x = ", "$ := ", "$x, $y := ")) + self._pipe(1))

    def _if(self, depth: int) -> str:
        body, inner = self._body(depth - 1), depth - 1
        otherwise = self._choose(("", "else", "else if", "both"))
        made = self._tag("if " + self._choose(("", "$x := ")) + self._pipe(1)) + body
        if otherwise in {"else if", "both"}:
            made += self._tag(f"else if {self._pipe(1)}") + self._body(inner)
        if otherwise in {"else", "both"}:
            made += self._tag("else") + self._body(inner)
        return made + self._tag("end")

    def _with(self, depth: int) -> str:
        made = self._tag("with " + self._choose(("", "$y := ")) + self._pipe(1)) + self._body(depth - 1)
        otherwise = self._choose(("", "else", "else with " + self._pipe(1)))
        return made + (self._tag(otherwise) + self._body(depth - 1) if otherwise else "") + self._tag("end")

    def _range(self, depth: int) -> str:
        variables = self._choose(("", "", "$x := ", "$x, $y := ", "$x = ", "$x, $y = "))
        over = self._choose((self._pipe(1), ".l", ".ls", ".m", ".mixed", "3", ".lm", ".e", ".missing", ".em"))
        jump = self._choose(("break", "continue"))
        leaving = self._choose(("", "", f"{{{{{jump}}}}}", f"{{{{if eq . 2}}}}{{{{{jump}}}}}{{{{end}}}}"))
        otherwise = self._choose(("", self._tag("else") + self._body(depth - 1)))
        return (
            self._tag(f"range {variables}{over}")
            + self._body(depth - 1)
            + leaving
            + otherwise
            + self._tag("end")
        )

    def _invocation(self, depth: int) -> str:
        if self._chance.getrandbits(1):
            return self._tag('template "T" ' + self._choose(("", self._pipe(1))))
        name = f'block "B{self._chance.randrange(100)}" '
        return self._tag(name + self._pipe(1)) + self._body(depth - 1) + self._tag("end")

    def _oddity(self, _depth: int) -> str:
        return self._choose(_ODDITIES)

    def _pipe(self, depth: int) -> str:
        return " | ".join(self._command(depth) for _ in range(self._choose((1, 1, 1, 2, 3))))

    def _command(self, depth: int) -> str:
        kind = self._chance.randrange(10)
        if kind < 3:
            return self._operand(depth)
        if kind < 5:
            return f"printf {formats.verbs(self._chance)}{self._operands(depth, self._chance.randrange(4))}"
        name = self._choose(_FUNCTIONS)
        if name in {"index", "slice"} and self._chance.randrange(7):
            indexes = "".join(f" {self._choose(_INDEXES)}" for _ in range(self._chance.randrange(4)))
            return f"{name} {self._choose(_INDEXED)}{indexes}"
        count = 2 if name in _COMPARING and self._chance.randrange(5) else self._chance.randrange(4)
        return name + self._operands(depth, count)

    def _operands(self, depth: int, count: int) -> str:
        return "".join(f" {self._operand(depth)}" for _ in range(count))

    def _operand(self, depth: int) -> str:
        kind = self._chance.randrange(20)
        if kind < 8 or (kind > 14 and depth <= 0):
            return self._choose(self._fields)
        if kind < 15:
            return self._choose(self._constants)
        if kind == 15:
            return self._choose(("$x", "$y", "$"))
        return f"({self._pipe(depth - 1)})" + self._choose(("", "", "", "", ".a", ".k", ".n.o", ".b"))


def with_delimiters(text: str, left: str, right: str) -> str:
    """The template as it is written with other delimiters."""
    return text.replace("{{", left).replace("}}", right) if left else text
