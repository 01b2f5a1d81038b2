"""Our CRDs beside those of the External Secrets Operator: the same fields, and samples that both accept.

The operator's are those of the release whose Go packages are compared with, too. What it got later is told by
the corpus and by manifests.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pytest
import yaml

from syncret.config.fields import Json
from syncret.config.meta import Document, is_object
from syncret.config.schema.crds import crd
from syncret.providers.registry import Registry
from tests.real.apiserver.samples import KINDS, samples
from tests.real.apiserver.server import Server, server_with_crds
from tests.suites.oracle.client import MODULE
from tests.support.servers.golang import need_go, sources_of
from tests.support.servers.kube.crds import CRDS, Definition, in_group
from tests.support.servers.kube.kubectl import kubectl

pytestmark = pytest.mark.slow

REGISTRY: Final = Registry()
OPERATOR: Final = "github.com/external-secrets/external-secrets"
LATER: Final = ("BeyondtrustWorkloadCredentialsDynamicSecret", "GitlabDeployToken")
"""Kinds that the operator got after that release."""
LATER_COLUMN: Final = "Last Sync"
GONE: Final = {"spec.provider.device42"}
"""Fields that it has dropped since, and we have not. It has dropped `alibaba`, too, which we have."""


@pytest.fixture(scope="module")
def server() -> Server:
    return server_with_crds(REGISTRY)


@pytest.fixture(scope="module")
def theirs() -> Mapping[str, Document]:
    """The operator's CRDs by kind."""
    need_go()
    files = (sources_of(MODULE, OPERATOR) / "config" / "crds" / "bases").glob("*_*.yaml")
    found = [yaml.load(path.read_text(), yaml.CSafeLoader) for path in files]
    return {each["spec"]["names"]["kind"]: each for each in found}


@pytest.fixture(scope="module")
def operator(server: Server, theirs: Mapping[str, Document]) -> Mapping[str, Definition]:
    """These, on the same server, in groups of the test's own."""
    return {
        name: Definition.put(
            server.api, document, f"operator-{document['spec']['group'].split('.')[0]}.example"
        )
        for name, document in theirs.items()
    }


@pytest.mark.parametrize("name", KINDS)
def test_samples_are_accepted_by_both(server: Server, operator: Mapping[str, Definition], name: str) -> None:
    found = [document for document in samples() if document["kind"] == name]
    assert found
    for document in found:
        assert server.asked(document)[1] == "", document
        if name not in LATER:
            answer = operator[name].asked(document)
            assert answer.status == 201, answer


def test_ours_take_their_place(server: Server, theirs: Mapping[str, Document]) -> None:
    """Over an installation of the operator, whose CRD belongs to another field manager and has objects."""
    group = "replaced.example"
    before = Definition.put(server.api, theirs["ExternalSecret"], group)
    sample = next(each for each in samples() if each["kind"] == "ExternalSecret")
    server.api.create(before.collection("v1"), {**sample, "apiVersion": f"{group}/v1"})

    ours = in_group(crd(KINDS["ExternalSecret"], REGISTRY), group)
    kubectl(server.api, "apply", "--server-side", "--force-conflicts", "-f", "-", documents=yaml.dump(ours))
    fresh = server.api.create(f"{CRDS}?dryRun=All", in_group(ours, "fresh.example"))
    standing = server.api.get(f"{CRDS}/{before.plural}.{group}") or {}
    assert standing["spec"]["versions"] == fresh["spec"]["versions"], "nothing of theirs is left"
    path = f"{before.collection('v1')}/sample"
    status = {"conditions": [{"type": "Ready", "status": "True"}]}
    written = server.api.request("PATCH", f"{path}/status", {"status": status})
    assert written.status == 200
    assert written.body["spec"]["dataFrom"][0]["extract"]["key"] == "database/prod"


def test_no_kind_is_missing(theirs: Mapping[str, Document]) -> None:
    assert KINDS.keys() - set(LATER) == theirs.keys()


@pytest.mark.parametrize("name", [name for name in KINDS if name not in LATER])
def test_names_columns_and_versions_are_theirs(theirs: Mapping[str, Document], name: str) -> None:
    their, our = theirs[name], crd(KINDS[name], REGISTRY)
    assert our["metadata"]["labels"] == their["metadata"]["labels"]
    for member in ("group", "names", "scope"):
        assert our["spec"][member] == their["spec"][member]
    versions = {each["name"]: each for each in their["spec"]["versions"]}
    assert [each["name"] for each in our["spec"]["versions"]] == list(versions)
    for version in our["spec"]["versions"]:
        known = versions[version["name"]]
        assert _facts(version) == _facts(known)


def _facts(version: Mapping[str, Any]) -> Mapping[str, Any]:
    columns: Sequence[Mapping[str, Any]] = version.get("additionalPrinterColumns", ())
    return {
        "columns": [
            (each["name"], each["type"], each["jsonPath"]) for each in columns if each["name"] != LATER_COLUMN
        ],
        **{member: version.get(member) for member in ("served", "storage", "subresources", "deprecated")},
    }


@pytest.mark.parametrize("name", [name for name in KINDS if name not in LATER])
def test_no_field_is_missing(server: Server, theirs: Mapping[str, Document], name: str) -> None:
    stored = next(each for each in theirs[name]["spec"]["versions"] if each["storage"])
    missing = set(_fields(stored["schema"]["openAPIV3Schema"])) - set(_fields(server.schemas[name]))
    gone = {path for path in missing if any(f"{path}.".startswith(f"{each}.") for each in GONE)}
    assert missing == gone


def _fields(schema: Json, path: str = "") -> Iterator[str]:
    """The paths of all fields: `spec.data[].secretKey`."""
    if path:
        yield path
    for name, inner in schema.get("properties", {}).items():
        yield from _fields(inner, f"{path}.{name}".removeprefix("."))
    for member, mark in (("items", "[]"), ("additionalProperties", "{}")):
        if is_object(schema.get(member)):
            yield from _fields(schema[member], f"{path}{mark}")
