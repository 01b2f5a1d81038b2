"""Reads entries in batches, and one by one if a batch is refused; extracts properties of values.

IAM may let a role read each of ten parameters and yet refuse the batch: because of one of the ten, or because
no policy allows the batch operation. A store that can be read must not fail for that.
"""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Container, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import ClassVar, TypeAlias

from syncret.providers.aws.service import Absent, Api, Forbidden, Service
from syncret.providers.contract import Paced, Writer
from syncret.providers.errors import Malformed, SyncError
from syncret.providers.kit import extract
from syncret.providers.kit.batching import read_each, unpaced
from syncret.providers.kit.paging import Matches
from syncret.providers.values import RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work


def value(payload: SecretBytes, ref: RemoteRef, work: Work) -> SecretBytes:
    """The value, or its property: the member of that name if there is one, otherwise a path."""
    if not ref.property:
        return payload
    found = None
    if "." in ref.property:
        found = extract.value(payload.raw, extract.escaped(ref.property), work)
    if found is None:
        found = extract.value(payload.raw, ref.property, work)
    if found is None:
        raise extract.missing_property(f"key {ref.property} does not exist in secret {ref.key}")
    return SecretBytes(found)


def fields(payload: SecretBytes, ref: RemoteRef, work: Work) -> SecretMap:
    """The members of a value that is a JSON object."""
    return extract.members(value(payload, ref, work).raw, f"unable to unmarshal secret {ref.key}", work)


def _all_or_error(found: Mapping[str, SecretBytes | SyncError]) -> SecretMap:
    """All results of a search. Raises the error of one that failed, as the rest would look complete."""
    values: dict[str, SecretBytes] = {}
    for name, value in found.items():
        if isinstance(value, SyncError):
            raise value.within(name)
        values[name] = value
    return values


Answers: TypeAlias = dict[str, SecretBytes | SyncError]
"""Results by name; what does not exist is missing."""


async def read_by_name(
    names: Iterable[str], one: Callable[[str], Awaitable[SecretBytes]], paced: Paced = unpaced
) -> Answers:
    """One call for each name. Raises Unavailable and Throttled, which would be the same for all."""

    async def read_known(name: str) -> SecretBytes | None:
        try:
            return await one(name)
        except Absent:
            return None

    return await read_each(names, lambda name: paced(lambda: read_known(name), reads=1))


def answers_of(
    operation: str,
    names: Sequence[str],
    values: Mapping[str, SecretBytes | SyncError],
    absent: Container[str],
) -> Answers:
    """The results of a batch. Only what AWS reports as absent is absent; what it leaves out is an error."""
    present = [name for name in names if name not in absent]
    return {name: values[name] if name in values else _missing_from_response(operation) for name in present}


def _missing_from_response(operation: str) -> Malformed:
    return Malformed(
        f"{operation} did not answer for this key", hint="is there a proxy, or a wrong endpoint?"
    )


class BatchReader:
    """Reads by name in batches, and remembers what must be read alone."""

    def __init__(
        self,
        many: Callable[[Sequence[str], Paced], Awaitable[Mapping[str, SecretBytes | SyncError]]],
        one: Callable[[str], Awaitable[SecretBytes]],
        *,
        size: int,
    ) -> None:
        self._read_batch = many
        self._read_one = one
        self._size = size
        self._read_alone: set[str] = set()
        self._allowed = True

    async def get(self, names: Sequence[str], paced: Paced = unpaced) -> Answers:
        """The value of each name. Raises SyncError if a whole call failed."""
        together = [name for name in names if self._allowed and name not in self._read_alone]
        answers = await self._read_each([name for name in names if name not in set(together)], paced)
        for start in range(0, len(together), self._size):
            answers |= await self._read_chunk(together[start : start + self._size], paced)
        return answers

    async def _read_chunk(self, names: Sequence[str], paced: Paced) -> Answers:
        if len(names) == 1:
            return await self._read_each(names, paced)
        with suppress(Forbidden, Malformed):
            return dict(await self._read_batch(names, paced))
        answers = await self._read_each(names, paced)
        if not self._read_alone.intersection(names):
            self._allowed = False  # each succeeded alone: it is the batch that is not allowed
        return answers

    async def _read_each(self, names: Sequence[str], paced: Paced) -> Answers:
        answers = await read_by_name(names, self._read_one, paced)
        refused = {name for name in names if isinstance(answers.get(name), SyncError)}
        self._read_alone = (self._read_alone - set(names)) | refused
        return answers


class BatchedService(Service, ABC):
    """A service whose values are read in batches and have properties."""

    converts_keys = False
    batch_size: ClassVar[int]

    def __init__(
        self, api: Api, writer: Writer, *, prefix: str, login: Callable[[], Awaitable[object]]
    ) -> None:
        super().__init__(api, writer, prefix=prefix, login=login)
        self._reader = BatchReader(self._read_batch, self._read_one, size=self.batch_size)

    def value(self, payload: SecretBytes, ref: RemoteRef, work: Work) -> SecretBytes:
        return value(payload, ref, work)

    def fields(self, payload: SecretBytes, ref: RemoteRef, work: Work) -> SecretMap:
        return fields(payload, ref, work)

    async def _read_values(self, names: Sequence[str], paced: Paced = unpaced) -> Answers:
        return await self._reader.get(names, paced)

    async def _read_matches(self, found: Matches, paced: Paced) -> SecretMap:
        """The values of all names that a search found. Raises the error of one that failed."""
        for start in range(0, len(found.names), self.batch_size):
            values = await self._read_values(found.names[start : start + self.batch_size], paced)
            for name, value in _all_or_error(values).items():
                found.add_value(name, value)
        return found.values

    @abstractmethod
    async def _read_batch(self, names: Sequence[str], paced: Paced) -> Answers:
        """Read up to `batch_size` names in one call; a name that is left out is absent."""

    @abstractmethod
    async def _read_one(self, name: str) -> SecretBytes:
        """Read one name. Raises Absent."""
