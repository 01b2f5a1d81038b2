"""Expressions of many resources in few calls of worker processes.

Requests that come while a call is under way go into the next one. A resource that once took too much time or
memory is evaluated alone from then on, beside the others: the costly expressions of one delay no other.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

from syncret.config.meta import ObjectRef
from syncret.daemon.core.exports.cel.messages import Checked, Evaluation, Result, Text
from syncret.daemon.core.exports.evaluation import check_all, evaluate_all
from syncret.daemon.core.exports.problems import Failure
from syncret.daemon.engine.sessions.tasks import TaskOwner
from syncret.daemon.engine.work import NO_LIMIT, WorkThreads
from syncret.providers.errors import SyncError
from syncret.providers.work import Work

A = TypeVar("A")
R = TypeVar("R")

AT_ONCE: Final = 80
"""Resources of one call: while the loop is busy, the way there and back takes 30 ms, however many they are.

If a call ends its process, each is tried alone, which the steps of one budget must allow.
"""

LARGEST: Final = 4 * 2**20
"""Bytes of one call, unless one resource alone has more."""

_KNOWN: Final = 20_000
_KNOWN_CHARACTERS: Final = 4_000_000
_CLOSING: Final = 1.0


class Evaluator:
    """Checks and evaluates expressions, for the runs of a daemon."""

    def __init__(self, threads: WorkThreads) -> None:
        self._threads = threads
        self._tasks = TaskOwner()
        self._checks = _Batches(threads, self._tasks, check_all, _size_of_texts)
        self._evaluations = _Batches(threads, self._tasks, evaluate_all, _size_of_evaluation)
        self._alone = _Batches(threads, self._tasks, evaluate_all, _size_of_evaluation, at_once=1)
        self._costly: set[ObjectRef] = set()
        self._known: OrderedDict[Text, Checked] = OrderedDict()
        self._characters = 0

    async def close(self) -> None:
        """End what is under way."""
        self._threads.close()
        await self._tasks.close(_CLOSING)

    async def check(self, texts: Sequence[Text]) -> list[Checked] | Failure:
        """The types and hints of the expressions of one resource. Raises SyncError."""
        known = {each: self._known[each] for each in texts if each in self._known}
        unknown = [each for each in dict.fromkeys(texts) if each not in known]
        if unknown:
            found = await self._checks.put(unknown)
            if isinstance(found, Failure):
                return found
            checked = dict(zip(unknown, found, strict=True))
            self._keep(checked)
            known |= checked
        return [known[each] for each in texts]

    async def evaluate(self, ref: ObjectRef, evaluation: Evaluation) -> list[Result] | Failure:
        """The results of one resource's expressions. Raises SyncError."""
        lane = self._alone if ref in self._costly else self._evaluations
        found = await lane.put(evaluation)
        failures = [found] if isinstance(found, Failure) else [each.failure for each in found]
        if any(each is not None and each.kind == "limit" for each in failures):
            self._costly.add(ref)
        else:
            self._costly.discard(ref)
        return found

    def forget(self, ref: ObjectRef) -> None:
        """The resource is gone."""
        self._costly.discard(ref)

    def _keep(self, checked: dict[Text, Checked]) -> None:
        for text, each in checked.items():
            self._known[text] = each
            self._characters += len(text.source)
        while len(self._known) > _KNOWN or self._characters > _KNOWN_CHARACTERS:
            oldest, _ = self._known.popitem(last=False)
            self._characters -= len(oldest.source)


class _Batches(Generic[A, R]):
    """Calls of one function, each for all that waits; one call is under way at a time."""

    def __init__(
        self,
        threads: WorkThreads,
        tasks: TaskOwner,
        function: Callable[[Sequence[A], Work], Sequence[R]],
        size: Callable[[A], int],
        *,
        at_once: int = AT_ONCE,
    ) -> None:
        self._threads = threads
        self._tasks = tasks
        self._function = function
        self._size = size
        self._at_once = at_once
        self._waiting: deque[tuple[A, asyncio.Future[R]]] = deque()
        self._is_running = False
        self._task: asyncio.Task[None] | None = None

    async def put(self, asked: A) -> R:
        """The answer for this one."""
        answer: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._waiting.append((asked, answer))
        if not self._is_running:
            self._is_running = True
            self._task = self._tasks.start(self._work_off(), name="exports: expressions")
        return await answer

    async def _work_off(self) -> None:
        try:
            await asyncio.sleep(0)  # requests of the same turn go along
            while self._waiting:
                await self._call(self._next())
        finally:
            self._is_running = False
            for _, answer in self._waiting:
                answer.cancel()

    def _next(self) -> list[tuple[A, asyncio.Future[R]]]:
        batch: list[tuple[A, asyncio.Future[R]]] = []
        size = 0
        while self._waiting and len(batch) < self._at_once:
            size += self._size(self._waiting[0][0])
            if batch and size > LARGEST:
                break
            asked, answer = self._waiting.popleft()
            if not answer.done():  # its run was cancelled meanwhile
                batch.append((asked, answer))
        return batch

    async def _call(self, batch: Sequence[tuple[A, asyncio.Future[R]]]) -> None:
        asked = [each for each, _ in batch]
        try:
            answers = await self._threads.run(
                lambda work: self._function(asked, work), self._threads.new_work(), NO_LIMIT
            )
        except SyncError as error:
            for _, answer in batch:
                if not answer.done():
                    answer.set_exception(error)
            return
        except BaseException:  # cancelled, or a bug: callers must not wait for ever; raised again
            for _, answer in batch:
                answer.cancel()
            raise
        for (_, answer), found in zip(batch, answers, strict=True):
            if not answer.done():
                answer.set_result(found)


def _size_of_texts(texts: Sequence[Text]) -> int:
    return sum(len(each.source) for each in texts)


def _size_of_evaluation(evaluation: Evaluation) -> int:
    return len(evaluation.resource) + sum(map(len, evaluation.secrets.values()))
