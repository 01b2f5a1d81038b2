"""Parses the documents of YAML and JSON texts one by one, and writes documents as YAML.

The text is split at its `---` lines first, as kubectl does, so that a bad document affects no other. Sizes,
nesting and aliases are bounded. The line of a field is looked up in the text only on demand (yaml_lines.py).
"""

import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

import yaml

from syncret.config.errors import Problem
from syncret.config.fields import Json
from syncret.config.meta import Document, is_list, is_object
from syncret.config.text.json import json_values
from syncret.config.text.yaml_lines import Lines
from syncret.config.text.yaml_scalars import KUBERNETES, Fault, Reading, resolve
from syncret.config.text.yaml_values import Limits, build

_MARKER: Final = re.compile(
    rb"\n---(?=\s|\Z)"
)  # begins with plain text: that is found ten times as fast as ^
# Possessive quantifiers: the text is untrusted, and nothing may be matched a second time in another way.
_NOTHING: Final = re.compile(r"(?:---)?+(?:\s++|#[^\n]*+)*+(?:\.\.\.)?+\s*+")
_DIRECTIVES: Final = re.compile(r"(?:\s++|[#%][^\n]*+)*+")
_QUOTE_IT: Final = "quote values that begin with a special character or hold ': ' or ' #'"
_REMEDIES: Final = {
    "expected key": "indent all fields of one object by the same number of spaces",
    "expected '-' indicator": "indent all '- ' of one list by the same number of spaces",
    "mapping values are not allowed": "indent it as its neighbours are, or quote a value that holds ': '",
    "could not find expected ':'": "write `name: value`; text of several lines stands below `name: |`",
    "expected ',' or ']'": "separate the entries with commas, and close the list with ]",
    "expected ',' or '}'": "separate the fields with commas, and close the object with }",
    "unknown escape character": "write the text in single quotes, where a backslash is itself",
    "unexpected end of stream": "close the quotation mark",
    "undefined alias": "quote a value that begins with *, or define the anchor before",
    "expected <document start>": "begin another document with a line ---",
    "block sequence entries are not allowed": "begin the list on a line of its own below the field",
}
"""The remedy by words of libyaml's message."""
_NEVER_WRAP: Final = 2**31 - 1


LIMITS: Final = Limits()


class ParsedDocument(NamedTuple):
    """One document of a text; `value` is None if it could not be read."""

    line: int
    value: Json
    problems: tuple[Problem, ...]
    lines: Lines


def parse_text(
    data: bytes,
    *,
    as_json: bool = False,
    limits: Limits = LIMITS,
    at_line: int = 0,
    reading: Reading = KUBERNETES,
) -> Iterator[ParsedDocument]:
    """The documents of a text, in order; empty ones are passed over.

    With `at_line` only the document of YAML that has this line is parsed.
    """
    if len(data) > limits.file:
        yield _failed("", 1, f"is larger than {limits.file} bytes", "split it into several files")
        return
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        yield _failed("", line, "is not UTF-8 text", "save the file in UTF-8")
        return
    if as_json:
        for line, chunk, value, problems in json_values(text, longest=limits.document, values=limits.values):
            yield _json_document(line, chunk, value, problems, limits)
        return
    del text  # of many documents one is decoded at a time
    for line, chunk in _split(data):
        if not at_line or line <= at_line < line + chunk.count("\n") + 1:
            yield _yaml_document(chunk, line, limits, reading)


class LoadedMapping(NamedTuple):
    """The mapping in a file, the lines of its fields, and the problems of the file."""

    value: Document
    lines: Lines
    problems: tuple[Problem, ...]


def load_mapping(file: Path, limits: Limits = LIMITS) -> LoadedMapping:
    """Read a file that holds one mapping; an empty or invalid file gives an empty mapping."""
    try:
        with file.open("rb") as stream:
            data = stream.read(limits.file + 1)
    except OSError as error:
        absent = isinstance(error, FileNotFoundError | NotADirectoryError)
        hint = "correct the path" if absent else "name a file that the user syncret runs as may read"
        problem = Problem(path="", message=f"cannot be read: {error.strerror}", hint=hint)
        return LoadedMapping({}, Lines("", 0), (problem,))
    documents = list(parse_text(data, as_json=file.suffix == ".json", limits=limits))
    problems = [problem for parsed in documents for problem in parsed.problems]
    if len(documents) > 1:
        problems.append(Problem(path="", message="must hold one document", line=documents[1].line))
    elif documents and not problems and is_object(documents[0].value):
        return LoadedMapping(documents[0].value, documents[0].lines, ())
    elif documents and not problems:
        problems.append(Problem(path="", message="must hold a mapping", line=documents[0].line))
    return LoadedMapping({}, Lines("", 0), tuple(problems))


def _split(data: bytes) -> Iterator[tuple[int, str]]:
    """Line and text of each document that is not empty; directives belong to the document after them."""
    start, line = len(BOM_UTF8) if data.startswith(BOM_UTF8) else 0, 1
    first = (start,) if data.startswith(b"---", start) and not data[start + 3 : start + 4].strip() else ()
    later = (match.start() + 1 for match in _MARKER.finditer(data))  # where the line begins
    for end in chain(first, later, (len(data),)):
        if end == start:
            continue
        chunk = data[start:end].decode()
        if "%" in chunk and end < len(data) and _DIRECTIVES.fullmatch(chunk):
            continue
        if not _NOTHING.fullmatch(chunk):
            yield line, chunk
        line += chunk.count("\n")
        start = end


def _yaml_document(text: str, line: int, limits: Limits, reading: Reading) -> ParsedDocument:
    if len(text) > limits.document:
        return _failed(text, line, f"a document is larger than {limits.document} bytes", "split it")
    try:
        built = build(text, limits, reading)
    except yaml.reader.ReaderError as error:
        place = line + text.count("\n", 0, error.position)
        message = f"has a character that YAML does not allow (#x{error.character:02x})"
        return _failed(text, place, message, "remove it, or write it as an escape in double quotes")
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = line + (mark.line if mark is not None else 0)
        hint = _remedy(error.problem or "")
        if mark is not None and _begins_with_tab(text, mark.line):
            hint = "indent with spaces: YAML takes no tabs there"
        return _failed(text, place, f"is not valid YAML: {error.problem}", hint)
    except Fault as fault:
        return _failed(text, line + fault.line, fault.message, fault.hint)
    problems = tuple(
        Problem(path=path, message="the key appears twice", hint="remove one of them", line=line + place)
        for path, place in built.duplicates
    )
    return ParsedDocument(line + built.line, built.value, problems, Lines(text, line))


def _remedy(problem: str) -> str:
    """What to write instead, by the parser's words."""
    return next((hint for words, hint in _REMEDIES.items() if words in problem), _QUOTE_IT)


def _begins_with_tab(text: str, line: int) -> bool:
    lines = text.split("\n", line + 1)
    return line < len(lines) and lines[line].lstrip(" ").startswith("\t")


def _json_document(
    line: int, text: str, value: Json, problems: tuple[Problem, ...], limits: Limits
) -> ParsedDocument:
    if len(text) > limits.document:
        return _failed(text, line, f"a document is larger than {limits.document} bytes", "split it")
    if _is_deeper(value, limits.depth):
        return _failed(text, line, f"is nested deeper than {limits.depth} levels", "write it flatter")
    return ParsedDocument(line, value, problems, Lines(text, line))


def _is_deeper(value: Json, depth: int) -> bool:
    """Whether more than `depth` objects and arrays are nested in one another."""
    level: list[Json] = [value]
    for _ in range(depth + 1):
        containers = [each for each in level if is_object(each) or is_list(each)]
        if not containers:
            return False
        level = [inner for each in containers for inner in (each.values() if is_object(each) else each)]
    return True


def _failed(text: str, line: int, message: str, hint: str = "") -> ParsedDocument:
    problem = Problem(path="", message=message, hint=hint, line=line)
    return ParsedDocument(line, None, (problem,), Lines(text, line))


_QUOTED = "'"


class _Dumper(yaml.CSafeDumper):
    """Quotes strings that would not be strings without quotes.

    PyYAML quotes only what PyYAML itself would read as something else. To Kubernetes an unquoted `1e3`, `08`,
    `0o17` or `y` is a number or a boolean, and any of them may be the base64 of a Secret's value.
    """

    def text(self, text: str) -> yaml.ScalarNode:
        style = None if isinstance(resolve(text), str) else _QUOTED
        # PyYAML's stubs leave open what a value may be.
        return self.represent_scalar("tag:yaml.org,2002:str", text, style=style)  # pyright: ignore[reportUnknownMemberType]


_Dumper.add_representer(str, _Dumper.text)


def to_yaml(document: Document) -> str:
    """One YAML document, keys in their order; kubectl, the API server and our parser read it unchanged."""
    text: str = yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True)
    return text


def to_flow(value: Json) -> str:
    """Any value as YAML on one line, such as `{name: vault, keys: [a, b]}`."""
    text: str = yaml.dump(
        value,
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=True,
        width=_NEVER_WRAP,
    )
    return text.removesuffix("\n").removesuffix("\n...")
