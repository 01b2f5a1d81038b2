"""Writes README's table of secret managers (`python docs/hooks/providers.py`); a test compares."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from syncret.daemon.cli.commands.providers import CAPABILITIES, provider_rows
from syncret.providers.registry import Registry

ROOT: Final = Path(__file__).parents[2]
README: Final = ROOT / "README.md"
BEGIN: Final = "<!-- written by docs/hooks/providers.py -->\n"
END: Final = "<!-- end of what is written -->\n"

_WORDS: Final = tuple(word for word in CAPABILITIES.values() if word != "probe")


def written(readme: str) -> str:
    """The text of README with the table as it is now."""
    before, _, rest = readme.partition(BEGIN)
    after = rest.partition(END)[2]
    return "".join((before, BEGIN, *_table(), END, after))


def _table() -> Iterator[str]:
    """A row for each provider that has a page."""
    rows = {row.name: row for row in provider_rows(Registry()) if row.reachable}
    pages = {name: ROOT / "docs" / "providers" / f"{name.lower()}.md" for name in rows}
    titles = {name: _title(page) for name, page in pages.items() if page.exists()}
    yield f"| secret manager | `spec.provider` | {' | '.join(_WORDS)} |\n|---|---|{'---|' * len(_WORDS)}\n"
    for name, title in sorted(titles.items(), key=lambda item: item[1].lower()):
        can = " | ".join("✓" if word in rows[name].can else "" for word in _WORDS)
        yield f"| [{title}](docs/providers/{pages[name].name}) | `{name}` | {can} |\n"


def _title(page: Path) -> str:
    return page.read_text().partition("\n")[0].removeprefix("# ")


if __name__ == "__main__":
    README.write_text(written(README.read_text()))
