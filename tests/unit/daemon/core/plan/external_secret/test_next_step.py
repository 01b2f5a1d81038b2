"""ExternalSecret: what is next, by its spec, its status and what is known."""

import pytest

from syncret.config.meta import Document
from syncret.config.resources.external_secret import ExternalSecret, GeneratorRef
from syncret.daemon.core.needs import Read, StoreName
from syncret.daemon.core.ownership import DATA_HASH, MANAGED
from syncret.daemon.core.plan.actions import Options, Verb, Verdict
from syncret.daemon.core.plan.external_secret.next_step import (
    AddFinalizer,
    CleanUp,
    Conclude,
    Fetch,
    Ignore,
    MarkTarget,
    Observed,
    ReadTarget,
    Sleep,
    Step,
    Wait,
    next_step,
)
from syncret.daemon.core.plan.secret_store import GeneratorSummary
from syncret.providers.errors import Denied, Malformed, SyncError, Unavailable
from syncret.providers.values import RemoteRef
from tests.unit.daemon.core.plan.external_secret.resources import (
    NOW,
    READ,
    observed,
    plain,
    resource,
    store,
    synced,
    written,
)

S = StoreName("SecretStore", "s")
GENERATOR = GeneratorRef(kind="Fake", name="g")
NEED = Read(S, RemoteRef("k"))
OPTIONS = Options(spread=False)
GENERIC = Options(spread=False, allow_generic_targets=True)
CONFIG_MAP = {"manifest": {"apiVersion": "v1", "kind": "ConfigMap"}}
DELETED = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
UNREAD = observed(target_was_read=False)
PLAIN = resource()
ONCE = resource(refreshPolicy="CreatedOnce")
OWN = written(PLAIN, {"a": b"v"})
FORGED = written(PLAIN, {"a": b"v"}, data={"a": "Zm9yZ2Vk"})
HALF_AN_HOUR = NOW + 1800
DONE = Conclude(Verdict(reason="SecretSynced", message="secret synced", bound="x"))


@pytest.mark.parametrize(
    ("wanted", "known", "expected"),
    [
        # finalizer and class
        pytest.param(resource(metadata={"finalizers": []}), UNREAD, AddFinalizer(), id="finalizer first"),
        pytest.param(PLAIN, observed(stores={S: store(controller="b")}), Ignore(), id="store of another"),
        pytest.param(
            PLAIN,
            observed(generators={GENERATOR: GeneratorSummary(controller="b")}),
            Ignore(),
            id="generator of another",
        ),
        pytest.param(
            PLAIN,
            observed(generators={GENERATOR: GeneratorSummary()}),
            Fetch((NEED,)),
            id="generator of ours",
        ),
        # when it is due
        pytest.param(
            PLAIN, UNREAD, ReadTarget(unless_settled=True), id="never synced: the target must be known"
        ),
        pytest.param(
            synced(PLAIN, at="2025-12-31T23:00:00Z"),
            observed(target_was_read=False, settled=True),
            Fetch((NEED,)),
            id="its interval is over, and its target is settled",
        ),
        pytest.param(
            synced(PLAIN), UNREAD, ReadTarget(unless_unchanged=True), id="not due: it may be known already"
        ),
        pytest.param(
            synced(PLAIN),
            observed(target_was_read=False, unchanged=True),
            Sleep(HALF_AN_HOUR),
            id="not due, and unchanged",
        ),
        pytest.param(synced(PLAIN), observed(OWN), Sleep(HALF_AN_HOUR), id="not due, and intact"),
        pytest.param(synced(PLAIN), observed(FORGED), Fetch((NEED,)), id="not due, but edited"),
        pytest.param(synced(PLAIN), observed(), Fetch((NEED,)), id="not due, but deleted"),
        pytest.param(
            synced(resource(target={"creationPolicy": "Orphan"})),
            observed(FORGED),
            Sleep(HALF_AN_HOUR),
            id="an Orphan may be edited",
        ),
        pytest.param(synced(ONCE), observed(OWN), Sleep(None), id="synced once"),
        pytest.param(
            synced(PLAIN),
            observed(OWN, refresh_requested=True),
            Fetch((NEED,)),
            id="asked for by an operator",
        ),
        pytest.param(
            synced(PLAIN, at="2025-12-31T23:00:00Z"), observed(OWN), Fetch((NEED,)), id="its interval is over"
        ),
        # a crash before the status
        pytest.param(ONCE, observed(OWN), DONE, id="written by a run that did not say so"),
        pytest.param(resource(refreshInterval="0s"), observed(OWN), DONE, id="likewise, interval 0"),
        pytest.param(
            resource(refreshInterval="0s", refreshPolicy="OnChange"),
            observed(OWN),
            Fetch((NEED,)),
            id="OnChange",
        ),
        pytest.param(PLAIN, observed(OWN), Fetch((NEED,)), id="Periodic"),
        pytest.param(
            ONCE, observed(OWN, refresh_requested=True), Fetch((NEED,)), id="crashed, and asked for since"
        ),
        pytest.param(ONCE, observed(FORGED), Fetch((NEED,)), id="crashed, and edited since"),
        pytest.param(
            resource(refreshPolicy="CreatedOnce", metadata={"uid": "other"}),
            observed(OWN),
            Fetch((NEED,)),
            id="written by a former object of that name",
        ),
        pytest.param(
            resource(refreshPolicy="CreatedOnce", target={"creationPolicy": "Orphan"}),
            observed(OWN),
            Fetch((NEED,)),
            id="crashed, and to be let go",
        ),
        pytest.param(
            resource(
                refreshPolicy="CreatedOnce", status={"conditions": [{"type": "Ready", "status": "False"}]}
            ),
            observed(OWN),
            DONE,
            id="crashed after failures",
        ),
        # stores
        pytest.param(PLAIN, observed(), Fetch((NEED,)), id="the store is ready"),
        pytest.param(PLAIN, observed(stores={S: store("")}), Wait(), id="the store is being validated"),
    ],
)
def test_what_is_next(wanted: ExternalSecret, known: Observed, expected: Step) -> None:
    assert next_step(wanted, known, NOW, OPTIONS) == expected


@pytest.mark.parametrize(
    ("found", "error"),
    [
        pytest.param(None, Malformed('could not get SecretStore "s"'), id="there is none"),
        pytest.param(store("False"), Malformed('SecretStore "s" is not ready'), id="not ready"),
        pytest.param(
            store("", deletionTimestamp="2026-01-01T00:00:00Z"),
            Malformed('SecretStore "s" is not ready'),
            id="deleted before it was validated",
        ),
        pytest.param(Unavailable("not now"), Unavailable("not now"), id="it cannot be told"),
    ],
)
def test_what_cannot_be_fetched_has_an_error(found: object, error: SyncError) -> None:
    step = next_step(PLAIN, observed(stores={S: found}), NOW, OPTIONS)
    assert isinstance(step, Fetch)
    assert step.needs == ()
    failed = step.failed[NEED]
    assert type(failed) is type(error)
    assert failed.message.startswith(error.message)


def test_one_store_that_fails_keeps_no_other_from_being_read() -> None:
    other = {"secretKey": "b", "remoteRef": {"key": "k"}, "sourceRef": {"storeRef": {"name": "t"}}}
    wanted = resource(data=[READ, other])
    step = next_step(wanted, observed(), NOW, OPTIONS)
    assert isinstance(step, Fetch)
    assert step.needs == (NEED,)
    assert list(step.failed) == [Read(StoreName("SecretStore", "t"), RemoteRef("k"))]


@pytest.mark.parametrize(
    ("namespace", "allowed"), [({"team": "blue"}, True), ({"team": "red"}, False), ({}, False)]
)
def test_a_cluster_store_is_for_chosen_namespaces(namespace: dict[str, str], *, allowed: bool) -> None:
    condition = {"namespaceSelector": {"matchLabels": {"team": "blue"}}}
    name, limited = StoreName("ClusterSecretStore", "s"), store(conditions=[condition])
    wanted = resource(secretStoreRef={"kind": "ClusterSecretStore", "name": "s"})
    step = next_step(wanted, observed(stores={name: limited}, namespace_labels=namespace), NOW, OPTIONS)
    assert isinstance(step, Fetch)
    assert [type(error) for error in step.failed.values()] == ([] if allowed else [Denied])


# -------------------------------------------------------------------------------------------------- the mark
@pytest.mark.parametrize(
    ("wanted", "known", "marks"),
    [
        pytest.param(PLAIN, observed(plain({"b": "MQ=="})), True, id="a foreign Secret"),
        pytest.param(
            resource(target={"creationPolicy": "None"}),
            observed(plain({})),
            True,
            id="even if it is only read",
        ),
        pytest.param(synced(PLAIN), observed(plain({})), True, id="and if nothing is due"),
        pytest.param(PLAIN, observed(plain({}), may_mark=False), False, id="where the home allows it"),
        pytest.param(PLAIN, observed(plain({}, labels={MANAGED: "true"})), False, id="once"),
        pytest.param(PLAIN, observed(), False, id="no Secret"),
        pytest.param(resource(target=CONFIG_MAP), observed(plain({})), False, id="a target of another kind"),
    ],
)
def test_a_target_gets_its_mark(wanted: ExternalSecret, known: Observed, *, marks: bool) -> None:
    step = next_step(wanted, known, NOW, GENERIC)
    assert isinstance(step, MarkTarget) is marks
    if isinstance(step, MarkTarget):
        assert step.action.verb is Verb.UPDATE
        assert step.action.before == known.target
        assert step.action.document is not None
        assert step.action.document["metadata"]["labels"] == {MANAGED: "true"}


# ------------------------------------------------------------------------------------------- generic targets
def test_targets_of_other_kinds_have_to_be_allowed() -> None:
    wanted = resource(target=CONFIG_MAP)
    step = next_step(wanted, UNREAD, NOW, OPTIONS)
    assert isinstance(step, Conclude)
    assert (step.verdict.reason, step.verdict.message) == ("SecretSyncedError", "invalid generic target")
    assert next_step(wanted, UNREAD, NOW, GENERIC) == ReadTarget(unless_settled=True)


# -------------------------------------------------------------------------------------------------- deletion
@pytest.mark.parametrize(
    ("target", "found", "options", "deleted"),
    [
        pytest.param({"deletionPolicy": "Retain"}, OWN, OPTIONS, False, id="Retain"),
        pytest.param({"deletionPolicy": "Delete"}, OWN, OPTIONS, True, id="Delete what is controlled"),
        pytest.param({"deletionPolicy": "Delete"}, plain({}), OPTIONS, False, id="not what is foreign"),
        pytest.param({"deletionPolicy": "Delete"}, None, OPTIONS, False, id="there is nothing"),
        pytest.param(
            {"deletionPolicy": "Delete", **CONFIG_MAP},
            plain({}),
            GENERIC,
            True,
            id="another kind, by its name",
        ),
        pytest.param(
            {"deletionPolicy": "Delete", **CONFIG_MAP},
            plain({}),
            OPTIONS,
            False,
            id="another kind, not allowed",
        ),
    ],
)
def test_what_goes_with_it(target: Document, found: Document, options: Options, *, deleted: bool) -> None:
    step = next_step(resource(target=target, metadata=DELETED), observed(found), NOW, options)
    assert isinstance(step, CleanUp)
    assert [each.verb for each in step.actions] == ([Verb.DELETE] if deleted else [])
    assert [each.before for each in step.actions] == ([found] if deleted else [])


def test_a_target_that_is_to_go_is_read_first() -> None:
    wanted = resource(target={"deletionPolicy": "Delete"}, metadata=DELETED)
    assert next_step(wanted, UNREAD, NOW, OPTIONS) == ReadTarget()


def test_the_hash_of_the_target_is_compared_and_not_its_version() -> None:
    later = written(PLAIN, {"a": b"v"})
    later["metadata"]["resourceVersion"] = "99"
    assert next_step(synced(PLAIN), observed(later), NOW, OPTIONS) == Sleep(HALF_AN_HOUR)
    later["metadata"]["annotations"][DATA_HASH] = "0"
    assert next_step(synced(PLAIN), observed(later), NOW, OPTIONS) == Fetch((NEED,))


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        pytest.param({}, ReadTarget(unless_settled=True), id="Retain needs none"),
        pytest.param(
            {"creationPolicy": "Merge", "deletionPolicy": "Merge"},
            ReadTarget(unless_settled=True),
            id="nor does Merge",
        ),
        pytest.param({"deletionPolicy": "Delete"}, AddFinalizer(), id="the target goes with it"),
    ],
)
def test_a_finalizer_where_it_is_needed(wanted: Document, expected: Step) -> None:
    options = Options(spread=False, finalizer_always=False)
    unheld = resource(metadata={"finalizers": []}, target=wanted)
    assert next_step(unheld, UNREAD, NOW, options) == expected


def test_a_finalizer_that_is_there_is_honoured() -> None:
    options = Options(spread=False, finalizer_always=False)
    deleted = resource(metadata=DELETED)
    assert next_step(deleted, UNREAD, NOW, options) == CleanUp()
