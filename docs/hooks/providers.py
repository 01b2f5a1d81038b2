"""Writes README's table of secret managers, and the list of the site (`python docs/hooks/providers.py`).

A test compares.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from syncret.daemon.cli.commands.providers import CAPABILITIES, ProviderRow, provider_rows
from syncret.providers.registry import Registry

ROOT: Final = Path(__file__).parents[2]
README: Final = ROOT / "README.md"
INDEX: Final = ROOT / "docs" / "index.md"
BEGIN: Final = "<!-- written by docs/hooks/providers.py -->\n"
END: Final = "<!-- end of what is written -->\n"

_WORDS: Final = tuple(word for word in CAPABILITIES.values() if word != "probe")


def written(readme: str) -> str:
    """The text of README with the table as it is now."""
    return _between(readme, _table())


def listed(index: str) -> str:
    """The text of the site's first page with the list as it is now."""
    return _between(index, _list())


def _between(text: str, lines: Iterable[str]) -> str:
    before, _, rest = text.partition(BEGIN)
    return "".join((before, BEGIN, *lines, END, rest.partition(END)[2]))


def _rows() -> dict[str, ProviderRow]:
    return {row.name: row for row in provider_rows(Registry()) if row.reachable}


def _page(name: str) -> Path:
    return ROOT / "docs" / "providers" / f"{name.lower()}.md"


def _titles(names: Iterable[str]) -> list[tuple[str, str]]:
    """The names of those that have a page, with its title, in the order of titles."""
    titles = {name: _title(_page(name)) for name in names if _page(name).exists()}
    return sorted(titles.items(), key=lambda item: item[1].lower())


def _list() -> Iterator[str]:
    """The pages, in a sentence."""
    links = [f"[{title}](providers/{_page(name).name})" for name, title in _titles(_rows())]
    yield f"{', '.join(links)}.\n"


def _table() -> Iterator[str]:
    """A row for each provider that has a page."""
    rows = _rows()
    yield f"| secret manager | `spec.provider` | {' | '.join(_WORDS)} |\n|---|---|{'---|' * len(_WORDS)}\n"
    for name, title in _titles(rows):
        can = " | ".join("✓" if word in rows[name].can else "" for word in _WORDS)
        yield f"| [{title}](docs/providers/{_page(name).name}) | `{name}` | {can} |\n"


def _title(page: Path) -> str:
    return page.read_text().partition("\n")[0].removeprefix("# ")


if __name__ == "__main__":
    README.write_text(written(README.read_text()))
    INDEX.write_text(listed(INDEX.read_text()))
