"""Actions: whether a write without an answer was done, and whether a write changes any content."""

import pytest

from syncret.config.meta import Document, ObjectRef
from syncret.daemon.core.ownership import Refusal
from syncret.daemon.core.plan.actions import (
    Action,
    LastError,
    Verb,
    Verdict,
    condition_message,
    is_carried_out,
    last_error,
    output_change,
)
from syncret.providers.errors import Denied, OverBudget, SyncError

REF = ObjectRef("", "Secret", "default", "x")


def secret(data: Document, *, version: str = "", uid: str = "u", **metadata: object) -> Document:
    """A Secret as it is sent, or (with a version) as a home answers it."""
    stored = {"uid": uid, "resourceVersion": version, "creationTimestamp": "2026-01-01T00:00:00Z"}
    named = {"name": "x", "namespace": "default", **metadata}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": named | (stored if version else {}),
        "data": data,
    }


OLD = secret({"a": "1", "b": "2"}, version="1")
CREATE = Action(verb=Verb.CREATE, ref=REF, document=secret({"a": "1"}))
UPDATE = Action(verb=Verb.UPDATE, ref=REF, before=OLD, document=secret({"a": "1"}, version="1"))
UNLABEL = Action(
    verb=Verb.UPDATE,
    ref=REF,
    before=secret({"a": "1"}, version="1", labels={"l": "1"}),
    document=secret({"a": "1"}, version="1"),
)
DELETE = Action(verb=Verb.DELETE, ref=REF, before=OLD)
RELEASE = Action(
    verb=Verb.SET_FINALIZERS,
    ref=REF,
    before=secret({}, version="1", finalizers=["f"]),
    document=secret({}, version="1"),
)


@pytest.mark.parametrize(
    ("action", "found", "expected"),
    [
        pytest.param(CREATE, None, False, id="nothing was created"),
        pytest.param(CREATE, secret({"a": "1"}, version="7"), True, id="created"),
        pytest.param(
            CREATE, secret({"a": "1"}, version="7") | {"type": "Opaque"}, True, id="created and completed"
        ),
        pytest.param(CREATE, secret({"a": "2"}, version="7"), False, id="somebody else created it"),
        pytest.param(UPDATE, OLD, False, id="not updated: a key is still there"),
        pytest.param(UPDATE, secret({"a": "1"}, version="2"), True, id="updated"),
        pytest.param(UPDATE, None, False, id="updated and gone since"),
        pytest.param(
            UNLABEL, secret({"a": "1"}, version="1", labels={"l": "1"}), False, id="its labels are there"
        ),
        pytest.param(UNLABEL, secret({"a": "1"}, version="2"), True, id="its labels are gone"),
        pytest.param(DELETE, OLD, False, id="not deleted"),
        pytest.param(DELETE, None, True, id="deleted"),
        pytest.param(DELETE, secret({}, version="9", uid="v"), True, id="deleted and created anew"),
        pytest.param(RELEASE, secret({}, version="1", finalizers=["f"]), False, id="still held"),
        pytest.param(RELEASE, secret({}, version="2"), True, id="let go"),
    ],
)
def test_whether_a_write_without_an_answer_was_done(
    action: Action, found: Document | None, *, expected: bool
) -> None:
    assert is_carried_out(action, found) is expected


RESOURCE = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "x"}}
STATE = REF._replace(group="generators.external-secrets.io", kind="GeneratorState")


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        pytest.param(CREATE, "create v1 +a", id="create"),
        pytest.param(UPDATE, "update v1 -b", id="a key less"),
        pytest.param(
            Action(verb=Verb.UPDATE, ref=REF, before=OLD, document=secret({"b": "3", "c": "1"})),
            "update v1 +c ~b -a",
            id="all three",
        ),
        pytest.param(UNLABEL, "update v1", id="a label less"),
        pytest.param(DELETE, "delete v1 -a -b", id="delete"),
        pytest.param(
            Action(
                verb=Verb.UPDATE,
                ref=REF,
                before=RESOURCE | {"spec": {"data": {"a": "1"}}},
                document=RESOURCE | {"spec": {"data": {}}},
            ),
            "update example.com/v1 -a",
            id="another kind",
        ),
        pytest.param(RELEASE, None, id="finalizers"),
        pytest.param(
            Action(
                verb=Verb.UPDATE,
                ref=REF,
                before=OLD,
                document=secret(OLD["data"], version="1", finalizers=["f"]),
            ),
            None,
            id="finalizers in an update",
        ),
        pytest.param(Action(verb=Verb.DELETE, ref=STATE, before=OLD), None, id="the record of a generator"),
    ],
)
def test_what_is_shown_of_a_write(action: Action, expected: str | None) -> None:
    change = output_change(action)
    if change is None:
        assert expected is None
    else:
        signs = zip("+~-", (change.added, change.changed, change.removed), strict=True)
        keys = [f"{sign}{key}" for sign, found in signs for key in found]
        assert " ".join([change.verb, change.api_version, *keys]) == expected


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        pytest.param(Denied("no", hint="log in"), LastError(5.0, "no", "log in"), id="of a provider"),
        pytest.param(Refusal("not now", "because"), LastError(5.0, "because"), id="a refusal says why"),
        pytest.param(ValueError("odd"), LastError(5.0, "odd"), id="without a hint"),
    ],
)
def test_what_is_shown_of_an_error(error: Exception, expected: LastError) -> None:
    assert last_error(error, 5.0) == expected


TOO_MUCH = OverBudget("it asks for more than workTime allows")


@pytest.mark.parametrize(
    ("message", "error", "expected"),
    [
        pytest.param("failed", Denied("no"), "failed: no", id="another error"),
        pytest.param(
            "failed",
            TOO_MUCH.at("spec.data[3]"),
            "failed: spec.data[3]: it asks for more than workTime allows",
            id="an entry",
        ),
        pytest.param(
            "failed",
            TOO_MUCH.within("key x").below("spec.target.template.data.x"),
            "failed: spec.target.template.data.x: key x: it asks for more than workTime allows",
            id="a field",
        ),
        pytest.param(
            f"set secret failed: {TOO_MUCH}",
            TOO_MUCH.below("spec.data[1]"),
            "set secret failed: spec.data[1]: it asks for more than workTime allows",
            id="after the words of the operator, which end with the reason",
        ),
        pytest.param(
            str(TOO_MUCH.at("spec.data[1]")),
            TOO_MUCH.at("spec.data[1]"),
            "spec.data[1]: it asks for more than workTime allows",
            id="named already",
        ),
        pytest.param("failed", TOO_MUCH, f"failed: {TOO_MUCH}", id="no entry"),
    ],
)
def test_a_condition_names_the_entry_that_asks_for_too_much(
    message: str, error: SyncError, expected: str
) -> None:
    assert condition_message(Verdict(ok=False, message=message, error=error)) == expected


def test_a_field_is_cut_like_a_message() -> None:
    error = TOO_MUCH.below(f"spec.target.template.data.{'k' * 2_000_000}")
    assert len(condition_message(Verdict(ok=False, message="failed", error=error))) < 1200
