"""Facts: what is remembered, until when, and which wish is granted by which run."""

from syncret.config.meta import ObjectRef
from syncret.daemon.engine.reconcilers.context import Facts, Failure

REF = ObjectRef("external-secrets.io", "ExternalSecret", "default", "database")


def test_a_success_ends_the_failure_and_tells_the_origins() -> None:
    facts = Facts()
    facts.failed(REF, Failure(1.0, "refused", "renew the token"))
    assert facts.failure(REF) == Failure(1.0, "refused", "renew the token")
    facts.succeeded(REF, {"password": "spec.data[0]"})
    assert facts.failure(REF) is None
    assert facts.origins(REF) == {"password": "spec.data[0]"}


def test_a_failure_keeps_the_origins_of_the_value_in_use() -> None:
    facts = Facts()
    facts.succeeded(REF, {"password": "spec.data[0]"})
    facts.failed(REF, Failure(1.0, "refused"))
    assert facts.origins(REF) == {"password": "spec.data[0]"}


def test_a_wish_stands_until_a_run_that_began_after_it_ends_well() -> None:
    facts = Facts()
    began_before = facts.wished(REF)
    facts.wish(REF)
    facts.granted(REF, began_before)
    assert facts.wished(REF)
    first = facts.wished(REF)
    facts.wish(REF)
    facts.granted(REF, first)
    assert facts.wished(REF)
    facts.granted(REF, facts.wished(REF))
    assert not facts.wished(REF)


def test_what_is_gone_is_forgotten() -> None:
    facts = Facts()
    facts.succeeded(REF, {"password": "spec.data[0]"})
    facts.failed(REF, Failure(1.0, "refused"))
    facts.wish(REF)
    facts.forget(REF)
    assert (facts.origins(REF), facts.failure(REF), facts.wished(REF)) == ({}, None, 0)
