"""What is said of an object that is not ready: ESO's words, the key or store that is meant, the remedy."""

import pytest

from syncret.config.meta import Document, ObjectRef
from tests.unit.daemon.engine.life import PUSH, Life, X, store, wanting
from tests.unit.daemon.engine.reconcilers.push_secrets import SOURCE, entry, pushing

ABSENT = 'could not get {0} "s", {0}.external-secrets.io "s" not found'


def hint_of(life: Life, ref: ObjectRef) -> str:
    failure = life.controllers.context.memory.failure(ref)
    assert failure is not None
    return failure.hint


def warnings_of(life: Life, ref: ObjectRef) -> list[str]:
    return [message for name, warning, _, message in life.events if warning and name == ref.name]


@pytest.mark.parametrize(
    ("there", "kind", "hint"),
    [
        pytest.param(
            store(namespace=""),
            "SecretStore",
            "ClusterSecretStore/s is there: write kind: ClusterSecretStore",
            id="the other kind",
        ),
        pytest.param(
            store(),
            "ClusterSecretStore",
            "SecretStore/default/s is there: write kind: SecretStore",
            id="the other kind, of the namespace",
        ),
        pytest.param(
            store(namespace="shared"),
            "SecretStore",
            "create it, or correct the name of the store (namespace default)",
            id="another namespace of a cluster, which is nobody else's business",
        ),
        pytest.param(
            store("t"),
            "SecretStore",
            "create it, or correct the name of the store (namespace default)",
            id="nowhere",
        ),
    ],
)
async def test_a_store_that_is_missing_may_be_elsewhere(
    life: Life, there: Document, kind: str, hint: str
) -> None:
    named = {"name": "s", "kind": kind}
    pushed = pushing(entry("r"), secretStoreRefs=[named])
    await life.apply(SOURCE, there, wanting(secretStoreRef=named), pushed)
    words = ABSENT.format(kind)
    assert (await life.full_ready(X))[2] == f"could not get secret data from provider: {words}"
    assert (await life.full_ready(PUSH))[2] == words
    assert [hint_of(life, ref) for ref in (X, PUSH)] == [hint, hint]


async def test_a_push_lists_the_keys_that_are_there(life: Life) -> None:
    await life.apply(SOURCE, store(), pushing(entry("r", key="aa")))
    assert await life.full_ready(PUSH) == (
        "False",
        "Errored",
        "set secret failed: secret key aa does not exist",
    )
    assert hint_of(life, PUSH) == "did you mean a? its keys are a, b"
    many = {f"key-{number:02}": "x" for number in range(20)}
    await life.apply({**SOURCE, "stringData": many})
    await life.wait(600)
    assert hint_of(life, PUSH) == f"its keys are {', '.join(sorted(many)[:12])}, ..."


async def test_the_warnings_of_a_push_go_on_with_the_reason_and_the_remedy(life: Life) -> None:
    await life.apply(store(), pushing(entry("r", key="aa")))
    assert set(warnings_of(life, PUSH)) == {
        'could not get source secret: secret "q" not found (create it in default)'
    }
    await life.apply(SOURCE)
    assert warnings_of(life, PUSH)[-1] == (
        "set secret failed: secret key aa does not exist (did you mean a? its keys are a, b)"
    )
