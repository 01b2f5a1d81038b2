"""Any input is validated: nothing raises, and the input is not changed."""

from copy import deepcopy

from hypothesis import given
from hypothesis import strategies as st

from syncret.config.fields import Json
from syncret.config.manifests.loader import load_bytes
from syncret.config.manifests.references import missing_references
from syncret.config.meta import Document, is_object
from syncret.config.schema.admission import admit
from tests.unit.config.support import CATALOG, core, document, external_secret, push_secret, store

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["1h", "1d", "Owner", "Delete", "a", "YQ==", "SecretStore"])
)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
)
SOUND = [
    external_secret(
        dataFrom=[{"extract": {"key": "k"}, "rewrite": [{"regexp": {"source": "a", "target": "b"}}]}],
        target={"name": "t", "template": {"templateFrom": [{"literal": "x", "target": "Data"}]}},
        syncWindows={"kind": "allow", "windows": [{"schedule": "@daily", "duration": "1h"}]},
    ),
    push_secret(data=[{"match": {"remoteRef": {"remoteKey": "r"}}}], dataTo=[{"storeRef": {"name": "s"}}]),
    store(conditions=[{"namespaceRegexes": ["a"], "namespaceSelector": {"matchLabels": {}}}]),
    store(
        {"vault": {"server": "x", "auth": {"token": {"name": "t", "key": "k"}}}}, kind="ClusterSecretStore"
    ),
    document("ClusterExternalSecret", {"externalSecretSpec": {}, "namespaceSelectors": [{}]}),
    core("Secret", data={"a": "YQ=="}, stringData={"b": "c"}, immutable=True, type="kubernetes.io/tls"),
    core("ConfigMap", data={"a": "b"}, binaryData={"c": "ZA=="}),
    core("Namespace"),
    {
        "apiVersion": "generators.external-secrets.io/v1alpha1",
        "kind": "ClusterGenerator",
        "metadata": {"name": "g", "labels": {"a": "b"}},
        "spec": {"kind": "Password", "generator": {"passwordSpec": {"length": 3}}},
    },
]


def places(value: Json, above: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The way to every value below this one."""
    found: list[tuple[str | int, ...]] = [above] if above else []
    entries: Json = value.items() if is_object(value) else enumerate(value if value.__class__ is list else ())
    for step, item in entries:
        found += places(item, (*above, step))
    return found


@st.composite
def damaged(draw: st.DrawFn) -> Document:
    """A sound document in which one or two values were replaced by anything at all."""
    made: Document = deepcopy(draw(st.sampled_from(SOUND)))
    for _ in range(draw(st.integers(min_value=1, max_value=2))):
        *above, last = draw(st.sampled_from(places(made)))
        parent: Json = made
        for step in above:
            parent = parent[step]
        parent[last] = draw(JSON)
    return made


@given(JSON)
def test_any_value_is_validated(value: Json) -> None:
    assert not admit(value, CATALOG).accepted


@given(damaged(), st.sampled_from(SOUND))
def test_damaged_documents_are_validated(value: Document, previous: Document) -> None:
    before = repr(value)
    admitted = admit(value, CATALOG, previous)
    missing_references([each for each in (admitted.document,) if each is not None])
    assert repr(value) == before


@given(st.binary(max_size=200) | st.text(alphabet="a:-[]{}&*<#'\"|>? \n\t%!0.", max_size=200).map(str.encode))
def test_any_text_is_loaded(data: bytes) -> None:
    for name in ("a.yaml", "a.json"):
        for loaded in load_bytes(name, data):
            assert loaded.line_of("spec.data[0]") >= 1
            assert (loaded.document is None) <= bool(loaded.problems)
