"""Who may write a target."""

from copy import deepcopy
from typing import Any

import pytest

from syncret.config.meta import Document, Metadata
from syncret.daemon.core.ownership import CREATED_BY, Refusal, claim, controlled_by, controller_of, created_by

OWNER = Metadata(name="x", namespace="default", uid="u1")


def owner(kind: str, name: str, uid: str = "u9", **more: Any) -> Document:  # noqa: ANN401  # fields of any type
    group = "external-secrets.io/v1beta1" if kind == "ExternalSecret" else "apps/v1"
    return {"apiVersion": group, "kind": kind, "name": name, "uid": uid, "controller": True, **more}


def target(*owners: Document, **labels: str) -> Document:
    metadata: Document = {"name": "t"}
    if owners:
        metadata["ownerReferences"] = list(owners)
    if labels:
        metadata["labels"] = labels
    return {"kind": "Secret", "metadata": metadata}


@pytest.mark.parametrize(
    "before",
    [
        pytest.param(target(), id="nobody's"),
        pytest.param(target(owner("ExternalSecret", "x", "u1")), id="ours, of an older version"),
        pytest.param(target(owner("ExternalSecret", "x", "u0")), id="of one of the same name that is gone"),
    ],
)
def test_taken_over(before: Document) -> None:
    claim(before, OWNER, own=True)
    (reference,) = before["metadata"]["ownerReferences"]
    assert reference["uid"] == "u1"
    assert reference["apiVersion"] == "external-secrets.io/v1"
    assert controlled_by(before, "u1")
    assert before["metadata"]["labels"] == {CREATED_BY: created_by("default", "x")}


def test_owners_beside_the_controller_stay() -> None:
    other = owner("Deployment", "d") | {"controller": False}
    taken = target(other)
    claim(taken, OWNER, own=True)
    assert taken["metadata"]["ownerReferences"][0] == other
    claim(taken, OWNER, own=False)
    assert taken["metadata"]["ownerReferences"] == [other]


def test_ours_keeps_its_place_among_the_owners() -> None:
    other = owner("Deployment", "d") | {"controller": False}
    taken = target()
    claim(taken, OWNER, own=True)
    taken["metadata"]["ownerReferences"].append(other)
    before = deepcopy(taken)
    claim(taken, OWNER, own=True)
    assert taken == before


@pytest.mark.parametrize(
    ("held", "own", "message"),
    [
        pytest.param(
            owner("ExternalSecret", "y"),
            True,
            "target is owned by another ExternalSecret",
            id="another, to own",
        ),
        pytest.param(
            owner("ExternalSecret", "y"),
            False,
            "target is owned by another ExternalSecret",
            id="another, to merge",
        ),
        pytest.param(
            owner("Deployment", "d"), True, "failed to take ownership of target secret", id="foreign, to own"
        ),
    ],
)
def test_refused(held: Document, message: str, *, own: bool) -> None:
    with pytest.raises(Refusal) as refusal:
        claim(target(held), OWNER, own=own)
    assert refusal.value.message == message
    assert refusal.value.detail == f"its owner is {held['kind']} {held['name']}"


def test_a_foreign_controller_does_not_keep_off_who_only_merges() -> None:
    held = target(owner("Deployment", "d"))
    claim(held, OWNER, own=False)
    assert [reference["name"] for reference in held["metadata"]["ownerReferences"]] == ["d"]


def test_let_go_of() -> None:
    held = target(owner("ExternalSecret", "x", "u1"), **{CREATED_BY: "h", "mine": "1"})
    claim(held, OWNER, own=False)
    assert held["metadata"]["ownerReferences"] == []
    assert held["metadata"]["labels"] == {"mine": "1"}


def test_only_the_uid_makes_a_controller_ours() -> None:
    assert not controlled_by(target(owner("ExternalSecret", "x", "u0")), "u1")
    assert not controlled_by(target(), "u1")
    assert controller_of({}) is None
