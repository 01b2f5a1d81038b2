"""PushSecret: what is done next, and what is pushed and deleted where, one row per case."""

from collections.abc import Mapping

import pytest

from syncret.config.meta import Document
from syncret.config.resources.push_secret import PushSecret
from syncret.daemon.core.plan.push_secret import (
    FINALIZER,
    Fetch,
    PushNeeds,
    PushObserved,
    PushPlan,
    SetFinalizers,
    Sleep,
    SourceMissing,
    decide,
    needs,
    next_step,
)
from syncret.daemon.core.push_entries import Source, generated_source
from syncret.providers.errors import Malformed, SyncError, Unavailable
from syncret.providers.pushes import RemoteTarget
from syncret.providers.work import Work
from tests.support.templates import no_template
from tests.unit.daemon.core.plan.push_secrets import (
    AWAY,
    GOING,
    NO_SUCH,
    NOW,
    SECOND,
    Q,
    S,
    T,
    account,
    deletes,
    entry,
    observed,
    plan_for,
    push_secret,
    pushes,
)

# ------------------------------------------------------------------------------------------------- next step


@pytest.mark.parametrize(
    ("resource", "step"),
    [
        pytest.param(push_secret(), Fetch(), id="never pushed"),
        pytest.param(push_secret(synced=True, refreshInterval="2h"), Sleep(NOW + 3600), id="not due"),
        pytest.param(push_secret(synced=True, refreshInterval="0s"), Sleep(None), id="pushed once"),
        pytest.param(push_secret(synced=True), Fetch(), id="due by its interval"),
        pytest.param(
            push_secret(metadata={"finalizers": ["x"]}, deletionPolicy="Delete"),
            SetFinalizers(("x", FINALIZER)),
            id="it will have to delete: held",
        ),
        pytest.param(
            push_secret(metadata={"finalizers": [FINALIZER, "x"]}),
            SetFinalizers(("x",)),
            id="it deletes nothing any more: not held",
        ),
    ],
)
def test_next_step(resource: PushSecret, step: object) -> None:
    assert next_step(resource, NOW, refresh_requested=False) == step


def test_a_requested_refresh_is_due() -> None:
    assert next_step(push_secret(synced=True, refreshInterval="2h"), NOW, refresh_requested=True) == Fetch()


@pytest.mark.parametrize(
    ("resource", "message"),
    [
        pytest.param(
            push_secret(refreshInterval="soon"),
            'spec.refreshInterval: time: invalid duration "soon"',
            id="a malformed interval",
        ),
        pytest.param(
            push_secret(dataTo=[{"storeRef": {"name": "t"}}]),
            'dataTo[0]: storeRef "t" not found in secretStoreRefs',
            id="dataTo names a store that is not listed",
        ),
    ],
)
def test_a_spec_that_is_wrong_is_reported_before_anything_is_read(resource: PushSecret, message: str) -> None:
    plan = next_step(resource, NOW, refresh_requested=False)
    assert isinstance(plan, PushPlan)
    assert (plan.verdict.reason, plan.verdict.message) == ("Errored", message)
    assert plan.operations is None


@pytest.mark.parametrize(
    ("resource", "deleted"),
    [
        pytest.param(
            push_secret(metadata={**GOING, "finalizers": [FINALIZER]}, pushed=account(s=["r"], t=["u"])),
            {},
            id="None leaves everything",
        ),
        pytest.param(
            push_secret(metadata=GOING, deletionPolicy="Delete", pushed=account(s=["r"], t=["u"])),
            {"SecretStore/s": ["r"], "SecretStore/t": ["u"]},
            id="Delete: all that was ever pushed",
        ),
        pytest.param(
            push_secret(
                metadata={**GOING, "finalizers": ["x"]}, deletionPolicy="Delete", pushed=account(s=["r"])
            ),
            {},
            id="already cleaned up, held by something else",
        ),
        pytest.param(
            push_secret(metadata=GOING, deletionPolicy="Delete", refreshInterval="soon"),
            {},
            id="whatever else is wrong",
        ),
    ],
)
def test_one_that_is_deleted_is_released(resource: PushSecret, deleted: Mapping[str, list[str]]) -> None:
    plan = next_step(resource, NOW, refresh_requested=False)
    assert isinstance(plan, PushPlan)
    assert plan.releases
    assert deletes(plan) == deleted


# -------------------------------------------------------------------------------------------------- decisions
@pytest.mark.parametrize(
    ("resource", "seen", "pushed"),
    [
        pytest.param(push_secret(), observed(Q), {"SecretStore/s": ["r=1"]}, id="one entry"),
        pytest.param(
            push_secret(entry("r"), entry("u/f", "b")),
            observed(Q, stores=(S, T)),
            {"SecretStore/s": ["r=1", "u/f=2"], "SecretStore/t": ["r=1", "u/f=2"]},
            id="every store",
        ),
        pytest.param(
            push_secret(),
            observed(Q, SECOND),
            {"SecretStore/s": ["r=1", "r=9"]},
            id="several Secrets on one key: the last one wins",
        ),
        pytest.param(
            push_secret(data=[], dataTo=[{"storeRef": {"name": "t"}}]),
            observed(Q, stores=(S,)),
            {"SecretStore/s": []},
            id="nothing for this store",
        ),
        pytest.param(
            push_secret(entry("r", "")),
            observed(generated_source("default", {"k": b"v"})),
            {"SecretStore/s": ['r={"k":"v"}']},
            id="all of what a generator made",
        ),
    ],
)
def test_what_is_pushed(resource: PushSecret, seen: PushObserved, pushed: Mapping[str, list[str]]) -> None:
    plan = plan_for(resource, seen)
    assert pushes(plan) == pushed
    assert plan.verdict.message == "PushSecret synced successfully"


def test_the_template_is_laid_over_the_source() -> None:
    resource = push_secret(entry("r", "made"), entry("u"), template={"data": {"made": "text"}})
    plan = plan_for(resource, observed(Q), render=lambda _name, text, data: text.encode() + data["a"])
    assert pushes(plan) == {"SecretStore/s": ["r=text1", "u=1"]}


MATCHES_NONE = {"storeRef": {"labelSelector": {"matchLabels": {"no": "one"}}}}


@pytest.mark.parametrize(
    ("resource", "seen", "verdict"),
    [
        pytest.param(
            push_secret(),
            observed(source_error=NO_SUCH, store_error=AWAY),
            ("Errored", "could not get source secret", SourceMissing),
            id="no source",
        ),
        pytest.param(
            push_secret(),
            observed(source_error=AWAY),
            ("Errored", "could not get source secret", Unavailable),
            id="a generator that fails",
        ),
        pytest.param(
            push_secret(), observed(Q, store_error=AWAY), ("Errored", "away", Unavailable), id="no store"
        ),
        pytest.param(push_secret(), observed(Q, stores=()), ("", "", None), id="all stores are others'"),
        pytest.param(
            push_secret(dataTo=[MATCHES_NONE]),
            observed(Q),
            ("Errored", "dataTo[0]: labelSelector does not match any store in secretStoreRefs", Malformed),
            id="dataTo selects no store",
        ),
        pytest.param(
            push_secret(pushed=account(s=["r"])),
            observed(source_error=NO_SUCH),
            ("Errored", "could not get source secret", SourceMissing),
            id="the source is gone, and None leaves what was pushed",
        ),
        pytest.param(
            push_secret(reason="SourceDeleted", deletionPolicy="Delete"),
            observed(source_error=NO_SUCH),
            ("", "", None),
            id="cleaned up already",
        ),
        pytest.param(
            push_secret(metadata={"labels": {"a": "b"}}, deletionPolicy="Delete"),
            observed(source_error=NO_SUCH),
            ("Errored", "could not get source secret", SourceMissing),
            id="changed since it was cleaned up",
        ),
    ],
)
def test_what_is_in_the_way(
    resource: PushSecret, seen: PushObserved, verdict: tuple[str, str, type[SyncError] | None]
) -> None:
    plan = plan_for(resource, seen)
    reason, message, error = verdict
    assert (plan.verdict.reason, plan.verdict.message) == (reason, message)
    assert type(plan.verdict.error) is (error or type(None))
    assert plan.operations is None


def test_a_template_that_does_not_render_is_no_condition() -> None:
    plan = decide(push_secret(), observed(Q), PushNeeds(unrendered=AWAY), {})
    assert (plan.verdict.reason, plan.verdict.error, plan.operations) == ("", AWAY, None)


@pytest.mark.parametrize(
    ("entries", "sources", "pushed", "message"),
    [
        pytest.param(
            [entry("r"), entry("u", "none"), entry("v", "b")],
            [Q],
            ["r=1"],
            "secret key none does not exist",
            id="the entries before it are pushed",
        ),
        pytest.param(
            [entry("r", "b")],
            [Q, SECOND],
            ["r=2"],
            "secret key b does not exist",
            id="of one of several Secrets",
        ),
        pytest.param(
            [entry("r"), entry("r", "b")],
            [Q],
            [],
            'failed to merge data entries: duplicate remote key "r": '
            'source keys "a" and "b" both map to the same destination',
            id="a collision: none of the Secret's",
        ),
    ],
)
def test_an_entry_that_cannot_be_pushed(
    entries: list[Document], sources: list[Source], pushed: list[str], message: str
) -> None:
    resource = push_secret(*entries, deletionPolicy="Delete", pushed=account(s=["old"]))
    plan = plan_for(resource, observed(*sources))
    assert plan.operations is not None
    (operations,) = plan.operations
    assert pushes(plan) == {"SecretStore/s": pushed}
    assert str(operations.error) == message


# --------------------------------------------------------------------------------------------- if not exists
def test_nothing_is_looked_up_to_replace() -> None:
    assert not needs(push_secret(), observed(Q), Work(), render=None, transform=no_template).lookups


def test_what_must_be_looked_up_is_looked_up_once() -> None:
    resource = push_secret(entry("r"), entry("u/f", "b"), updatePolicy="IfNotExists")
    needed = needs(
        resource,
        observed(Q, Source({"metadata": {"name": "q2"}}, Q.data)),
        Work(),
        render=None,
        transform=no_template,
    )
    assert needed.lookups == {S: (RemoteTarget("r"), RemoteTarget("u", "f"))}


R, U = RemoteTarget("r"), RemoteTarget("u")


@pytest.mark.parametrize(
    ("sources", "answers", "pushed", "error"),
    [
        pytest.param([Q], {R: False, U: False}, ["r=1", "u=1"], None, id="neither"),
        pytest.param([Q], {R: True, U: False}, ["r=-", "u=1"], None, id="what exists stays"),
        pytest.param([Q], {R: AWAY}, [], AWAY, id="unknown: nothing is pushed"),
        pytest.param([Q], {R: False, U: AWAY}, ["r=1"], AWAY, id="unknown: nothing more is pushed"),
        pytest.param(
            [Q, SECOND],
            {R: False, U: True},
            ["r=1", "u=-", "r=-", "u=-"],
            None,
            id="what the first Secret makes exists for the second",
        ),
    ],
)
def test_if_not_exists(
    sources: list[Source],
    answers: Mapping[RemoteTarget, bool | SyncError],
    pushed: list[str],
    error: SyncError | None,
) -> None:
    resource = push_secret(entry("r"), entry("u"), updatePolicy="IfNotExists")
    plan = plan_for(resource, observed(*sources), {S: answers})
    assert plan.operations is not None
    (operations,) = plan.operations
    assert pushes(plan) == {"SecretStore/s": pushed}
    assert repr(operations.error) == repr(error)
    assert plan.verdict.message.endswith(". Existing secrets in providers unchanged.")


# -------------------------------------------------------------------------------------------------- deletions
@pytest.mark.parametrize(
    ("resource", "seen", "deleted"),
    [
        pytest.param(
            push_secret(pushed=account(s=["r", "old"]), deletionPolicy="Delete"),
            observed(Q),
            {"SecretStore/s": ["old"]},
            id="an entry that is not wanted any more",
        ),
        pytest.param(push_secret(pushed=account(s=["r", "old"])), observed(Q), {}, id="None deletes nothing"),
        pytest.param(
            push_secret(pushed=account(s=["r"], t=["u"]), deletionPolicy="Delete"),
            observed(Q),
            {"SecretStore/t": ["u"]},
            id="a store that is not wanted any more",
        ),
        pytest.param(
            push_secret(
                data=[],
                dataTo=[{"storeRef": {"name": "s"}}],
                pushed=account(s=["a", "b", "c", "d"]),
                deletionPolicy="Delete",
            ),
            observed(Q, SECOND),
            {"SecretStore/s": ["d"]},
            id="what one Secret pushes is not deleted for another",
        ),
        pytest.param(
            push_secret(pushed=account(s=["r"], t=["u"]), deletionPolicy="Delete"),
            observed(),
            {},
            id="a selector that matches no Secret",
        ),
        pytest.param(
            push_secret(pushed=account(s=["r"], t=["u"]), deletionPolicy="Delete"),
            observed(source_error=NO_SUCH),
            {"SecretStore/s": ["r"], "SecretStore/t": ["u"]},
            id="the source is gone",
        ),
        pytest.param(
            push_secret(pushed=account(t=[]), deletionPolicy="Delete"),
            observed(Q),
            {},
            id="a store that holds nothing is not asked",
        ),
    ],
)
def test_what_is_deleted(resource: PushSecret, seen: PushObserved, deleted: Mapping[str, list[str]]) -> None:
    assert deletes(plan_for(resource, seen)) == deleted
