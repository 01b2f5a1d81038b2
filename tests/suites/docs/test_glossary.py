"""Where the glossary says that a thing is in the code, it is."""

import ast
import re
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
