"""The last error that `status`, `explain` and `sync` report: it goes once a run has ended without one."""

import pytest

from syncret.config.meta import Document, ObjectRef
from syncret.providers.errors import Denied
from tests.unit.daemon.engine.life import HOUR, PUSH, STORE, Life, X, secret_ref, store, wanting
from tests.unit.daemon.engine.reconcilers.push_secrets import SOURCE, entry, pushing

DENIED = "not with this token"


@pytest.mark.parametrize(
    ("ref", "objects"),
    [
        pytest.param(X, [store(), wanting(refreshInterval="10m")], id="of an ExternalSecret"),
        pytest.param(
            PUSH, [SOURCE, store(), pushing(entry("r"), refreshInterval="10m")], id="of a PushSecret"
        ),
        pytest.param(STORE, [store(refreshInterval=600)], id="of the store itself"),
    ],
)
async def test_it_goes_with_a_store_that_another_controller_takes_over(
    life: Life, ref: ObjectRef, objects: list[Document]
) -> None:
    await life.apply(*objects)
    assert life.last_error(ref) == ""
    life.faults |= dict.fromkeys(("read", "push", "probe"), DENIED)
    await life.wait(700)
    assert life.last_error(ref)
    await life.patch(STORE, spec={"controller": "other"})
    assert life.controllers.engine.failures(ref) == 0
    assert life.last_error(ref) == ""


async def test_it_goes_with_a_source_that_is_deleted(life: Life) -> None:
    await life.apply(SOURCE, store(), pushing(entry("r"), deletionPolicy="Delete", refreshInterval="10m"))
    life.faults["delete"] = DENIED
    await life.delete(secret_ref("q"))
    await life.wait(600)
    assert DENIED in life.last_error(PUSH)
    life.faults.clear()
    await life.wait(HOUR)
    assert (await life.ready(PUSH))[1] == "SourceDeleted"
    assert life.controllers.engine.failures(PUSH) == 0
    assert life.last_error(PUSH) == ""
    await life.wait(HOUR)
    assert life.last_error(PUSH) == ""


@pytest.mark.parametrize("kind", ["ExternalSecret", "PushSecret"])
async def test_it_goes_once_an_object_is_cleaned_up_although_something_else_holds_it(
    life: Life, kind: str
) -> None:
    if kind == "PushSecret":
        ref, wanted = PUSH, pushing(entry("r"), deletionPolicy="Delete", refreshInterval="10m")
    else:
        ref, wanted = X, wanting(refreshInterval="10m")
    wanted["metadata"]["finalizers"] = ["example.com/hold"]
    await life.apply(SOURCE, store(), wanted)
    life.manager.key_errors["k"] = Denied(DENIED)
    life.faults |= dict.fromkeys(("push", "delete"), DENIED)
    await life.wait(600)
    assert DENIED in life.last_error(ref)
    life.faults.clear()
    await life.delete(ref)
    await life.wait(HOUR)
    assert await life.finalizers(ref) == ["example.com/hold"]
    assert life.last_error(ref) == ""
