"""What is shown of documents: every shape that can hold a value, and that none survives."""

from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncret.config.meta import Document
from syncret.daemon.core.redact import REDACTED, redacted

PLANTED = "planted-4711"
MANAGED = {"labels": {"reconcile.external-secrets.io/managed": "true"}}
HASH = "reconcile.external-secrets.io/data-hash"
APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def leaves(value: object) -> bool:
    """Whether the planted value, plain or in base64, is anywhere in it."""
    text = repr(value)
    return PLANTED in text or b64encode(PLANTED.encode()).decode() in text


Shape = st.SearchStrategy[Any]


def shape(fields: dict[str, Shape]) -> Shape:
    """Objects with these fields."""
    return st.fixed_dictionaries(fields)


planted = st.just(PLANTED)
names = st.from_regex(r"[a-z]{1,8}", fullmatch=True)
shapes: Shape = st.recursive(
    planted,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)
values = st.dictionaries(names, planted, max_size=4)
entries = st.lists(shape({"key": names, "value": planted}), max_size=4)

DOCUMENTS: list[Shape] = [
    shape({"kind": st.just("Secret"), "data": values, "stringData": values}),
    shape(
        {
            "kind": st.sampled_from(["SecretStore", "ClusterSecretStore"]),
            "spec": shape({"provider": shape({"fake": shape({"data": entries})})}),
        }
    ),
    shape({"kind": st.just("Fake"), "spec": shape({"data": values})}),
    shape(
        {
            "kind": st.just("ClusterGenerator"),
            "spec": shape(
                {
                    "kind": st.just("Fake"),
                    "generator": shape({"fakeSpec": shape({"data": values})}),
                }
            ),
        }
    ),
    shape(
        {
            "kind": st.sampled_from(["ConfigMap", "Thing"]),
            "metadata": st.just(MANAGED),
            "data": shapes,
            "binaryData": shapes,
            "spec": shapes,
        }
    ),
    shape(
        {
            "kind": names,
            "metadata": shape({"annotations": shape({HASH: planted, APPLIED: planted})}),
        }
    ),
]


@given(st.one_of(*DOCUMENTS))
def test_no_planted_value_survives(document: Document) -> None:
    before = repr(document)
    assert not leaves(redacted(document))
    assert repr(document) == before, "what is given is not changed"


@pytest.mark.parametrize(
    ("document", "shown"),
    [
        pytest.param(
            {"kind": "Secret", "data": {"a": "x"}, "type": "Opaque"},
            {"kind": "Secret", "data": {"a": REDACTED}, "type": "Opaque"},
            id="the keys of a Secret stay",
        ),
        pytest.param(
            {"kind": "Secret", "data": None}, {"kind": "Secret", "data": None}, id="an empty Secret"
        ),
        pytest.param(
            {"kind": "ConfigMap", "data": {"a": "x"}},
            {"kind": "ConfigMap", "data": {"a": "x"}},
            id="what nobody wrote for a secret is shown",
        ),
        pytest.param(
            {"kind": "SecretStore", "spec": {"provider": {"fake": {"data": [{"key": "k"}]}}}},
            {"kind": "SecretStore", "spec": {"provider": {"fake": {"data": [{"key": "k"}]}}}},
            id="entries that hold no value",
        ),
        pytest.param(
            {"kind": "SecretStore", "spec": {"provider": {"vault": {"server": "s"}}}},
            {"kind": "SecretStore", "spec": {"provider": {"vault": {"server": "s"}}}},
            id="a store that refers to its values",
        ),
        pytest.param(
            {"kind": "SecretStore", "spec": None}, {"kind": "SecretStore", "spec": None}, id="no spec"
        ),
        pytest.param(
            {"kind": "Secret", "immutable": True, "type": "Opaque"},
            {"kind": "Secret", "immutable": True, "type": "Opaque"},
            id="what is no value of a Secret is shown",
        ),
        pytest.param({"kind": "Fake", "spec": None}, {"kind": "Fake", "spec": None}, id="an empty generator"),
        pytest.param(
            {"kind": "Thing", "metadata": MANAGED, "spec": {"n": 1, "a": ["x", {"b": "y"}]}},
            {"kind": "Thing", "metadata": MANAGED, "spec": {"n": 1, "a": [REDACTED, {"b": REDACTED}]}},
            id="numbers of a managed object stay",
        ),
        pytest.param(
            {"kind": "Secret", "metadata": {"name": "s", "annotations": {HASH: "0", "mine": "1"}}},
            {"kind": "Secret", "metadata": {"name": "s", "annotations": {HASH: REDACTED, "mine": "1"}}},
            id="the fingerprint goes, other annotations stay",
        ),
    ],
)
def test_shapes(document: Document, shown: Document) -> None:
    assert redacted(document) == shown


@pytest.mark.parametrize(
    "wrong", [PLANTED, [PLANTED], {"x": PLANTED}, {"x": [PLANTED]}, {"x": {"y": PLANTED}}]
)
@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("Secret", "data"),
        ("Secret", "stringData"),
        ("Secret", "stringdata"),
        ("Secret", "immutable"),
        ("SecretStore", "spec.provider.fake"),
        ("SecretStore", "spec.provider.fake.data"),
        ("SecretStore", "spec.provider.fake.dta"),
        ("ClusterSecretStore", "spec.provider.fake.validationResult.x"),
        ("Fake", "spec.data"),
        ("Fake", "spec.dta"),
        ("ClusterGenerator", "spec.generator.fakeSpec"),
        ("ClusterGenerator", "spec.generator.fakeSpec.data"),
    ],
)
def test_a_malformed_document_shows_no_value_either(kind: str, path: str, wrong: object) -> None:
    *parents, name = path.split(".")
    document: Document = {name: wrong}
    for parent in reversed(parents):
        document = {parent: document}
    assert not leaves(redacted({"kind": kind, **document}))


@pytest.mark.parametrize(
    "entry",
    [
        PLANTED,
        [PLANTED],
        {"value": [PLANTED]},
        {"valeu": PLANTED},
        {"key": [PLANTED]},
        {"valueMap": {"k": PLANTED}},
    ],
)
def test_a_malformed_entry_of_a_store_shows_no_value_either(entry: object) -> None:
    assert not leaves(redacted({"kind": "SecretStore", "spec": {"provider": {"fake": {"data": [entry]}}}}))


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(
            {"kind": "SecretStore", "spec": {"provider": {"webhook": {"headers": {"x": PLANTED}}}}},
            id="a store",
        ),
        pytest.param({"kind": "ClusterGenerator", "spec": {"generator": {"x": PLANTED}}}, id="a generator"),
        pytest.param({"kind": "Thing", "rules": [{"x": PLANTED}]}, id="beside spec and data"),
    ],
)
def test_what_a_template_wrote_is_hidden_wherever_it_stands(document: Document) -> None:
    assert not leaves(redacted({**document, "metadata": MANAGED}))
