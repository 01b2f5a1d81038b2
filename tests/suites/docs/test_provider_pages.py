"""The pages of providers are in the navigation, and say the same things in the same order."""

import re
from pathlib import Path
from typing import Final

import pytest

from tests.suites.docs.pages import ROOT

ORDER: Final = (
    "Install",
    "Read",
    "Find",
    "Push",
    "Log in",
    "Reach the server",
    "Rights",
    "Credentials made for you",
    "When it does not work",
    "Different from the operator",
)
"""What is peculiar to a provider stands in sections below these."""

STORES: Final = {"Read", "Log in", "When it does not work", "Different from the operator"}
"""What the page of a store has at least; that of a generator is shorter."""

PAGES: Final = sorted((ROOT / "docs" / "providers").glob("*.md"))


@pytest.mark.parametrize("page", [pytest.param(page, id=page.stem) for page in PAGES])
def test_a_page_is_in_order(page: Path) -> None:
    headings = re.findall(r"^## (.*)$", page.read_text(), re.MULTILINE)

    assert headings == [heading for heading in ORDER if heading in headings]
    if (ROOT / "providers" / page.stem / "client.py").exists():
        assert set(headings) >= STORES
    assert f"providers/{page.name}" in (ROOT / "mkdocs.yml").read_text()


def test_links_to_sections_of_pages() -> None:
    broken: list[str] = []
    for page in PAGES:
        for name, anchor in re.findall(r"\(([\w-]*(?:\.md)?)#([\w-]+)\)", page.read_text()):
            target = page.parent / name if name else page
            known = re.findall(r"^#+ (.*)$", target.read_text(), re.MULTILINE)
            if anchor not in {heading.lower().replace(" ", "-") for heading in known}:
                broken.append(f"{page.name}: {name}#{anchor}")

    assert broken == []
