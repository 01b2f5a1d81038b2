"""The provider on its page is complete: it passes the suite, is registered, judged and synced from.

And it needs none but the names that the page calls public.
"""

import ast
import os
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from syncret.config.schema.admission import admit
from syncret.config.settings import Settings
from syncret.daemon.cli.commands.providers import provider_rows
from syncret.daemon.one_pass import one_pass
from syncret.providers.registry import Offer, Registry
from tests.suites.docs.pages import ROOT, blocks
from tests.support.third_party import MANIFESTS

PAGE = ROOT / "docs" / "guides" / "writing-a-provider.md"
LISTINGS = {block.title: block for block in blocks(PAGE, "python") if block.title}


def _module(title: str) -> ModuleType:
    """A listing as the module that its title says."""
    block = LISTINGS[title]
    module = ModuleType(title.removesuffix(".py"))
    sys.modules[module.__name__] = module
    code = compile("\n" * block.line + block.text, PAGE, "exec")
    exec(code, module.__dict__)  # noqa: S102  # the page is ours, and running it is the point
    return module


provider = _module("acme_directory.py")
_module("acme_words.py")
TestDirectory = _module("test_directory.py").TestDirectory

ENTRY_POINTS = {
    "syncret.providers": Offer("directory", "acme_directory:PROVIDER", "acme"),
    "syncret.generators": Offer("Words", "acme_words:GENERATOR", "acme"),
}
REGISTRY = Registry(entry_points=lambda group: [ENTRY_POINTS[group]])


def _store(**spec: str) -> dict[str, object]:
    return {
        "apiVersion": "external-secrets.io/v1",
        "kind": "SecretStore",
        "metadata": {"name": "files", "namespace": "default"},
        "spec": {"provider": {"directory": spec}},
    }


def test_the_store_of_the_page_is_judged() -> None:
    [block] = blocks(PAGE, "yaml")
    assert "    directory:\n      path: /srv/secrets\n" in block.text
    assert admit(_store(path="/srv/secrets"), REGISTRY).accepted


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param(
            {"path": "srv"}, ("spec.provider.directory.path", "is not absolute"), id="its own check"
        ),
        pytest.param(
            {"pth": "/"}, ("spec.provider.directory.pth", "did you mean path?"), id="a misspelt field"
        ),
    ],
)
def test_a_wrong_store_is_told(spec: dict[str, str], expected: tuple[str, str]) -> None:
    problems = admit(_store(**spec), REGISTRY).problems

    assert any(each.path == expected[0] and expected[1] in str(each) for each in problems)


def test_the_table_of_providers_says_what_it_can() -> None:
    [row] = [row for row in provider_rows(REGISTRY) if row.name == "directory"]

    assert (row.reachable, row.can, row.batch) == (True, ("read", "find", "probe"), 100)


async def test_a_secret_is_synced_from_it(tmp_path: Path) -> None:
    folder, manifests = tmp_path / "entries", tmp_path / "manifests"
    folder.mkdir()
    manifests.mkdir()
    (folder / "db").write_text('{"password": "correct horse"}')
    (manifests / "all.yaml").write_text(MANIFESTS.format(folder=folder))
    output = tmp_path / "out"
    settings = Settings(manifests=(os.fspath(manifests),), output_dir=os.fspath(output), state_file="")
    result = await one_pass(settings, REGISTRY)

    assert (result.problems, result.failures) == ([], {})
    assert (output / "default" / "db" / "password").read_text() == "correct horse"
    assert len((output / "default" / "words" / "words").read_text().split()) == 2


def test_entry_points_are_as_the_page_registers_them() -> None:
    shown = {block.text for block in blocks(PAGE, "toml")}
    assert shown == {
        f'[project.entry-points."{group}"]\n{offer.name} = "{offer.address}"\n'
        for group, offer in ENTRY_POINTS.items()
    }


def _public() -> dict[str, set[str]]:
    """The names of each public module, as the page has them."""
    rows = re.findall(r"^\| `(syncret\.[\w.]+)` \| (.*) \|$", PAGE.read_text(), re.MULTILINE)
    public: dict[str, set[str]] = {}
    for name, told in rows:
        module = import_module(name)
        if told == "all":
            public[name] = {each for each in vars(module) if not each.startswith("_")}
        elif "`__all__`" in told:
            public[name] = set(module.__all__)
        else:
            public[name] = set(re.findall(r"`(\w+)`", told))
    return public


PUBLIC = _public()


def _imported(code: str) -> Iterator[tuple[str, str]]:
    """Module and name of each import of ours."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("syncret"):
            yield from (((node.module or ""), alias.name) for alias in node.names)


def test_public_names_exist() -> None:
    missing = [
        (module, name)
        for module, names in PUBLIC.items()
        for name in names
        if not hasattr(import_module(module), name)
    ]
    assert len(PUBLIC) > 10
    assert missing == []


@pytest.mark.parametrize("title", LISTINGS)
def test_a_listing_needs_public_names_alone(title: str) -> None:
    private = [
        (module, name)
        for module, name in _imported(LISTINGS[title].text)
        if name not in PUBLIC.get(module, ()) and f"{module}.{name}" not in PUBLIC
    ]
    assert private == []


def test_what_the_page_recommends_is_public() -> None:
    """Each `kit...` of the text is a public module, or a name in one."""
    mentioned = set(re.findall(r"`kit\.([\w.]+)`", PAGE.read_text()))
    assert len(mentioned) > 8
    for each in mentioned:
        whole = f"syncret.providers.kit.{each}"
        module, _, name = whole.rpartition(".")
        assert whole in PUBLIC or name in PUBLIC.get(module, ()), each


def test_the_version_policy_says_the_same() -> None:
    [row] = re.findall(r"^\| the Python names that .*$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    covered = {f"syncret.providers.{name}" for name in re.findall(r"`(?:syncret\.providers)?\.(\w+)`", row)}
    assert covered == {".".join(module.split(".")[:3]) for module in PUBLIC}
