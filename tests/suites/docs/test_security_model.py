"""The security model: each claim names a test that exists, and the pages for operators lead to each other."""

import re
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from tests.suites.docs.pages import ROOT, text_of

PAGE: Final = text_of("docs/security-model.md")
_PROOF: Final = re.compile(r"`([\w/]*\.py)?::(\w+)`")
_OPERATORS: Final = ("own-identity.md", "egress.md", "tenants.md")


def _rows() -> list[str]:
    """The rows of tables whose last column is the proof."""
    tables = re.findall(r"^\|[^\n]*\| proof \|\n\|[-|]+\|\n((?:\|[^\n]*\n)+)", PAGE, re.MULTILINE)
    return [row for table in tables for row in table.splitlines() if not row.endswith("| the tables below |")]


ROWS: Final = _rows()


@cache
def _files(ending: str) -> list[Path]:
    return [path for path in (ROOT / "tests").rglob(Path(ending).name) if str(path).endswith(f"/{ending}")]


def proofs(text: str) -> list[tuple[str, str]]:
    """File and test of each proof; `::test` means the file of the one before."""
    found: list[tuple[str, str]] = []
    for file, test in _PROOF.findall(text):
        found.append((file or found[-1][0], test))
    return found


def test_every_actor_has_a_table() -> None:
    assert len(ROWS) > 40
    assert PAGE.count("| proof |") == 7


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[1].strip()[:40])
def test_a_claim_has_a_test(row: str) -> None:
    assert proofs(row.split("|")[-2])


@pytest.mark.parametrize(("file", "test"), sorted(set(proofs(PAGE))))
def test_a_proof_exists(file: str, test: str) -> None:
    [path] = _files(file)
    assert re.search(rf"^\s*(async )?def {test}\(", path.read_text(), re.MULTILINE)


@pytest.mark.parametrize("name", _OPERATORS)
def test_pages_for_operators_lead_to_each_other(name: str) -> None:
    text = text_of(f"docs/guides/{name}")
    linked = {other for other in _OPERATORS if f"({other}" in text}
    assert linked | {name} == set(_OPERATORS)
    assert "(../security-model.md)" in text
    assert f"(guides/{name})" in PAGE
