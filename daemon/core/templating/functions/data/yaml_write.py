"""toYaml and fromYaml.

toYaml writes block style with keys in natural order, sequences not indented, lines folded at 80 columns.
"""

import json
import re
import unicodedata
from functools import cmp_to_key
from typing import Final, cast

from syncret.daemon.core.templating.characters import Pieces
from syncret.daemon.core.templating.functions.contract import Context, FunctionTable, table
from syncret.daemon.core.templating.functions.data.json_text import marshal
from syncret.daemon.core.templating.functions.data.yaml_read import YamlError, can_be_plain, load, resolve
from syncret.daemon.core.templating.golang.floats import format_float
from syncret.daemon.core.templating.golang.values import Value, wrapped
from syncret.providers.work import BYTES_PER_STEP

_KINDS: Final = ((str, "string"), (bool, "bool"), (float, "number"), (list, "array"))
_LAST_DIGITS: Final = re.compile(r"(?<!\d)\d*\Z")
_COMPARED_A_STEP: Final = 8
_WIDTH: Final = 80
_LONGEST_KEY: Final = 128
_BREAKS: Final = "\r\n\x85\u2028\u2029"
_LINE_ENDS: Final = ("\n", "\u2028", "\u2029")
_BREAK: Final = re.compile(f"[{_BREAKS}]")
_FOLDED_RUN: Final = re.compile(f"[^ '{_BREAKS}]+|.", re.DOTALL)
_PLAIN_RUN: Final = re.compile(
    r"([\x21\x23-\x5b\x5d-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]+| )|.", re.DOTALL
)
"""What can be written as it is, in one piece; and any other character."""

_ANY: Final = re.compile(".", re.DOTALL)
_LINE_STARTS: Final = re.compile(f"(?:^|(?<=[{_BREAKS}]))(?=[^{_BREAKS}])")
_UNPRINTABLE: Final = re.compile("[^\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]")
_FORBIDDEN: Final = re.compile("[\x7f-\x84\x86-\x9f\ufffe\uffff]")
"""Characters that Go's library, which converts by way of JSON, cannot read again: the result is empty."""

_NEXT_LINE: Final = "\x85"
_FOLDED: Final = re.compile("(?<! ) *+\x85(?: *+\x85)*+ *")
"""What the same conversion reads as the lines of a quoted text."""

_BYTE_ORDER_MARK: Final = "\ufeff"
_STARTS: Final = frozenset("#,[]{}&*!|>'\"%@`")
_NOT_FINITE: Final = {"NaN": ".nan", "+Inf": ".inf", "-Inf": "-.inf"}
_SHORT: Final = {
    "\0": "0", "\a": "a", "\b": "b", "\t": "t", "\n": "n", "\v": "v", "\f": "f", "\r": "r", "\x1b": "e",
    '"': '"', "\\": "\\", "\x85": "N", "\xa0": "_", "\u2028": "L", "\u2029": "P",
}  # fmt: skip


def from_yaml(context: Context, text: str) -> dict[str, Value]:
    """The map in a document; for anything else, a map with the error message under `Error`."""
    try:
        loaded = load(context.budget, text)
    except YamlError as error:
        return {"Error": str(error)}
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        found = next(name for kind, name in _KINDS if isinstance(loaded, kind))
        problem = f"json: cannot unmarshal {found} into Go value of type map[string]interface {{}}"
        return {"Error": f"error unmarshaling JSON: while decoding JSON: {problem}"}
    return cast("dict[str, Value]", loaded)


def to_yaml(context: Context, value: Value) -> str:
    """The value as YAML; empty if it cannot be written."""
    document = marshal(context, value)
    if document is None or _FORBIDDEN.search(document):
        return ""
    if _NEXT_LINE in document:
        if _has_broken_key(json.loads(document)):
            return ""
        document = _FOLDED.sub(_unfolded, document)
    writer = _Writer(context)
    writer.node(json.loads(document, parse_float=resolve, parse_int=resolve), 0, at_root=True)
    return writer.text.removesuffix("\n")


def _unfolded(found: "re.Match[str]") -> str:
    return "\\n" * (found[0].count("\x85") - 1) or " "


def _has_broken_key(value: Value) -> bool:
    """Whether a key contains a line break: keys must fit on one line."""
    if isinstance(value, list):
        return any(map(_has_broken_key, cast("list[Value]", value)))
    if not isinstance(value, dict):
        return False
    entries = cast("dict[str, Value]", value)
    return any(_NEXT_LINE in name or _has_broken_key(member) for name, member in entries.items())


class _Writer:
    def __init__(self, context: Context) -> None:
        self._written = Pieces()
        self._budget = context.budget
        self._column = 0
        self._last = ""

    @property
    def text(self) -> str:
        """All that was written."""
        return self._written.text

    def _put(self, text: str) -> None:
        self._budget.take(1 + len(text) // BYTES_PER_STEP, len(text))
        self._written.add(text)
        self._last = text
        newline = text.rfind("\n")
        self._column = self._column + len(text) if newline < 0 else len(text) - newline - 1

    def _end_line(self) -> None:
        """End the line, unless a literal text has ended it with its own line break."""
        self._put("" if self._last.endswith(_LINE_ENDS) else "\n")

    def node(self, value: Value, indent: int, *, at_root: bool = False, in_sequence: bool = False) -> None:
        """Write one value, from the current column to the end of its last line."""
        if isinstance(value, dict):
            self._mapping(cast("dict[str, Value]", value), indent, at_root=at_root, in_sequence=in_sequence)
        elif isinstance(value, list):
            self._sequence(cast("list[Value]", value), indent, at_root=at_root, in_sequence=in_sequence)
        else:
            self._put("" if at_root else " ")
            self._scalar(value, indent, at_root=at_root)
            self._end_line()

    def _mapping(self, entries: dict[str, Value], indent: int, *, at_root: bool, in_sequence: bool) -> None:
        if not entries:
            self._put("{}\n" if at_root else " {}\n")
            return
        self._put("" if at_root else " " if in_sequence else "\n")
        for place, name in enumerate(sorted(entries, key=cmp_to_key(self._natural_order))):
            self._put(" " * indent if place or not in_sequence else "")
            value = entries[name]
            if len(name.encode()) > _LONGEST_KEY or _BREAK.search(name):
                self._put("? ")
                self._scalar(name, indent + 2)
                self._end_line()
                self._put(" " * indent + ":")
                self.node(value, indent + 2, in_sequence=True)
                continue
            self._scalar(name, indent, is_key=True)
            self._put(":")
            self.node(value, indent if isinstance(value, list) else indent + 2)

    def _natural_order(self, left: str, right: str) -> int:
        self._budget.step(1 + min(len(left), len(right)) // _COMPARED_A_STEP)
        return _natural_order(left, right)

    def _sequence(self, members: list[Value], indent: int, *, at_root: bool, in_sequence: bool) -> None:
        if not members:
            self._put("[]\n" if at_root else " []\n")
            return
        self._put("" if at_root else " " if in_sequence else "\n")
        for place, member in enumerate(members):
            self._put((" " * indent if place or not in_sequence else "") + "-")
            self.node(member, indent + 2, in_sequence=True)

    def _scalar(self, value: Value, indent: int, *, is_key: bool = False, at_root: bool = False) -> None:
        if isinstance(value, str):
            self._text(value, indent, is_key=is_key, at_root=at_root)
        elif value is None:
            self._put("null")
        elif isinstance(value, bool):
            self._put("true" if value else "false")
        elif isinstance(value, float):
            self._put(_float(value))
        else:
            self._put(str(value))

    def _text(self, text: str, indent: int, *, is_key: bool, at_root: bool) -> None:
        shape = _Shape(text)
        # Folded and literal lines are indented even at the root.
        inner = indent if indent or not at_root else 2
        if "\n" in text and not is_key and shape.block_allowed:
            self._literal(text, inner)
        elif (
            "\n" not in text and can_be_plain(text) and shape.single_allowed and not (is_key and shape.breaks)
        ):
            if shape.plain_allowed and text:
                self._folded(text, inner, is_key=is_key, quote="")
            else:
                self._folded(text, inner, is_key=is_key, quote="'")
        else:
            self._double(text, inner, is_key=is_key)

    def _literal(self, text: str, indent: int) -> None:
        hint = "2" if text[0] in " " + _BREAKS else ""
        chomp = "-" if text[-1] not in _BREAKS else "+" if len(text) == 1 or text[-2] in _BREAKS else ""
        lines = _LINE_STARTS.sub(" " * indent, text)
        self._put(f"|{hint}{chomp}\n{lines}")

    def _folded(self, text: str, indent: int, *, is_key: bool, quote: str) -> None:
        self._put(quote)
        previous = ""
        for found in _FOLDED_RUN.finditer(text):
            place, char = found.start(), found[0]
            if previous and previous in _BREAKS and char not in _BREAKS:
                self._put(" " * indent)
            foldable = char == " " != previous and not is_key and (not quote or 0 < place < len(text) - 1)
            if foldable and self._column > _WIDTH and text[place + 1 : place + 2] != " ":
                self._put("\n" + " " * indent)
            else:
                self._put("''" if char == quote else char)
            if char in _BREAKS:
                self._column = 0
            previous = char[-1]
        self._put(quote)

    def _double(self, text: str, indent: int, *, is_key: bool) -> None:
        self._put('"')
        spaced = False
        # Go's library escapes every character of a text that begins with a byte order mark.
        all_escaped = text.startswith(_BYTE_ORDER_MARK)
        for found in (_ANY if all_escaped else _PLAIN_RUN).finditer(text):
            place, char = found.start(), found[0]
            if all_escaped or found[1] is None:
                self._put(_escape(char))
                spaced = False
                continue
            foldable = char == " " and not is_key and not spaced and 0 < place < len(text) - 1
            if foldable and self._column > _WIDTH:
                self._put("\n" + " " * indent + ("\\" if text[place + 1] == " " else ""))
            else:
                self._put(char)
            spaced = char == " "
        self._put('"')


class _Shape:
    """The styles that can represent a text."""

    def __init__(self, text: str) -> None:
        ends = (text[:1], text[-1:])
        self.breaks = _BREAK.search(text) is not None
        broken_space = re.search(f" [{_BREAKS}]", text) is not None
        special = _UNPRINTABLE.search(text) is not None
        spaced_break = re.search(f"[{_BREAKS}] ", text) is not None
        self.single_allowed = not (broken_space or special or spaced_break)
        self.block_allowed = bool(text) and not (broken_space or special or ends[1] == " ")
        edges = any(end and (end == " " or end in _BREAKS) for end in ends)
        self.plain_allowed = self.single_allowed and not (self.breaks or edges or _has_indicator(text))


def _has_indicator(text: str) -> bool:
    if text.startswith(("---", "...")) or text[:1] in _STARTS:
        return True
    if re.match(f"[-?:](?:[ \t{_BREAKS}]|$)", text):
        return True
    return re.search(f":(?:[ \t]|$)|[ \t{_BREAKS}\0]#", text[1:] if text[:1] == ":" else text) is not None


def _escape(char: str) -> str:
    if char in _SHORT:
        return "\\" + _SHORT[char]
    number = ord(char)
    if number <= 0xFF:  # noqa: PLR2004 (the form's limit)
        return f"\\x{number:02X}"
    return f"\\u{number:04X}" if number <= 0xFFFF else f"\\U{number:08X}"  # noqa: PLR2004 (the form's limit)


def _float(number: float) -> str:
    return _NOT_FINITE.get(written := format_float(number, "g", None), written)


def _natural_order(left: str, right: str) -> int:
    """Compare keys: numbers in them by value, letters after everything else."""
    for place, (one, other) in enumerate(zip(left, right, strict=False)):
        if one == other:
            continue
        one_is_letter, other_is_letter = _is_letter(one), _is_letter(other)
        if one_is_letter and other_is_letter:
            return -1 if one < other else 1
        if one_is_letter or other_is_letter:
            return -1 if other_is_letter else 1
        return _numeric_order(left, right, place)
    return len(left) - len(right)


def _numeric_order(left: str, right: str, place: int) -> int:
    start = 0
    if "0" in (left[place], right[place]):
        before = _LAST_DIGITS.search(left[:place])
        start = 1 if before and before[0].strip("0") else 0
    (one, one_end), (other, other_end) = _digits(left, place, start), _digits(right, place, start)
    if one != other:
        return -1 if one < other else 1
    if one_end != other_end:
        return -1 if one_end < other_end else 1
    return -1 if left[place] < right[place] else 1


def _digits(text: str, place: int, number: int) -> tuple[int, int]:
    while place < len(text) and unicodedata.category(text[place]) == "Nd":
        number = wrapped(number * 10 + ord(text[place]) - ord("0"))
        place += 1
    return number, place


def _is_letter(char: str) -> bool:
    return unicodedata.category(char)[0] == "L"


FUNCTIONS: Final[FunctionTable] = table({"fromYaml": from_yaml, "toYaml": to_yaml})
