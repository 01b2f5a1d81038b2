"""ExternalSecret: what is written, by its policies, what is there and what was fetched."""

from base64 import b64encode
from collections.abc import Callable

import pytest

from syncret.config.fields import Json
from syncret.config.meta import Document
from syncret.config.resources.external_secret import ExternalSecret
from syncret.daemon.core.needs import Answer, Need, needs
from syncret.daemon.core.ownership import CREATED_BY, MANAGED, Refusal, created_by
from syncret.daemon.core.plan.actions import Verb
from syncret.daemon.core.plan.external_secret.decide import Plan, decide, not_decided
from syncret.daemon.core.plan.external_secret.next_step import Observed
from syncret.daemon.core.rendering import Rendering
from syncret.providers.errors import Denied, Malformed
from syncret.providers.values import SecretBytes
from syncret.providers.work import Work
from tests.unit.daemon.core.plan.external_secret.resources import READ, observed, plain, resource, written

CONFIG_MAP = {"manifest": {"apiVersion": "v1", "kind": "ConfigMap"}}
PLAIN = resource()
THERE = plain({"b": "MQ=="}, labels={MANAGED: "true"})
OWNED_BY_ANOTHER = plain(
    {},
    labels={MANAGED: "true"},
    ownerReferences=[
        {
            "apiVersion": "external-secrets.io/v1",
            "kind": "ExternalSecret",
            "name": "y",
            "uid": "u-2",
            "controller": True,
        }
    ],
)
CONTROLLED = plain(
    {},
    labels={MANAGED: "true"},
    ownerReferences=[
        {"apiVersion": "example.com/v1", "kind": "Thing", "name": "t", "uid": "u-3", "controller": True}
    ],
)
VALUE = SecretBytes(b"v")
TEMPLATE = {"template": {"data": {"a": "{{ .a }}"}}}


def keys(text: str) -> Callable[[str], str]:
    """A transform that ignores its template."""
    del text
    return str.upper


def render(name: str, text: str, data: object) -> bytes:
    raise Malformed(f"{name}: does not render")


def plan(
    wanted: ExternalSecret,
    known: Observed,
    answer: Answer = VALUE,
    *,
    rendering: Rendering | None = None,
) -> Plan:
    """The plan where every need has this answer."""
    fetched: dict[Need, Answer] = dict.fromkeys(needs(wanted.spec), answer)
    return decide(wanted, known, fetched, Work(), render=rendering, transform=keys)


def data(value: str) -> dict[str, str]:
    return {"a": b64encode(value.encode()).decode()}


@pytest.mark.parametrize(
    ("policy", "target", "verb", "expected", "verdict"),
    [
        pytest.param("Owner", None, Verb.CREATE, data("v"), ("SecretSynced", "x"), id="Owner creates"),
        pytest.param("Owner", THERE, Verb.UPDATE, data("v"), ("SecretSynced", "x"), id="Owner takes over"),
        pytest.param("Orphan", None, Verb.CREATE, data("v"), ("SecretSynced", "x"), id="Orphan creates"),
        pytest.param("Orphan", THERE, Verb.UPDATE, data("v"), ("SecretSynced", "x"), id="Orphan replaces"),
        pytest.param(
            "CreateOrMerge", None, Verb.CREATE, data("v"), ("SecretSynced", "x"), id="CreateOrMerge creates"
        ),
        pytest.param(
            "CreateOrMerge",
            THERE,
            Verb.UPDATE,
            data("v") | {"b": "MQ=="},
            ("SecretSynced", "x"),
            id="CreateOrMerge adds",
        ),
        pytest.param("Merge", None, None, None, ("SecretMissing", ""), id="Merge waits"),
        pytest.param(
            "Merge", THERE, Verb.UPDATE, data("v") | {"b": "MQ=="}, ("SecretSynced", "x"), id="Merge adds"
        ),
        pytest.param("None", None, None, None, ("SecretSynced", ""), id="None makes nothing"),
        pytest.param("None", THERE, None, None, ("SecretSynced", ""), id="None changes nothing"),
    ],
)
def test_creation_policies(
    policy: str, target: Document | None, verb: Verb | None, expected: Json, verdict: tuple[str, str]
) -> None:
    found = plan(resource(target={"creationPolicy": policy}), observed(target))
    assert [each.verb for each in found.actions] == ([verb] if verb else [])
    assert [(each.document or {})["data"] for each in found.actions] == ([expected] if verb else [])
    assert [each.before for each in found.actions] == ([target] if verb else [])
    assert (found.verdict.ok, found.verdict.error) == (True, None)
    assert (found.verdict.reason, found.verdict.bound) == verdict
    assert found.origins == {"a": "spec.data[0]"}


def test_a_target_that_is_as_it_should_be_is_not_written() -> None:
    found = plan(PLAIN, observed(written(PLAIN, {"a": b"v"})))
    assert found.actions == ()
    assert (found.verdict.reason, found.verdict.bound) == ("SecretSynced", "x")


@pytest.mark.parametrize(
    ("target", "message"),
    [
        pytest.param(OWNED_BY_ANOTHER, "target is owned by another ExternalSecret", id="ours"),
        pytest.param(CONTROLLED, "failed to take ownership of target secret", id="another controller's"),
    ],
)
def test_a_target_of_another_owner_is_refused_and_bound(target: Document, message: str) -> None:
    found = plan(PLAIN, observed(target))
    assert found.actions == ()
    assert isinstance(found.verdict.error, Refusal)
    assert (found.verdict.ok, found.verdict.message, found.verdict.bound) == (False, message, "x")


@pytest.mark.parametrize(
    ("target", "verbs", "verdict"),
    [
        pytest.param(
            {"deletionPolicy": "Retain"},
            [],
            (
                "SecretSynced",
                "secret retained due to DeletionPolicy=Retain: nothing in SecretStore/s matches .",
            ),
            id="Retain",
        ),
        pytest.param(
            {"deletionPolicy": "Delete"},
            [Verb.DELETE],
            ("SecretDeleted", "secret deleted due to DeletionPolicy=Delete"),
            id="Delete",
        ),
        pytest.param(
            {"deletionPolicy": "Delete", "creationPolicy": "Orphan"},
            [],
            ("SecretSyncedError", "could not delete secret"),
            id="Delete what is not owned",
        ),
        pytest.param(
            {"deletionPolicy": "Merge"}, [Verb.UPDATE], ("SecretSynced", "secret synced"), id="Merge"
        ),
    ],
)
def test_without_data(target: Document, verbs: list[Verb], verdict: tuple[str, str]) -> None:
    wanted = resource(target=target, data=[], dataFrom=[{"find": {"name": {"regexp": "."}}}])
    found = plan(wanted, observed(written(PLAIN, {"a": b"v"})), {})
    assert [each.verb for each in found.actions] == verbs
    assert (found.verdict.reason, found.verdict.message) == verdict
    assert isinstance(found.verdict.error, Refusal) == (not found.verdict.ok)


def test_without_data_and_without_a_target_nothing_is_deleted() -> None:
    wanted = resource(target={"deletionPolicy": "Delete"})
    found = plan(wanted, observed(), None)
    assert found.actions == ()
    assert found.missing == ("spec.data[0]",)
    assert found.verdict.reason == "SecretDeleted"


@pytest.mark.parametrize(
    ("wanted", "answer", "detail"),
    [
        pytest.param(PLAIN, Denied("no"), "spec.data[0]: no", id="an answer that is an error"),
        pytest.param(
            PLAIN, None, "spec.data[0]: k does not exist in SecretStore/s", id="absence under Retain"
        ),
        pytest.param(
            resource(data=[{"secretKey": "a", "remoteRef": {"key": "k", "decodingStrategy": "Base64"}}]),
            SecretBytes(b"%"),
            "spec.data[0]:",
            id="a value that does not decode",
        ),
    ],
)
def test_what_cannot_be_fetched_changes_nothing(wanted: ExternalSecret, answer: Answer, detail: str) -> None:
    found = plan(wanted, observed(THERE), answer)
    assert found.actions == ()
    assert found.verdict.message == "could not get secret data from provider"
    assert str(found.verdict.error).startswith(detail)
    assert found.verdict.bound == ""


# -------------------------------------------------------------------------------------------------- templates
@pytest.mark.parametrize(
    ("target", "there", "message", "bound"),
    [
        pytest.param(TEMPLATE, None, "could not update secret", "", id="of a Secret"),
        pytest.param(TEMPLATE, THERE, "could not update secret", "x", id="of a Secret that is there"),
        pytest.param(
            TEMPLATE | CONFIG_MAP, None, "could not apply template to manifest", "", id="of another kind"
        ),
        pytest.param(
            TEMPLATE | CONFIG_MAP | {"creationPolicy": "None"},
            None,
            "could not apply template to manifest",
            "",
            id="even where nothing is written",
        ),
    ],
)
def test_a_template_that_does_not_render(
    target: Document, there: Document | None, message: str, bound: str
) -> None:
    rendering = Rendering(render, {}, "default", Work())
    wanted, known = resource(target=target), observed(there)
    found = plan(wanted, known, rendering=rendering)
    assert found.actions == ()
    assert (found.verdict.message, found.verdict.bound) == (message, bound)
    late = not_decided(wanted, known, Malformed("too slow"))
    assert (late.verdict.message, late.verdict.bound) == (message, bound)


def test_a_transform_that_takes_too_long_is_a_failure_to_fetch() -> None:
    found = not_decided(PLAIN, observed(), Malformed("too slow"))
    assert found.verdict.message == "could not get secret data from provider"


# -------------------------------------------------------------------------------------------------- immutable
def test_of_an_immutable_secret_only_metadata_is_written() -> None:
    there = written(PLAIN, {"a": b"old"}, immutable=True)
    found = plan(resource(metadata={"labels": {"team": "blue"}}), observed(there))
    (update,) = found.actions
    assert update.document is not None
    assert update.document["metadata"]["labels"]["team"] == "blue"
    assert update.document["data"] == data("old")
    assert update.event is None
    assert found.verdict.message == "could not update secret, target is immutable"
    assert found.verdict.bound == "x"
    assert isinstance(found.verdict.error, Refusal)


def test_an_immutable_secret_that_is_as_it_should_be() -> None:
    wanted = resource(target={"immutable": True})
    found = plan(wanted, observed(written(wanted, {"a": b"v"})), SecretBytes(b"new"))
    assert found.actions == ()
    assert found.verdict.ok


# ------------------------------------------------------------------------------------------ former targets
OURS = {CREATED_BY: created_by("default", "x")}


@pytest.mark.parametrize(
    ("target", "labels", "deleted"),
    [
        pytest.param({}, OURS, True, id="Owner"),
        pytest.param({}, {CREATED_BY: "other"}, False, id="it has lost the label since"),
        pytest.param({"creationPolicy": "Orphan"}, OURS, False, id="Orphan"),
        pytest.param(CONFIG_MAP, OURS, False, id="a target of another kind"),
    ],
)
def test_a_target_under_a_former_name_goes_first(
    target: Document, labels: Document, *, deleted: bool
) -> None:
    former = plain({}, name="old", labels=labels)
    found = plan(resource(target=target), observed(former=(former,)))
    assert [(each.verb, each.ref.name) for each in found.actions] == [
        *([(Verb.DELETE, "old")] if deleted else []),
        (Verb.CREATE, "x"),
    ]
    for each in found.actions[:-1]:
        assert each.refused is not None
        assert (each.refused.message, each.refused.bound) == ("could not delete orphaned secrets", "")


def test_a_former_target_goes_even_if_the_new_one_is_refused() -> None:
    former = plain({}, name="old", labels=OURS)
    found = plan(PLAIN, observed(OWNED_BY_ANOTHER, former=(former,)))
    assert [each.ref.name for each in found.actions] == ["old"]
    assert not found.verdict.ok


def test_a_former_target_stays_while_nothing_can_be_fetched() -> None:
    found = plan(PLAIN, observed(former=(plain({}, name="old", labels=OURS),)), Denied("no"))
    assert found.actions == ()


def test_what_is_read_twice_is_decided_once() -> None:
    """Both entries have the same need, and so the same answer."""
    wanted = resource(data=[READ, READ | {"secretKey": "b"}])
    found = plan(wanted, observed())
    assert found.origins == {"a": "spec.data[0]", "b": "spec.data[1]"}
