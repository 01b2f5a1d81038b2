"""The registry: every name resolves, alone; third parties add but never replace; what is broken says so."""

import json
import subprocess
import sys
from collections.abc import Iterable

import pytest

from syncret.config.catalog import Catalog
from syncret.providers import builtin
from syncret.providers.contract import Generator, Provider
from syncret.providers.registry import BrokenEntry, Registry, UnknownName

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

HEAVY = {"aioboto3", "aiohttp", "asyncio", "boto3", "cryptography", "grpc", "hvac", "requests", "ssl"}


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


def none(_group: str) -> Iterable[tuple[str, str]]:
    return ()


def test_it_is_the_catalog_of_all_stores_and_generators() -> None:
    catalog: Catalog = Registry(entry_points=none)

    assert len(catalog.store_names()) == 43
    assert len(catalog.generator_kinds()) == 17


@pytest.mark.parametrize(
    ("noun", "name", "hint"),
    [
        pytest.param("provider", "valt", "did you mean vault?", id="a typo"),
        pytest.param("provider", "openbao", "did you mean openBao?", id="a wrong case"),
        pytest.param("provider", "zzz", "known are akeyless, aws, ", id="nothing near"),
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


@pytest.mark.parametrize(
    ("address", "says"),
    [
        pytest.param("syncret.providers.nowhere:PROVIDER", "No module named", id="no module"),
        pytest.param("syncret.providers.errors:PROVIDER", "has no attribute 'PROVIDER'", id="no attribute"),
        pytest.param("syncret.providers.errors", "cannot be loaded", id="no attribute named"),
        pytest.param("syncret.providers.errors:SyncError", "is not a Provider", id="not a provider"),
        pytest.param("syncret.providers.vault:PROVIDER", "calls itself 'vault'", id="another's name"),
    ],
)
def test_an_entry_that_cannot_be_used_says_so(address: str, says: str) -> None:
    registry = Registry({"mine": address}, {}, none)

    with pytest.raises(BrokenEntry, match=f"provider 'mine'.*{says}"):
        registry.provider("mine")


def test_another_distribution_adds_a_provider() -> None:
    registry = Registry(
        {}, {}, lambda group: [("vault", builtin.STORES["vault"])] if "providers" in group else []
    )

    assert set(registry.store_names()) == {"vault"}
    assert isinstance(registry.provider("vault"), Provider)


def test_another_distribution_adds_a_generator() -> None:
    address = builtin.GENERATORS["Webhook"]
    registry = Registry({}, {}, lambda group: [("Webhook", address)] if "generators" in group else [])

    assert isinstance(registry.generator_type("Webhook"), Generator)
    assert registry.generator("Webhook").name == "Webhook"


@pytest.mark.parametrize(
    "offers",
    [
        pytest.param([("vault", "elsewhere:PROVIDER")], id="a name of ours"),
        pytest.param([("new", "one:PROVIDER"), ("new", "two:PROVIDER")], id="two of theirs"),
    ],
)
def test_a_taken_name_is_never_replaced_in_silence(offers: list[tuple[str, str]]) -> None:
    registry = Registry(entry_points=lambda group: offers if group == "syncret.providers" else ())

    with pytest.raises(BrokenEntry, match="the name belongs to"):
        list(registry.store_names())


def test_what_is_built_in_needs_no_look_at_other_distributions() -> None:
    def must_not(_group: str) -> Iterable[tuple[str, str]]:
        raise AssertionError

    registry = Registry(entry_points=must_not)

    assert registry.provider("vault").name == "vault"
    assert "vault" in registry.store_names()
    assert "Password" in registry.generator_kinds()
