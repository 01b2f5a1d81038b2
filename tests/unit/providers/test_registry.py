"""The registry: every name resolves, alone; third parties add but never replace; what is broken says so."""

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from syncret.config.catalog import BrokenEntry, Catalog
from syncret.providers import builtin
from syncret.providers.contract import Generator, Provider
from syncret.providers.registry import Offer, Registry, UnknownName

ALONE = """
import json, sys
from syncret.providers import builtin
from syncret.providers.registry import Registry
import syncret.providers.generators, syncret.providers.kit

def is_local(entry):
    return entry[1].startswith("syncret.providers.generators.")

before = set(sys.modules)
# Local generators come last: what they may import must not hide that a manager's module imports it too.
for name, address in sorted({**builtin.STORES, **builtin.GENERATORS}.items(), key=is_local):
    registry = Registry()
    try:
        registry.provider(name) if name in builtin.STORES else registry.generator_type(name)
        failure = ""
    except Exception as error:
        failure = f"{type(error).__name__}: {error}"
    new = sorted(set(sys.modules) - before)
    print(json.dumps([name, failure, new]))
    for module in new:
        if module.startswith("syncret.providers."):
            del sys.modules[module]
    before |= {module for module in new if not module.startswith("syncret.providers.")}
"""

HEAVY = {"aioboto3", "aiohttp", "asyncio", "boto3", "cryptography", "grpc", "h2", "hvac", "requests", "ssl"}


@pytest.fixture(scope="module")
def imports() -> dict[str, tuple[str, list[str]]]:
    """By name: how resolving it in a fresh interpreter failed, and which modules it brought in."""
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, check=True)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return {name: (failure, new) for name, failure, new in rows}


ENTRIES = {**builtin.STORES, **builtin.GENERATORS}


@pytest.mark.parametrize("name", ENTRIES)
def test_a_name_resolves_and_imports_its_own_module_alone(
    name: str, imports: dict[str, tuple[str, list[str]]]
) -> None:
    failure, new = imports[name]
    own = ENTRIES[name].partition(":")[0]
    home = own if own.startswith("syncret.providers.generators.") else ".".join(own.split(".")[:3])
    ours = [module for module in new if module.startswith("syncret.providers.")]

    assert not failure
    assert [module for module in ours if not module.startswith((home, "syncret.providers.kit."))] == []


def test_the_spec_of_a_manager_brings_in_no_client_library(imports: dict[str, tuple[str, list[str]]]) -> None:
    specs = [
        name for name, address in ENTRIES.items() if not address.startswith("syncret.providers.generators.")
    ]
    brought = {module.partition(".")[0] for name in specs for module in imports[name][1]}

    assert brought & HEAVY == set()


def none(_group: str) -> Iterable[Offer]:
    return ()


def test_it_is_the_catalog_of_all_stores_and_generators() -> None:
    catalog: Catalog = Registry(entry_points=none)

    assert len(catalog.store_names()) == 44
    assert len(catalog.generator_kinds()) == 17


@pytest.mark.parametrize(
    ("noun", "name", "hint"),
    [
        pytest.param("provider", "valt", "did you mean vault?", id="a typo"),
        pytest.param("provider", "openbao", "did you mean openBao?", id="a wrong case"),
        pytest.param("provider", "zzz", "known are akeyless, alibaba, ", id="nothing near"),
        pytest.param("generator", "Pasword", "did you mean Password?", id="a generator"),
    ],
)
def test_an_unknown_name_is_a_key_error_with_the_nearest(noun: str, name: str, hint: str) -> None:
    registry = Registry(entry_points=none)
    find = registry.provider if noun == "provider" else registry.generator_type

    with pytest.raises(KeyError) as raised:
        find(name)

    assert isinstance(raised.value, UnknownName)
    assert raised.value.message == f"there is no {noun} {name!r}"
    assert raised.value.hint.startswith(hint)


NO_SCHEMA = """
from syncret.config.catalog import SpecType
from syncret.config.fields import Model
from syncret.providers.contract import Provider

class Spec(Model):
    names: frozenset[str] = frozenset()

PROVIDER = Provider(SpecType("mine", Spec))
"""


@pytest.fixture
def broken_on_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module of that name, and one whose spec no schema can describe."""
    (tmp_path / "broken_on_import.py").write_text("raise RuntimeError('no luck')")
    (tmp_path / "no_schema.py").write_text(NO_SCHEMA)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])


@pytest.mark.parametrize(
    ("address", "says"),
    [
        pytest.param("syncret.providers.nowhere:PROVIDER", "No module named", id="no module"),
        pytest.param("syncret.providers.errors:PROVIDER", "has no attribute 'PROVIDER'", id="no attribute"),
        pytest.param("syncret.providers.errors", "cannot be loaded", id="no attribute named"),
        pytest.param("broken_on_import:PROVIDER", r"RuntimeError\('no luck'\)", id="an import that fails"),
        pytest.param("syncret.providers.errors:SyncError", "is not a Provider", id="not a provider"),
        pytest.param("syncret.providers.vault:PROVIDER", "calls itself 'vault'", id="another's name"),
        pytest.param("no_schema:PROVIDER", "FrozenSetType.* has no structural schema", id="no schema"),
    ],
)
@pytest.mark.usefixtures("broken_on_import")
def test_an_entry_that_cannot_be_used_says_so(address: str, says: str) -> None:
    offer = Offer("mine", address, "acme-words")
    registry = Registry({}, {}, lambda group: [offer] if group == "syncret.providers" else [])

    with pytest.raises(BrokenEntry, match=f"^provider 'mine'.*{says}") as raised:
        registry.provider("mine")

    assert " of acme-words" in str(raised.value)
    assert raised.value.hint == "repair or uninstall acme-words"
    assert "\n" not in str(raised.value)
    assert "mine" in registry.store_names()
    assert [str(error) for error in registry.broken()] == [str(raised.value)]


def offering(*offers: Offer, group: str = "syncret.providers") -> Registry:
    """Our registry with entry points of one group."""
    return Registry(entry_points=lambda asked: offers if asked == group else ())


def test_another_distribution_adds_a_provider() -> None:
    offer = Offer("vault", builtin.STORES["vault"], "acme")
    registry = Registry({}, {}, lambda group: [offer] if "providers" in group else [])

    assert set(registry.store_names()) == {"vault"}
    assert isinstance(registry.provider("vault"), Provider)


def test_another_distribution_adds_a_generator() -> None:
    offer = Offer("Webhook", builtin.GENERATORS["Webhook"], "acme")
    registry = Registry({}, {}, lambda group: [offer] if "generators" in group else [])

    assert isinstance(registry.generator_type("Webhook"), Generator)
    assert registry.generator("Webhook").name == "Webhook"


def test_a_name_of_ours_is_not_replaced() -> None:
    registry = offering(Offer("vault", "elsewhere:PROVIDER", "acme"))

    assert list(registry.store_names()).count("vault") == 1
    assert registry.provider("vault") is Registry(entry_points=none).provider("vault")
    [error] = registry.broken()
    assert str(error) == (
        "provider 'vault' is built in, and offered as elsewhere:PROVIDER of acme too, which is not used"
    )


def test_a_name_that_two_distributions_offer_is_nobodys() -> None:
    address = builtin.STORES["vault"]
    registry = offering(Offer("new", address, "one"), Offer("new", "two:PROVIDER", "two"))

    with pytest.raises(BrokenEntry, match=r"twice, as \S+ of one and as two:PROVIDER of two"):
        registry.provider("new")

    assert len(list(registry.broken())) == 1
    assert registry.provider("vault").name == "vault", "all others can be used"


def test_what_is_built_in_needs_no_look_at_other_distributions() -> None:
    def must_not(_group: str) -> Iterable[Offer]:
        raise AssertionError

    registry = Registry(entry_points=must_not)

    assert registry.provider("vault").name == "vault"
    assert "vault" in registry.store_names()
    assert "Password" in registry.generator_kinds()


def test_secret_apis_are_found_by_the_end_of_the_group() -> None:
    registry = Registry(secret_apis={"example.com": "tests.unit.providers.test_registry:SECRET_APIS"})
    assert registry.secret_apis("storage.example.com") is SECRET_APIS
    assert registry.secret_apis("example.com") is SECRET_APIS
    assert registry.secret_apis("notexample.com") is None


SECRET_APIS = object()
