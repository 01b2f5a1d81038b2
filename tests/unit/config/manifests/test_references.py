import pytest

from syncret.config.manifests.references import missing_references
from syncret.config.meta import Document, ref_of
from syncret.config.schema.admission import admit
from tests.unit.config.support import CATALOG, core, document, external_secret, push_secret, store


def admitted(given: Document) -> Document:
    result = admit(given, CATALOG).document
    assert result is not None
    return result


def missing(first: Document, *others: Document) -> list[str]:
    documents = [admitted(each) for each in (first, *others)]
    return [
        f"{each.path} {each.message.split()[0]}"
        for each in missing_references(documents).get(ref_of(documents[0]), ())
    ]


def named(given: Document, name: str) -> Document:
    return {**given, "metadata": {**given["metadata"], "name": name}}


GENERATOR = {"sourceRef": {"generatorRef": {"kind": "UUID", "name": "u"}}}
CLUSTER_GENERATOR = {"sourceRef": {"generatorRef": {"kind": "ClusterGenerator", "name": "u"}}}
VAULT = {"vault": {"server": "x", "auth": {"token": {"name": "t", "key": "k"}}}}
TEMPLATE: Document = {"template": {"templateFrom": [{"secret": {"name": "t", "items": []}}]}}


@pytest.mark.parametrize(
    ("given", "others", "expected"),
    [
        pytest.param(external_secret(), [], ["spec.secretStoreRef.name SecretStore/default/s"], id="store"),
        pytest.param(external_secret(), [named(store(), "s")], [], id="store given"),
        pytest.param(
            external_secret(secretStoreRef={"name": "s", "kind": "ClusterSecretStore"}),
            [named(store(), "s")],
            ["spec.secretStoreRef.name ClusterSecretStore/s"],
            id="store of the other kind",
        ),
        pytest.param(
            external_secret(secretStoreRef=None, data=[], dataFrom=[GENERATOR, CLUSTER_GENERATOR]),
            [],
            [
                "spec.dataFrom[0].sourceRef.generatorRef.name UUID/default/u",
                "spec.dataFrom[1].sourceRef.generatorRef.name ClusterGenerator/u",
            ],
            id="generators",
        ),
        pytest.param(
            external_secret(target=TEMPLATE),
            [named(store(), "s")],
            ["spec.target.template.templateFrom[0].secret.name Secret/default/t"],
            id="template",
        ),
        pytest.param(
            push_secret(),
            [],
            [
                "spec.secretStoreRefs[0].name SecretStore/default/s",
                "spec.selector.secret.name Secret/default/src",
            ],
            id="push",
        ),
        pytest.param(
            push_secret(),
            [named(store(), "s"), named(external_secret(target={"name": "src"}), "es")],
            [],
            id="push of what an ExternalSecret makes",
        ),
        pytest.param(
            push_secret(), [named(store(), "s"), named(core("Secret"), "src")], [], id="push of a Secret"
        ),
        pytest.param(
            document(
                "ClusterExternalSecret",
                {"externalSecretSpec": {"secretStoreRef": {"name": "s"}, "dataFrom": [CLUSTER_GENERATOR]}},
            ),
            [],
            ["spec.externalSecretSpec.dataFrom[0].sourceRef.generatorRef.name ClusterGenerator/u"],
            id="only what stands above namespaces",
        ),
        pytest.param(
            store(VAULT), [], ["spec.provider.vault.auth.token.name Secret/default/t"], id="credentials"
        ),
        pytest.param(store(VAULT), [named(core("Secret"), "t")], [], id="credentials given"),
        pytest.param(store(VAULT, kind="ClusterSecretStore"), [], [], id="credentials of any namespace"),
    ],
)
def test_references_to_what_is_not_given(
    given: Document, others: list[Document], expected: list[str]
) -> None:
    assert missing(given, *others) == expected


def test_they_are_warnings_that_name_the_nearest() -> None:
    given = [admitted(external_secret(secretStoreRef={"name": "vualt"})), admitted(named(store(), "vault"))]
    (problems,) = missing_references(given).values()
    assert [(each.fatal, each.hint) for each in problems] == [(False, "did you mean vault?")]


def test_documents_that_are_wrong_do_no_harm() -> None:
    broken = external_secret(dataFrom=[3, {"sourceRef": []}], data={}, target="x", secretStoreRef=[])
    assert missing_references([broken, {}, {"metadata": 1}, store(3)]) == {}
