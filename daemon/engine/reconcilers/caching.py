"""The use of the offline cache by a run of an ExternalSecret: keeps values, and takes them in an outage."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from syncret.config.catalog import BrokenEntry
from syncret.config.durations import parse_duration
from syncret.config.meta import Document, ObjectRef, member
from syncret.config.resources.external_secret import ExternalSecret
from syncret.config.resources.kinds import CLUSTER_GENERATOR, generator_ref, role_of, store_ref
from syncret.daemon.cache.cache import OfflineCache, StoreId, store_id
from syncret.daemon.core import needs
from syncret.daemon.core.needs import Answer, Generate, Need
from syncret.daemon.core.ownership import DATA_HASH
from syncret.daemon.core.secret import secret_data
from syncret.providers.errors import Denied, SyncError, Throttled, Unavailable, bare
from syncret.providers.registry import UnknownName
from syncret.providers.values import SecretBytes

if TYPE_CHECKING:
    from syncret.daemon.engine.reconcilers.context import ReconcilerContext

ANNOTATION: Final = "syncret.dev/cache"
NEVER: Final = "never"


class ResolvedAnswers(NamedTuple):
    """The answers of a run, some of them from the cache."""

    answers: Mapping[Need, Answer]
    error: SyncError | None = None
    """The error of a store that did not answer, if some are from the cache; None if none is."""
    confirmed_at: float = 0.0
    """When a store last confirmed the oldest of these."""
    is_refused: bool = False
    """Whether a store refused to give a value, or no longer has it."""


class Caching:
    """The cache, for one run of one ExternalSecret."""

    def __init__(
        self, context: "ReconcilerContext", cache: OfflineCache, resource: ExternalSecret, target: ObjectRef
    ) -> None:
        self._context = context
        self._cache = cache
        self._resource = resource
        self._target = target
        is_once = resource.spec.refresh_policy in ("CreatedOnce", "OnChange")
        self._interval = 0.0 if is_once else parse_duration(resource.spec.refresh_interval)

    @property
    def is_due(self) -> bool:
        """Whether the target was put back at the start, and is to be confirmed as soon as possible."""
        return self._interval > 0 and self.is_restored

    @property
    def is_restored(self) -> bool:
        """Whether the target was put back at the start, and is not confirmed yet."""
        return self._target in self._cache.restored

    # ---------------------------------------------------------------------------------------------- answers
    def resolve(self, answers: Mapping[Need, Answer], failed: Mapping[Need, SyncError]) -> ResolvedAnswers:
        """Keep the answers of stores, drop what they refused, and use the cache where they do not answer."""
        self._note_refused(failed)
        found = dict(answers)
        refused = any(isinstance(error, Denied) for error in failed.values())
        since: list[float] = []
        problem: SyncError | None = None
        for need, answer in answers.items():
            store = None if isinstance(need, Generate) else self._store(need.store)
            if store is None or isinstance(need, Generate):
                continue
            named = f"{type(need).__name__} {msgspec.json.encode(_asked(need)).decode()}"
            if not isinstance(answer, Unavailable | Throttled):
                refused = self._noted(store, named, answer) or refused
            elif (kept := self._cache.read(store, named)) is not None:
                found[need] = _unpacked(kept.content)
                since.append(kept.confirmed_at)
                problem = problem or bare(answer)
        return ResolvedAnswers(found, problem, min(since, default=0.0), refused)

    def _note_refused(self, failed: Mapping[Need, SyncError]) -> None:
        """Note the logins that were refused: the check of a store fails before anything is read from it."""
        for need in failed:
            store = None if isinstance(need, Generate) else self._store(need.store)
            if store is not None and self._context.sessions.is_in_doubt(store.store):
                self._cache.store_refused(store)

    def _noted(self, store: StoreId, named: str, answer: Answer) -> bool:
        """Keep the answer of a store; returns whether it refused the value, or no longer has it."""
        cache = self._cache
        if isinstance(answer, Denied) and self._context.sessions.is_in_doubt(store.store):
            cache.store_refused(store)
            return False
        if isinstance(answer, SyncError) and not isinstance(answer, Denied):
            return False
        if not isinstance(answer, SyncError):
            cache.store_answered(store)
        if answer is None or isinstance(answer, SyncError):
            cache.forget_read(store, named)
            return True
        if not self._is_never(self._resource.metadata.annotations):
            cache.keep_read(store, named, _packed(answer), self._interval)
        return False

    # --------------------------------------------------------------------------------------------- outputs
    @property
    def is_known(self) -> bool:
        """Whether the cache holds the target as it is now, or must not hold it."""
        digest = self._digest()
        return not digest or self._cache.has_output(self._target, digest)

    async def keep(self, confirmed_at: float) -> None:
        """Keep the target, whose values were confirmed then; one that is kept already is confirmed."""
        cache, target, digest = self._cache, self._target, self._digest()
        if not digest or not self._may_be_kept():
            cache.forget_output(target)
            return
        if not cache.has_output(target, digest):
            whole = await self._context.home.get(target)
            if whole is None or _digest_of(whole.document) != digest:
                return  # changed meanwhile: its own event brings another run
            cache.keep_output(target, digest, secret_data(whole.document), self._stores())
        cache.confirm_output(target, confirmed_at, self._interval)

    def _digest(self) -> str:
        """The digest of the target's content, from the inventory: no file is read."""
        stored = self._context.inventory.get(self._target)
        return "" if stored is None else _digest_of(stored.document)

    def mark_unconfirmed(self, resolved: ResolvedAnswers) -> None:
        """Note that the target could not be confirmed now."""
        if resolved.is_refused:
            self._cache.forget_output(self._target)
            return
        if self._cache.age(self._target) is not None:
            self._cache.unconfirmed.add(self._target)

    @property
    def is_too_old(self) -> bool:
        """Whether the target has been unconfirmed for longer than the settings allow."""
        age, limit = self._cache.age(self._target), self._cache.no_stale_after
        return age is not None and 0 < limit < age

    def target_age(self) -> float:
        """Seconds since the values of the target were confirmed; 0 if that is not known."""
        return self._cache.age(self._target) or 0.0

    def expires_in(self) -> float | None:
        """Seconds until the target is too old; None: never."""
        age, limit = self._cache.age(self._target), self._cache.no_stale_after
        return None if age is None or not limit else max(0.0, limit - age)

    def age(self, confirmed_at: float) -> float:
        """Seconds since values were confirmed."""
        return max(0.0, self._cache.now() - confirmed_at)

    def now(self) -> float:
        """The time of the cache."""
        return self._cache.now()

    def withdraw(self) -> None:
        """The target was taken back."""
        self._cache.withdraw_output(self._target)

    # -------------------------------------------------------------------------------------------- what may be
    def _may_be_kept(self) -> bool:
        """Whether the target may be cached.

        False for a manifest target, one that is pushed, one with the annotation, and values whose lifetime
        depends on a login of ours.
        """
        context, spec = self._context, self._resource.spec
        if spec.target.manifest is not None or spec.target.creation_policy == "None":
            return False
        if self._is_never(self._resource.metadata.annotations):
            return False
        if context.home.manifest_of(self._target) is not None:
            return False
        if any(role_of(each[:2]) == "push" for each in context.inventory.dependents(self._target)):
            return False
        named = needs.stores(spec)
        if sum(1 for _ in self._stores()) < len(named):
            return False
        return all(self._is_local(each.kind, each.name) for each in needs.generators(spec))

    def _is_local(self, kind: str, name: str) -> bool:
        """Whether a generator makes its values in this process, without a manager."""
        if kind == CLUSTER_GENERATOR.kind:
            found = self._context.inventory.get(generator_ref(kind, name, ""))
            kind = "" if found is None else str(member(found.document, "spec").get("kind", ""))
        try:
            return self._context.generator(kind).local
        except (UnknownName, BrokenEntry):  # the run says what is wrong with it
            return False

    def _stores(self) -> Iterator[StoreId]:
        for name in needs.stores(self._resource.spec):
            store = self._store(name)
            if store is not None:
                yield store

    def _store(self, name: needs.StoreName) -> StoreId | None:
        """The store that an entry reads from, if its answers may be kept."""
        namespace = self._resource.metadata.namespace
        stored = self._context.inventory.get(store_ref(*name, namespace))
        if stored is None:
            return None
        if self._is_never(member(stored.document, "metadata").get("annotations") or {}):
            return None
        return store_id(stored.ref, stored.data, namespace)

    def _is_never(self, annotations: Mapping[str, str]) -> bool:
        return annotations.get(ANNOTATION) == NEVER


def _digest_of(secret: Document) -> str:
    digest: str = member(secret, "metadata", "annotations").get(DATA_HASH, "")
    return digest


def _asked(need: needs.Read | needs.Extract | needs.Search) -> object:
    return need.query if isinstance(need, needs.Search) else need.ref


def _packed(answer: SecretBytes | Mapping[str, SecretBytes]) -> bytes:
    if isinstance(answer, SecretBytes):
        return msgspec.msgpack.encode(answer.raw)
    return msgspec.msgpack.encode({key: value.raw for key, value in answer.items()})


def _unpacked(content: bytes) -> Answer:
    found: Any = msgspec.msgpack.decode(content, type=bytes | dict[str, bytes])
    if isinstance(found, bytes):
        return SecretBytes(found)
    return {key: SecretBytes(value) for key, value in found.items()}
