"""Reads as much of a store's manifest as a session needs: its provider, and what identifies the session."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeAlias, cast, get_args, get_origin

import msgspec

from syncret.config.catalog import BrokenEntry
from syncret.config.fields import CAProvider, Model, SecretKeySelector, ServiceAccountSelector
from syncret.config.meta import Metadata, ObjectRef
from syncret.config.settings import Settings
from syncret.daemon.engine.reconciler import ANY
from syncret.daemon.engine.retry import call_policy
from syncret.daemon.homes.contract import StoredObject
from syncret.providers.contract import Provider
from syncret.providers.errors import Malformed
from syncret.providers.kit.retry import RetryPolicy, policy_of
from syncret.providers.registry import UnknownName

RATE = "syncret.dev/requests-per-second"
BURST = "syncret.dev/burst"

_Selector: TypeAlias = SecretKeySelector | ServiceAccountSelector | CAProvider
_SELECTORS: Final = (SecretKeySelector, ServiceAccountSelector, CAProvider)
_PLAIN: Final = frozenset({str, int, float, bool, bytes, type(None), ...})


class SessionKey(NamedTuple):
    """Identifies a session. Two stores never share one, even if they reach the same server.

    `namespace` is the caller's if the store takes its credentials from there or sends it to its server;
    otherwise empty.
    """

    store: ObjectRef
    uid: str
    generation: int
    namespace: str = ""


class StoreConfig(msgspec.Struct, frozen=True, kw_only=True):
    """How one version of one store is served."""

    store: ObjectRef
    uid: str
    generation: int
    provider: Provider[Any]
    spec: Model
    referent: bool
    by_namespace: bool
    """Whether each namespace needs a client of its own."""
    rate: float
    burst: float
    retry: RetryPolicy


class _RetrySettings(msgspec.Struct, rename="camel"):
    max_retries: int | None = None
    retry_interval: str | None = None


class _Spec(msgspec.Struct, rename="camel"):
    provider: dict[str, msgspec.Raw] = {}
    retry_settings: _RetrySettings | None = None


class _Store(msgspec.Struct):
    metadata: Metadata
    spec: _Spec


def load_store_config(
    stored: StoredObject, find: Callable[[str], Provider[Any]], settings: Settings
) -> StoreConfig:
    """Read the manifest; `find` is the registry's. Raises Malformed with what is wrong with it."""
    try:
        store = stored.as_type(_Store)
    except msgspec.ValidationError:
        raise _unfit(stored) from None
    if len(store.spec.provider) != 1:
        raise _unfit(stored)
    [(name, raw)] = store.spec.provider.items()
    try:
        provider = find(name)
    except (UnknownName, BrokenEntry) as error:
        raise Malformed(error.message, hint=error.hint) from None
    try:
        spec = msgspec.json.decode(raw, type=provider.spec.model)
    except msgspec.ValidationError:
        raise _unfit(stored) from None
    annotations = store.metadata.annotations
    referent = not stored.ref.namespace and is_referent(spec)
    published = provider.published_rate(spec) or math.inf
    return StoreConfig(
        store=stored.ref,
        uid=stored.uid,
        generation=store.metadata.generation,
        provider=provider,
        spec=spec,
        referent=referent,
        by_namespace=referent or (not stored.ref.namespace and provider.by_namespace(spec)),
        rate=_number(annotations, RATE, min(settings.requests_per_second, published)),
        burst=_number(annotations, BURST, min(settings.burst, max(1.0, published))),
        retry=policy_of(store.spec.retry_settings, call_policy(settings), path="spec.retrySettings"),
    )


def is_referent(spec: Model) -> bool:
    """Whether a spec leaves a namespace to its caller: some reference in it has none."""
    return any(not selector.namespace for selector in _selectors(spec))


def credentials_of(plan: StoreConfig) -> Iterator[ObjectRef]:
    """The objects that a store takes its credentials from; of any namespace where its callers' count."""
    for selector in _selectors(plan.spec):
        kind = "Secret"
        if isinstance(selector, ServiceAccountSelector):
            kind = "ServiceAccount"
        elif isinstance(selector, CAProvider):
            kind = selector.type
        yield ObjectRef("", kind, plan.store.namespace or selector.namespace or ANY, selector.name)


def _selectors(part: object) -> Iterator[_Selector]:
    match part:
        case SecretKeySelector() | ServiceAccountSelector() | CAProvider():
            if part.name:
                yield part
        case msgspec.Struct():
            if _may_select(type(part)):
                for name in part.__struct_fields__:
                    yield from _selectors(getattr(part, name))
        case tuple() | list():
            for each in cast("Iterable[object]", part):
                yield from _selectors(each)
        case dict():
            for each in cast("Mapping[object, object]", part).values():
                yield from _selectors(each)
        case _:
            return


@cache
def _may_select(model: type[msgspec.Struct]) -> bool:
    """Whether an object of this model can have a selector: none of a thousand entries of a fake store has."""
    return _leads_to_selector(model, {model})


def _leads_to_selector(kind: object, seen: set[object]) -> bool:
    """Whether a selector can be part of a value of this type, by its type hints."""
    origin, inner = get_origin(kind), get_args(kind)
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        if issubclass(kind, _SELECTORS):
            return True
        inner = tuple(field.type for field in msgspec.structs.fields(kind))
    elif not inner:
        return kind not in _PLAIN
    elif origin is Literal:
        return False
    elif origin is Annotated:
        inner = inner[:1]
    return any(_leads_to_selector(each, seen | {each}) for each in inner if each not in seen)


def _unfit(stored: StoredObject) -> Malformed:
    return Malformed(
        f'{stored.ref.kind} "{stored.ref.name}": spec.provider does not fit its schema',
        hint="`syncret validate` says where",
    )


def _number(annotations: dict[str, str], name: str, default: float) -> float:
    text = annotations.get(name)
    if text is None:
        return default
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not number > 0:
        raise Malformed(
            f"annotation {name} must be a number above 0", hint='write it in quotes, such as "10"'
        )
    return number
