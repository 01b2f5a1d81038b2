"""ExternalSecret: another writer comes first, or no answer comes: nothing is fetched or generated twice."""

from collections.abc import Awaitable, Callable
from typing import Final

import pytest

from syncret.config.meta import Document
from syncret.daemon.homes.contract import (
    Conflict,
    HomeError,
    OutcomeUnknown,
    StorageUnavailable,
    StoredObject,
)
from tests.unit.daemon.engine.life import HOUR, SECRET, Life, X, secret, secret_ref, store, values, wanting
from tests.unit.daemon.engine.reconcilers.external_secrets import SYNCED

Create = Callable[..., Awaitable[StoredObject]]
LOST: Final = OutcomeUnknown("the connection was closed before the answer came")


def before_create(life: Life, *acts: Callable[[Document], Awaitable[object]], kind: str = SECRET) -> None:
    """Let something happen before each of the next creations of objects of a kind."""
    create, left = life.target.create, list(acts)

    async def create_later(document: Document, *, field_manager: str = "") -> StoredObject:
        if document["kind"] == kind and left:
            await left.pop(0)(document)
        return await create(document, field_manager=field_manager)

    life.target.create = create_later  # type: ignore[method-assign]


def lose_answers(life: Life, method: str, kind: str = SECRET) -> None:
    """Let the next write of objects of a kind be done without an answer."""
    write, left = getattr(life.target, method), [LOST]

    async def write_silently(subject: Document | StoredObject, **options: str) -> StoredObject:
        done = await write(subject, **options)
        found = subject.ref.kind if isinstance(subject, StoredObject) else subject["kind"]
        if found == kind and left:
            raise left.pop()
        return done  # type: ignore[no-any-return]

    setattr(life.target, method, write_silently)


def told(life: Life) -> list[str]:
    return [reason for name, _, reason, _ in life.events if name == "x"]


@pytest.mark.parametrize("times", [1, 5])
async def test_a_conflict_is_decided_again_on_the_values_that_were_fetched(life: Life, times: int) -> None:
    life.target.troubles[SECRET] = [Conflict("modified") for _ in range(times)]
    await life.apply(store(), wanting())
    assert await life.ready(X) == SYNCED
    assert life.reads == 1
    assert life.runs("x") == 2  # once more as its store became ready
    assert told(life) == ["Created"]


@pytest.mark.tells_at_once(reason="the moments of runs are counted from the change")
async def test_after_six_conflicts_in_a_row_it_waits(life: Life) -> None:
    await life.apply(store())
    life.target.troubles[SECRET] = [Conflict("modified") for _ in range(6)]
    await life.apply(wanting())
    assert life.runs("x") == 1
    assert life.controllers.engine.failures(X) == 1
    assert await life.ready(X) == ("", "", "")  # a conflict is no condition
    await life.wait(1)
    assert await life.ready(X) == SYNCED
    assert life.reads == 2


async def test_what_another_writer_made_meanwhile_is_merged(life: Life) -> None:
    before_create(life, lambda _: life.cluster.apply(secret("x", {"b": "1"})))
    await life.apply(store(), wanting(target={"creationPolicy": "CreateOrMerge"}))
    assert await life.data("x") == {"a": "v", "b": "1"}
    assert life.reads == 1
    assert told(life) == ["Updated"]


async def test_what_another_external_secret_made_meanwhile_is_refused(life: Life) -> None:
    owner = {"apiVersion": "external-secrets.io/v1", "kind": "ExternalSecret", "name": "y", "uid": "u"}

    async def take(_: Document) -> None:
        await life.cluster.apply(wanting("y", secretStoreRef={"name": "none"}))
        owner["uid"] = (await life.existing(X._replace(name="y")))["metadata"]["uid"]
        await life.cluster.apply(secret("x", {"b": "1"}, ownerReferences=[owner | {"controller": True}]))

    before_create(life, take)
    await life.apply(store(), wanting())
    assert (await life.ready(X))[2] == "target is owned by another ExternalSecret"
    assert await life.data("x") == {"b": "1"}


async def test_a_target_that_goes_meanwhile_is_created(life: Life) -> None:
    await life.apply(store(), secret("x", {"b": "1"}))
    update = life.target.update

    async def delete_first(document: Document, *, field_manager: str = "") -> StoredObject:
        if "a" in document.get("data", {}) and await life.cluster.get(secret_ref("x")):
            await life.cluster.remove(secret_ref("x"))
        return await update(document, field_manager=field_manager)

    life.target.update = delete_first  # type: ignore[method-assign]
    await life.apply(wanting())
    assert await life.data("x") == {"a": "v"}
    assert life.reads == 1


async def test_a_change_of_its_spec_meanwhile_is_run_anew(life: Life) -> None:
    async def change(_: Document) -> None:
        changed = [{"secretKey": "b", "remoteRef": {"key": "k"}}]
        await life.cluster.patch(X, {"spec": {"data": changed}})
        raise Conflict("modified")

    before_create(life, change)
    await life.apply(store(), wanting())
    assert await life.data("x") == {"b": "v"}
    assert life.reads == 2
    assert life.written() == ["create x"]
    assert await life.ready(X) == SYNCED


async def test_its_own_deletion_meanwhile_ends_it(life: Life) -> None:
    async def remove(_: Document) -> None:
        await life.cluster.remove(X)
        raise Conflict("modified")

    before_create(life, remove)
    await life.apply(store(), wanting(target={"deletionPolicy": "Delete"}))
    assert await life.get(X) is None
    assert await life.data("x") is None
    assert life.reads == 1


async def test_a_status_of_another_spec_is_not_written(life: Life) -> None:
    async def change(_: Document) -> None:
        await life.cluster.patch(X, {"spec": {"refreshInterval": "2h"}})

    await life.apply(store())
    statuses: list[int] = []
    update_status = life.target.update_status

    async def see(seen: StoredObject, status: Document) -> StoredObject | None:
        stored = await update_status(seen, status)
        if seen.ref == X:
            statuses.append(seen.generation)
        return stored

    life.target.update_status = see  # type: ignore[method-assign,assignment]
    before_create(life, change)
    await life.apply(wanting())
    assert statuses == [2]
    assert (await life.status(X))["syncedResourceVersion"].startswith("2-")


# -------------------------------------------------------------------------------------------- no answer
@pytest.mark.parametrize("method", ["create", "update"])
async def test_a_write_without_an_answer_that_was_done_is_not_repeated(life: Life, method: str) -> None:
    await life.apply(store())
    if method == "update":
        await life.apply(wanting(refreshInterval="10m"))
        life.manager.values["k"] = "new"
    lose_answers(life, method)
    await life.apply(wanting(refreshInterval="10m"))
    await life.wait(600)
    assert life.written() == (["create x"] if method == "create" else ["create x", "update x"])
    assert told(life) == (["Created"] if method == "create" else ["Created", "Updated"])
    assert await life.ready(X) == SYNCED
    assert life.reads == 2


async def test_a_write_without_an_answer_that_was_not_done_is_made(life: Life) -> None:
    life.target.troubles[SECRET] = [LOST]
    await life.apply(store(), wanting())
    assert await life.data("x") == {"a": "v"}
    assert life.reads == 1
    assert told(life) == ["Created"]


async def test_a_deletion_without_an_answer_is_not_repeated(life: Life) -> None:
    await life.apply(store(), wanting(refreshInterval="10m", target={"deletionPolicy": "Delete"}))
    lose_answers(life, "delete")
    del life.manager.values["k"]
    await life.wait(600)
    assert await life.ready(X) == ("True", "SecretDeleted", "secret deleted due to DeletionPolicy=Delete")
    assert life.written() == ["create x", "delete x"]


async def test_values_are_compared_with_what_was_meant(life: Life) -> None:
    """A template that makes another value each time would not recognize its own work."""
    target = {"template": {"data": {"a": "{{ randAlphaNum 20 }}"}}}
    lose_answers(life, "create")
    await life.apply(store(), wanting(target=target, refreshInterval="0s"))
    assert life.written() == ["create x"]
    assert len(values(await life.existing(secret_ref("x")))["a"]) == 20


# ------------------------------------------------------------------------------------------ an owed status
@pytest.mark.parametrize(
    "errors",
    [
        pytest.param([StorageUnavailable("away")], id="the home is away"),
        pytest.param([Conflict("modified")] * 3, id="others change it all the time"),
        pytest.param([Conflict("modified")] * 7, id="for long"),
        pytest.param([OutcomeUnknown("no answer")], id="no answer"),
    ],
)
async def test_a_status_that_cannot_be_written_is_written_later_and_alone(
    life: Life, errors: list[HomeError]
) -> None:
    await life.apply(store())
    update_status, left = life.target.update_status, list(errors)

    async def fail(seen: StoredObject, status: Document) -> StoredObject | None:
        if seen.ref == X and left:
            raise left.pop()
        return await update_status(seen, status)

    life.target.update_status = fail  # type: ignore[method-assign,assignment]
    life.controllers.context.memory.request_refresh(X)
    await life.apply(wanting(refreshInterval="1h"))
    await life.wait(10)
    assert not left
    assert await life.ready(X) == SYNCED
    assert life.reads == 1
    assert life.last_error(X) == ""
    assert told(life) == ["Created"]
    await life.wait(HOUR)
    assert life.reads == 2
