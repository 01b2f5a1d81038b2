"""Where the glossary says that a thing is in the code, it is."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator

import pytest

from tests.suites.docs.pages import ROOT

PAGE = ROOT / "docs" / "concepts" / "glossary.md"
_CODE = re.compile(r"`([^`]+)`")


def _places() -> Iterator[tuple[str, str]]:
    """A file or folder, and a name that it defines ("": none is given)."""
    for line in PAGE.read_text().splitlines():
        path = ""
        for word in _CODE.findall(line.rpartition(" | ")[2]):
            if "/" in word:
                path = word
                yield path, ""
            elif path:
                yield path, word


PLACES = sorted(set(_places()))


def _defined(path: str) -> set[str]:
    names = set[str]()
    for statement in ast.parse((ROOT / path).read_text()).body:
        match statement:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                names.add(name)
            case ast.Assign(targets=targets):
                names.update(target.id for target in targets if isinstance(target, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                names.add(name)
            case _:
                pass
    return names


def test_the_tables_name_code() -> None:
    assert ("daemon/engine/queue/workqueue.py", "WorkQueue") in PLACES


@pytest.mark.parametrize(("path", "name"), PLACES, ids=[f"{path}:{name}" for path, name in PLACES])
def test_a_term_is_where_the_glossary_says(path: str, name: str) -> None:
    assert (ROOT / path).exists()
    assert not name or name in _defined(path)


# The first rows of "Words we do not use": who acts and what happens has a name of its own.
UNUSED = re.compile(
    r"\b(told|tells?|telling|judge[sd]?|judging|wish(es|ed)?|whoever|somebody|nobody)\b", re.IGNORECASE
)
_WORDS_OF_A_NAME = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def _texts(source: str) -> Iterator[tuple[int, str]]:
    """Names that are given, docstrings and comments, with their lines."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield node.lineno, name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name
            case ast.arg(arg=name):
                yield node.lineno, name
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield node.lineno, text
            case _:
                pass
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def _unused(source: str) -> Iterator[int]:
    for line, text in _texts(source):
        words = text if " " in text else " ".join(_WORDS_OF_A_NAME.findall(text))
        if UNUSED.search(words):
            yield line


@pytest.mark.parametrize("room", ["config", "providers", "daemon"])
def test_words_that_are_not_used_stand_nowhere(room: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted((ROOT / room).rglob("*.py"))
        for line in _unused(path.read_text())
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "source", ["def tell_all(): ...", "x = 1  # nobody asks", '"""Whoever reads this."""', "class Told: ..."]
)
def test_they_are_found(source: str) -> None:
    assert list(_unused(source)) == [1]
