"""PushSecret: it is held until what it pushed is gone."""

from tests.unit.daemon.engine.life import HOUR, PUSH, STORE, Life, store
from tests.unit.daemon.engine.reconcilers.push_secrets import SOURCE, account, entry, pushing

FINALIZER = "pushsecret.externalsecrets.io/finalizer"


async def test_it_is_held_until_what_it_pushed_is_gone(life: Life) -> None:
    await life.apply(SOURCE, store(), pushing(entry("r"), deletionPolicy="Delete"))
    assert await life.finalizers(PUSH) == [FINALIZER]
    life.faults["delete"] = "away"
    await life.delete(PUSH)
    assert (await life.ready(PUSH))[2] == "Failed to Delete Secrets from Provider: away"
    assert await account(life) == {"SecretStore/s": ["r"]}
    life.faults.clear()
    await life.wait(HOUR)
    assert await life.get(PUSH) is None
    assert "r" not in life.manager.values


async def test_the_finalizer_goes_with_the_policy(life: Life) -> None:
    await life.apply(SOURCE, store(), pushing(entry("r"), deletionPolicy="Delete"))
    await life.patch(PUSH, spec={"deletionPolicy": "None"})
    assert await life.finalizers(PUSH) == []
    await life.delete(PUSH)
    assert "r" in life.manager.values


async def test_a_store_and_its_push_secret_go_together(life: Life) -> None:
    await life.apply(SOURCE, store(), pushing(entry("r"), deletionPolicy="Delete"))
    await life.delete(STORE)
    assert await life.get(STORE) is not None  # the PushSecret has something to delete there
    await life.delete(PUSH)
    assert await life.get(PUSH) is None
    assert await life.get(STORE) is None
    assert "r" not in life.manager.values
