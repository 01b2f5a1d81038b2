"""Facts: what is remembered, until when, and which wish is granted by which run."""

from syncret.config.meta import ObjectRef
from syncret.daemon.core.plan.actions import LastError
from syncret.daemon.engine.reconcilers.context import ObjectMemory

REF = ObjectRef("external-secrets.io", "ExternalSecret", "default", "database")


def test_a_success_ends_the_failure_and_tells_the_origins() -> None:
    facts = ObjectMemory()
    facts.failed(REF, LastError(1.0, "refused", "renew the token"))
    assert facts.failure(REF) == LastError(1.0, "refused", "renew the token")
    facts.succeeded(REF, {"password": "spec.data[0]"})
    assert facts.failure(REF) is None
    assert facts.origins(REF) == {"password": "spec.data[0]"}


def test_a_failure_keeps_the_origins_of_the_value_in_use() -> None:
    facts = ObjectMemory()
    facts.succeeded(REF, {"password": "spec.data[0]"})
    facts.failed(REF, LastError(1.0, "refused"))
    assert facts.origins(REF) == {"password": "spec.data[0]"}


def test_a_wish_stands_until_a_run_that_began_after_it_ends_well() -> None:
    facts = ObjectMemory()
    began_before = facts.refresh_request(REF)
    facts.request_refresh(REF)
    facts.clear_refresh_request(REF, began_before)
    assert facts.refresh_request(REF)
    first = facts.refresh_request(REF)
    facts.request_refresh(REF)
    facts.clear_refresh_request(REF, first)
    assert facts.refresh_request(REF)
    facts.clear_refresh_request(REF, facts.refresh_request(REF))
    assert not facts.refresh_request(REF)


def test_what_is_gone_is_forgotten() -> None:
    facts = ObjectMemory()
    facts.succeeded(REF, {"password": "spec.data[0]"})
    facts.failed(REF, LastError(1.0, "refused"))
    facts.request_refresh(REF)
    facts.forget(REF)
    assert (facts.origins(REF), facts.failure(REF), facts.refresh_request(REF)) == ({}, None, 0)
