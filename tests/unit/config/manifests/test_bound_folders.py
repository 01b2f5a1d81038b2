"""Which objects a bound folder may define."""

import pytest

from syncret.config.manifests.bound_folders import outside_bounds, target_outside_bounds
from syncret.config.meta import Document, ObjectRef
from syncret.config.resources.kinds import EXTERNAL_SECRET, Kinds
from syncret.config.settings import BoundFolder
from tests.unit.config.support import CATALOG

ES = "external-secrets.io"
GENERATORS = "generators.external-secrets.io"


def bound(*namespaces: str, kinds: tuple[str, ...] = ()) -> BoundFolder:
    return BoundFolder(path="/tenants/a", namespaces=namespaces, kinds=kinds)


@pytest.mark.parametrize(
    ("folder", "ref"),
    [
        pytest.param(bound("team-a"), ObjectRef(ES, "SecretStore", "team-a", "x"), id="a name"),
        pytest.param(bound("b", "team-*"), ObjectRef("", "Secret", "team-a-prod", "x"), id="a star"),
        pytest.param(bound("*"), ObjectRef(GENERATORS, "Password", "any", "x"), id="every namespace"),
        pytest.param(
            bound("team-a", kinds=("ExternalSecret",)),
            ObjectRef(ES, "ExternalSecret", "team-a", "x"),
            id="kind",
        ),
        pytest.param(
            bound("team-a", kinds=("ClusterSecretStore",)),
            ObjectRef(ES, "ClusterSecretStore", "", "x"),
            id="a cluster-scoped kind that is named",
        ),
        pytest.param(
            bound("team-*", kinds=("Namespace",)),
            ObjectRef("", "Namespace", "", "team-a"),
            id="own namespace",
        ),
    ],
)
def test_what_is_within_the_bounds(folder: BoundFolder, ref: ObjectRef) -> None:
    assert outside_bounds(ref, folder) is None


@pytest.mark.parametrize(
    ("folder", "ref", "told"),
    [
        pytest.param(
            bound("team-a", "b-*"),
            ObjectRef(ES, "SecretStore", "team-b", "x"),
            "metadata.namespace: team-b is not a namespace of /tenants/a "
            "(the setting manifests binds it to team-a, b-*)",
            id="namespace",
        ),
        pytest.param(
            bound("team-a"),
            ObjectRef("", "Secret", "xteam-a-evil", "x"),
            "metadata.namespace: xteam-a-evil is not a namespace of /tenants/a "
            "(the setting manifests binds it to team-a)",
            id="whole-names-are-meant",
        ),
        pytest.param(
            bound("*"),
            ObjectRef(ES, "ClusterSecretStore", "", "x"),
            "kind: /tenants/a may not define a ClusterSecretStore, which is cluster-scoped "
            "(define it elsewhere; the setting manifests would have to name the kind)",
            id="cluster-scoped",
        ),
        pytest.param(
            bound("team-a"),
            ObjectRef("", "Namespace", "", "team-a"),
            "kind: /tenants/a may not define a Namespace, which is cluster-scoped "
            "(define it elsewhere; the setting manifests would have to name the kind)",
            id="its-own-namespace",
        ),
        pytest.param(
            bound("team-a", kinds=("Namespace",)),
            ObjectRef("", "Namespace", "", "team-b"),
            "metadata.name: team-b is not a namespace of /tenants/a "
            "(the setting manifests binds it to team-a)",
            id="anothers-namespace",
        ),
        pytest.param(
            bound("team-a", kinds=("SecretStore", "ExternalSecret")),
            ObjectRef("", "Secret", "team-a", "x"),
            "kind: /tenants/a may not define a Secret "
            "(the setting manifests lets it define SecretStore, ExternalSecret)",
            id="kind",
        ),
        pytest.param(
            bound("team-a"),
            ObjectRef("syncret.dev", "Delivery", "team-a", "x"),
            "kind: /tenants/a may not define a Delivery, which writes files of this host "
            "(define it elsewhere; the setting manifests would have to name the kind, with deliverTo and "
            "units)",
            id="delivery",
        ),
    ],
)
def test_what_is_outside_says_field_and_remedy(folder: BoundFolder, ref: ObjectRef, told: str) -> None:
    assert str(outside_bounds(ref, folder)) == told


def writes(api_version: str, kind: str) -> Document:
    return {"spec": {"target": {"manifest": {"apiVersion": api_version, "kind": kind}}}}


@pytest.mark.parametrize(
    ("api_version", "kind", "kinds", "may"),
    [
        pytest.param("v1", "ConfigMap", ("ExternalSecret",), True, id="values"),
        pytest.param("apps/v1", "Deployment", ("ExternalSecret",), True, id="a-kind-that-does-nothing-here"),
        pytest.param(f"{ES}/v1", "SecretStore", (), True, id="what-it-may-define"),
        pytest.param(f"{ES}/v1", "SecretStore", ("ExternalSecret",), False, id="what-it-may-not"),
        pytest.param(f"{ES}/v1", "ClusterSecretStore", (), False, id="cluster-scoped"),
        pytest.param("v1", "Namespace", (), False, id="a-namespace"),
        pytest.param(
            "v1", "Namespace", ("ExternalSecret", "Namespace"), True, id="a-namespace-that-is-named"
        ),
        pytest.param(f"{GENERATORS}/v1alpha1", "ClusterGenerator", (), False, id="generator"),
        pytest.param("syncret.dev/v1alpha1", "Delivery", (), False, id="delivery"),
        pytest.param("syncret.dev/v1alpha1", "Delivery", ("Delivery",), False, id="a-delivery-that-is-named"),
    ],
)
def test_what_an_external_secret_writes_is_held_to_the_bounds(
    api_version: str, kind: str, kinds: tuple[str, ...], *, may: bool
) -> None:
    ref = EXTERNAL_SECRET.ref("team-a", "x")
    document = writes(api_version, kind)
    problem = target_outside_bounds(ref, document, bound("team-a", kinds=kinds), Kinds(CATALOG))
    assert (problem is None) is may
    assert problem is None or problem.path == "spec.target.manifest.kind"


@pytest.mark.parametrize("document", [{}, {"spec": {"target": []}}, writes("", "")], ids=str)
def test_most_write_a_secret(document: Document) -> None:
    ref = EXTERNAL_SECRET.ref("team-a", "x")
    assert target_outside_bounds(ref, document, bound("team-a"), Kinds(CATALOG)) is None
