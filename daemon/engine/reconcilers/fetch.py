"""Fetches all that a resource needs at once, grouped by store, so that calls can be shared and batched."""

import asyncio
from collections import defaultdict
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from syncret.config.resources.kinds import store_ref
from syncret.daemon.core.needs import Answer, Extract, Generate, Need, Read, Search, StoreName
from syncret.daemon.core.plan.secret_store import store_not_found
from syncret.daemon.engine.reconcilers.context import ReconcilerContext
from syncret.daemon.engine.reconcilers.generators import GeneratorTransaction
from syncret.daemon.engine.sessions.session import Session
from syncret.daemon.engine.work import SyncWork
from syncret.providers.errors import SyncError, bare

_AT_ONCE: Final = 8
"""Generators that an object asks at the same time."""

Answers: TypeAlias = dict[Need, Answer]
Asked: TypeAlias = Read | Extract | Search


async def fetch(
    context: ReconcilerContext,
    needs: Iterable[Need],
    namespace: str,
    generated: GeneratorTransaction,
    work: SyncWork,
) -> Mapping[Need, Answer]:
    """An answer for every need; a failure is the answer of those that it concerns.

    The stores are usable; what generators make is recorded in `generated`.
    """
    generate: list[Generate] = []
    by_store: defaultdict[StoreName, list[Asked]] = defaultdict(list)
    for need in needs:
        if isinstance(need, Generate):
            generate.append(need)
        else:
            by_store[need.store].append(need)
    answers: Answers = {}
    calls = [_generate(generated, generate[place::_AT_ONCE]) for place in range(min(len(generate), _AT_ONCE))]
    for name, asked in by_store.items():
        store = context.inventory.get(store_ref(*name, namespace))
        if store is None:  # it was there a moment ago
            answers.update(dict.fromkeys(asked, store_not_found(name, namespace)))
        else:
            calls += _calls(context.sessions.session(store, namespace, work), asked)
    for part in [await calls[0]] if len(calls) == 1 else await _together(calls):
        answers.update(part)
    return answers


async def _together(calls: Sequence[Coroutine[Any, Any, Answers]]) -> list[Answers]:
    """The answers of each call. A bug in one cancels the others, whose answers would not be used."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(call, name="ask") for call in calls]
    except ExceptionGroup as bugs:
        raise bugs.exceptions[0] from None
    return [task.result() for task in tasks]


def _calls(session: Session, asked: Sequence[Asked]) -> list[Coroutine[Any, Any, Answers]]:
    reads: list[Read] = []
    extracts: list[Extract] = []
    calls: list[Coroutine[Any, Any, Answers]] = []
    for need in asked:
        match need:
            case Read():
                reads.append(need)
            case Extract():
                extracts.append(need)
            case Search():
                calls.append(_search(session, need))
    if reads:
        calls.append(_read(session, reads))
    if extracts:
        calls.append(_extract(session, extracts))
    return calls


async def _read(session: Session, reads: Sequence[Read]) -> Answers:
    values = await session.read([need.ref for need in reads])
    return {need: values.get(need.ref) for need in reads}


async def _extract(session: Session, extracts: Sequence[Extract]) -> Answers:
    maps = await session.extract([need.ref for need in extracts])
    return {need: maps.get(need.ref) for need in extracts}


async def _search(session: Session, need: Search) -> Answers:
    try:
        return {need: await session.find(need.query)}
    except SyncError as error:
        return {need: bare(error)}


async def _generate(generated: GeneratorTransaction, needs: Sequence[Generate]) -> Answers:
    """One after the other: an object may ask for thousands, each of which takes memory and time."""
    answers: Answers = {}
    for need in needs:
        try:
            answers[need] = await generated.generate(str(need.place), need.generator)
        except SyncError as error:
            answers[need] = bare(error)
        if need is not needs[-1]:
            await asyncio.sleep(0)
    return answers
