"""Which documents make a release, and what is wrong with those that do not."""

import pytest

from syncret.daemon.release.compiler import parse, rendered
from syncret.daemon.release.report import problems_of
from tests.unit.daemon.release.support import HEAD, Compiled, loaded, module

CONFIG = "  config: {host: string}\n"
RELEASE = "apiVersion: syncret.dev/v1alpha1\nkind: Release\nmetadata: {name: prod, namespace: shop}\n"


def problems(*texts: str) -> list[str]:
    documents = [each for number, text in enumerate(texts) for each in loaded(f"{number}.yaml", text)]
    parsed = parse(documents)
    rendered(parsed)
    return [f"{file}:{problem.line} {problem.path}" for file, problem in problems_of(parsed)]


def test_a_bare_mapping_is_the_values_and_its_lines_are_its_own() -> None:
    compiled = Compiled("  config: {db: {host: string, port: int}}\n", "db:\n  host: h\n  port: no number\n")
    assert compiled.errors == ["values.yaml:3 spec.values.db.port"]


def test_the_release_names_the_manifests_and_their_namespace() -> None:
    compiled = Compiled(CONFIG, RELEASE + "spec: {values: {host: h}}\n")
    metadata = compiled.item("Deployment")["metadata"]
    assert (metadata["name"], metadata["namespace"]) == ("prod", "shop")
    assert metadata["labels"] == {
        "app.kubernetes.io/name": "app",
        "app.kubernetes.io/instance": "prod",
        "app.kubernetes.io/managed-by": "syncret",
    }


def test_without_a_release_the_name_is_the_modules_and_there_is_no_namespace() -> None:
    metadata = Compiled("  config: {}\n").item("Deployment")["metadata"]
    assert metadata["name"] == "app"
    assert "namespace" not in metadata


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        pytest.param(["host: h\n"], ["0.yaml:0 "], id="no module"),
        pytest.param([module(CONFIG), module(CONFIG), "host: h\n"], ["1.yaml:2 kind"], id="two modules"),
        pytest.param([module(CONFIG), "host: h\n", "host: h\n"], ["2.yaml:1 kind"], id="two values"),
        pytest.param(
            [module(CONFIG).replace("v1alpha1", "v2"), "host: h\n"], ["0.yaml:1 apiVersion"], id="version"
        ),
        pytest.param(
            [module(CONFIG), "host: h\n", "apiVersion: syncret.dev/v1alpha1\nkind: Plattform\n"],
            ["2.yaml:2 kind"],
            id="kind",
        ),
        pytest.param([module(CONFIG), "kind: Release\n"], ["1.yaml:1 apiVersion"], id="no version"),
        pytest.param(
            [module(CONFIG + "  replica: 2\n"), "host: h\n"], ["0.yaml:6 spec.replica"], id="unknown member"
        ),
        pytest.param(
            [module(CONFIG).replace("name: app", "name: App"), "host: h\n"],
            ["0.yaml:3 metadata.name"],
            id="name",
        ),
        pytest.param(
            [module(CONFIG), module(CONFIG, "ResolvedRelease"), "host: h\n"],
            ["1.yaml:2 kind"],
            id="module and resolved release",
        ),
        pytest.param(
            [module("  config: {}\n", "ResolvedRelease"), RELEASE + "spec: {values: {a: 1}}\n"],
            ["1.yaml:4 spec.values"],
            id="values of a resolved release",
        ),
        pytest.param(
            [module(CONFIG), f"db:\n  x: [{{{'k' * 300}: 1}}]\n"],
            ["1.yaml:2 spec.values.db.x[0]"],
            id="a key that would be in every path",
        ),
        pytest.param([module(CONFIG), "host: h\n", "a: [\n"], ["2.yaml:2 "], id="unreadable"),
        pytest.param([module(CONFIG), "a: [\n"], ["1.yaml:2 "], id="no consequences of what is unreadable"),
    ],
)
def test_one_mistake_is_one_problem(texts: list[str], told: list[str]) -> None:
    assert problems(*texts) == told


def test_a_document_of_another_group_is_left_for_tags() -> None:
    secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n"
    parsed = parse(loaded("a.yaml", module("  config: {}\n")) + loaded("b.yaml", secret))
    assert [each["kind"] for each in parsed.documents.others] == ["Secret"]
    assert not parsed.findings.has_errors


def test_a_resolved_release_takes_name_and_namespace_of_a_release() -> None:
    parsed = parse(loaded("a.yaml", module("  config: {}\n", "ResolvedRelease")) + loaded("b.yaml", RELEASE))
    assert (parsed.documents.instance, parsed.documents.namespace) == ("prod", "shop")
    assert not parsed.findings.has_errors


def test_the_head_of_the_tests_is_that_of_the_product() -> None:
    assert problems(HEAD.format(kind="Module") + "  containers: {a: {image: x}}\n") == []
