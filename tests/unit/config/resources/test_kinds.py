"""The table of kinds: complete, without contradictions, and the only place that lists them."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from syncret.config.meta import GroupKind, ObjectRef
from syncret.config.resources.base import Resource
from syncret.config.resources.external_secret import GeneratorRef
from syncret.config.resources.generators import ClusterGeneratorSpec
from syncret.config.resources.kinds import (
    KINDS,
    SHOWN,
    Kind,
    StoreKind,
    generator_ref,
    is_shown,
    kind_named,
    kind_of,
    role_of,
    store_ref,
)
from syncret.config.schema.openapi import openapi
from tests.unit.config.support import CATALOG

ROOT = Path(__file__).parents[4]
GROUP, GENERATORS = "external-secrets.io", "generators.external-secrets.io"
ids = [kind.kind for kind in KINDS]


@pytest.mark.parametrize("kind", KINDS, ids=ids)
def test_every_kind_has_a_model_of_its_own_name_and_rules_that_exist(kind: Kind) -> None:
    assert issubclass(kind.model, Resource)
    assert kind.model.__name__ == kind.kind
    assert callable(kind.check) == bool(kind.check_at)
    assert callable(kind.update_check) == bool(kind.update_check_at)
    assert (kind_of(kind.group_kind), kind_named(kind.kind)) == (kind, kind)


def test_no_word_for_a_kind_means_two() -> None:
    words = [word for kind in SHOWN for word in (kind.kind.lower(), kind.plural, *kind.short_names)]
    assert len(words) == len(set(words))
    prefixes = [kind.metrics_prefix for kind in SHOWN]
    assert len(prefixes) == len(set(prefixes))


def test_what_a_reference_may_name_is_in_the_table() -> None:
    stores = [kind.kind for kind in KINDS if kind.role == "store"]
    assert list(get_args(StoreKind)) == stores
    of_the_catalog = openapi(ClusterGeneratorSpec, CATALOG)["properties"]["kind"]["enum"]
    assert of_the_catalog == list(CATALOG.generator_kinds())
    generators = [kind.kind for kind in KINDS if kind.role == "generator"]
    assert openapi(GeneratorRef, CATALOG)["properties"]["kind"]["enum"] == [*of_the_catalog, *generators]


@pytest.mark.parametrize(
    ("group_kind", "role", "shown"),
    [
        pytest.param(GroupKind(GROUP, "ExternalSecret"), "sync", True, id="ours"),
        pytest.param(GroupKind(GENERATORS, "ClusterGenerator"), "generator", False, id="cluster-generator"),
        pytest.param(GroupKind(GENERATORS, "Password"), "generator", False, id="generator-of-the-catalog"),
        pytest.param(GroupKind(GENERATORS, "GeneratorState"), "record", False, id="record"),
        pytest.param(GroupKind("", "Secret"), "core", False, id="core"),
        pytest.param(GroupKind("apps", "ExternalSecret"), None, False, id="our-name-in-another-group"),
        pytest.param(GroupKind("", "Pod"), None, False, id="foreign"),
    ],
)
def test_what_a_kind_is_for(group_kind: GroupKind, role: str | None, *, shown: bool) -> None:
    assert role_of(group_kind) == role
    assert is_shown(group_kind) is shown


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(store_ref("SecretStore", "a", "n"), (GROUP, "SecretStore", "n", "a"), id="store"),
        pytest.param(
            store_ref("ClusterSecretStore", "a", "n"), (GROUP, "ClusterSecretStore", "", "a"), id="cluster"
        ),
        pytest.param(generator_ref("UUID", "a", "n"), (GENERATORS, "UUID", "n", "a"), id="generator"),
        pytest.param(
            generator_ref("ClusterGenerator", "a", "n"),
            (GENERATORS, "ClusterGenerator", "", "a"),
            id="cluster-generator",
        ),
    ],
)
def test_where_a_name_leads(found: ObjectRef, expected: tuple[str, ...]) -> None:
    assert found == expected


def _named_in(path: Path) -> Iterator[str]:
    """Our kinds that a module names in texts of its own."""
    names = {kind.kind for kind in KINDS if kind.role != "core"}
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from names & {node.value.strip("/")}


def test_kinds_are_listed_nowhere_else() -> None:
    modules = [path for room in ("config", "daemon") for path in (ROOT / room).rglob("*.py")]
    listing = [path.relative_to(ROOT) for path in modules if len(set(_named_in(path))) > 1]
    assert listing == [Path("config/resources/kinds.py")]
