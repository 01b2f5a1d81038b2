"""What scripts write into the documentation is what they make of the code now."""

import importlib.util
from types import ModuleType

from tests.suites.docs.pages import ROOT


def _script(name: str) -> ModuleType:
    file = ROOT / "docs" / "hooks" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"{name}_page", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_up_to_date() -> None:
    script = _script("resources")

    assert script.PAGE.read_text() == script.page(), "run: .venv/bin/python docs/hooks/resources.py"


def test_the_table_of_the_readme_is_up_to_date() -> None:
    script, readme = _script("providers"), (ROOT / "README.md").read_text()

    assert readme == script.written(readme), "run: .venv/bin/python docs/hooks/providers.py"


def test_the_list_of_the_site_is_up_to_date() -> None:
    script, index = _script("providers"), (ROOT / "docs" / "index.md").read_text()

    assert index == script.listed(index), "run: .venv/bin/python docs/hooks/providers.py"


def test_the_decisions_are_listed() -> None:
    folder = ROOT / "docs" / "adr"
    index, nav = (folder / "index.md").read_text(), (ROOT / "mkdocs.yml").read_text()
    records = sorted(file.name for file in folder.glob("0*.md"))

    assert [int(name[:4]) for name in records] == list(range(1, len(records) + 1))
    assert [name for name in records if f"({name})" not in index or f"adr/{name}" not in nav] == []
    for name in records:
        title = (folder / name).read_text().partition("\n")[0]
        assert title.startswith(f"# {int(name[:4])} · ")
