"""A report is clean only if nothing would change, nobody loses a login and everything was looked at."""

from typing import Any

import pytest
from msgspec import structs

from syncret.config.meta import ObjectRef
from syncret.daemon.cli.migration.definitions import Findings
from syncret.daemon.cli.migration.effects import TakeoverEffects
from syncret.daemon.cli.migration.identities import Identities, Lost
from syncret.daemon.cli.migration.operator import Translated
from syncret.daemon.cli.migration.report import Migration
from syncret.daemon.core.plan.actions import LastError
from syncret.daemon.core.plan.held_write import HeldWrite
from syncret.providers.contract import Receiver
from syncret.providers.kit.ambient.rules import Verdict

REF = ObjectRef("external-secrets.io", "ExternalSecret", "a", "x")
SECRET = ObjectRef("", "Secret", "a", "x")
LOST = Lost(REF, Verdict(Receiver("vault", "https://v.example", "a token", "p"), allowed=False))


def report(**seen: Any) -> Migration:  # noqa: ANN401  # members of a struct
    nothing: dict[str, Any] = {
        "objects": 1, "held": {}, "errors": {}, "identities": Identities(), "unreachable": {}, "unseen": (),
    }  # fmt: skip
    return Migration(
        seen=TakeoverEffects(**{**nothing, **seen}),
        parts=(),
        translated=Translated(),
        findings=Findings(),
        unseen=(),
    )


@pytest.mark.parametrize(
    "held",
    [
        pytest.param(HeldWrite("read", REF), id="it is due"),
        pytest.param(HeldWrite("provider", REF), id="a push is due"),
        pytest.param(HeldWrite("status", REF, "Ready: False SecretSyncedError"), id="a message says more"),
    ],
)
def test_what_is_no_change(held: HeldWrite) -> None:
    assert report(held={REF: [held]}).is_clean


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        pytest.param({"held": {REF: [HeldWrite("update", SECRET)]}}, "1 would be changed", id="a write"),
        pytest.param({"held": {REF: [HeldWrite("finalizers", REF)]}}, "1 would be changed", id="a finalizer"),
        pytest.param(
            {"held": {REF: [HeldWrite("status", REF, turns=True)]}},
            "1 would be changed",
            id="no longer ready",
        ),
        pytest.param({"errors": {REF: LastError(0, "m")}}, "1 could not be decided", id="an error"),
        pytest.param(
            {"identities": Identities([LOST])}, "1 would lose the operator's identity", id="a lost login"
        ),
        pytest.param({"unreachable": {REF: "x"}}, "1 of a vendor that syncret cannot reach", id="a vendor"),
        pytest.param({"unseen": ["Secret: denied"]}, "1 kinds that could not be looked at", id="no right"),
    ],
)
def test_what_is_not_clean(seen: dict[str, Any], reason: str) -> None:
    found = report(**seen)
    assert found.reasons == [reason]
    assert found.as_document()["clean"] is False


def test_a_flag_that_cannot_be_had_is_not_clean() -> None:
    found = structs.replace(report(), translated=Translated(impossible=["--new: is not known"]))
    assert found.reasons == ["1 flags that cannot be had"]
