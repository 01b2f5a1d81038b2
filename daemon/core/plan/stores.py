"""Whether a resource may use a store or generator: whose it is, from which namespaces, and is it ready."""

from collections.abc import Mapping
from typing import TypeAlias

import msgspec

from syncret.config.meta import Metadata
from syncret.config.resources.base import GROUP
from syncret.config.resources.kinds import CLUSTER_SECRET_STORE
from syncret.config.resources.secret_store import SecretStoreStatus, StoreCondition
from syncret.daemon.core import conditions, selectors
from syncret.daemon.core.needs import StoreName
from syncret.daemon.core.plan.actions import Options
from syncret.providers.errors import Denied, Malformed, SyncError


class PendingDependency(SyncError):
    """What is asked for is being made or validated right now; once it is, its dependents are woken."""


class _Spec(msgspec.Struct, frozen=True):
    controller: str = ""
    conditions: tuple[StoreCondition, ...] = ()


class StoreSummary(msgspec.Struct, frozen=True):
    """A store without its provider's spec, which may be large."""

    metadata: Metadata
    spec: _Spec
    status: SecretStoreStatus = SecretStoreStatus()


class GeneratorSummary(msgspec.Struct, frozen=True):
    """A generator without the spec that its kind defines."""

    controller: str = ""


StoreLookup: TypeAlias = StoreSummary | SyncError | None
"""A store; None where there is none; the error if it cannot be told."""

GeneratorLookup: TypeAlias = GeneratorSummary | SyncError | None
"""A generator, likewise."""


def not_found_message(kind: str, name: str) -> str:
    """What is said of a store that does not exist, in the operator's words."""
    return f'could not get {kind} "{name}", {kind}.{GROUP} "{name}" not found'


def store_not_found(name: StoreName, namespace: str) -> Malformed:
    """The error for a store that does not exist."""
    hint = f"create it, or mend the name in secretStoreRef (namespace {namespace})"
    return Malformed(not_found_message(name.kind, name.name), hint=hint)


def belongs_to_another_controller(found: StoreLookup | GeneratorLookup, options: Options) -> bool:
    """Whether it is there and of another controller class: who names it is then left alone."""
    match found:
        case StoreSummary(spec=spec):
            return not options.handles(spec.controller)
        case GeneratorSummary(controller=controller):
            return not options.handles(controller)
        case _:
            return False


def check_usable(
    name: StoreName,
    store: StoreLookup,
    *,
    namespace: str,
    labels: Mapping[str, str],
    options: Options,
    ready: bool,
) -> None:
    """Whether a resource of that namespace, which has these labels, may use the store.

    With `ready` only a store that is known to work. Raises Malformed, Denied or PendingDependency with the
    words of the External Secrets operator, or the error of the lookup.
    """
    if store is None:
        raise store_not_found(name, namespace)
    if isinstance(store, SyncError):
        raise store
    if not options.handles(store.spec.controller):
        raise Denied("can not reference unmanaged store", hint="its spec.controller names another class")
    if name.kind == CLUSTER_SECRET_STORE.kind and not selectors.admits(
        store.spec.conditions, namespace, labels
    ):
        raise Denied(
            f'using cluster store "{name.name}" is not allowed from namespace "{namespace}": '
            "denied by spec.condition",
            hint="widen spec.conditions of the store, or use a SecretStore of the namespace",
        )
    if ready:
        _check_ready(store, name)


def _check_ready(store: StoreSummary, name: StoreName) -> None:
    verdict = conditions.find(store.status.conditions)
    if verdict is None and not store.metadata.deletion_timestamp:
        raise PendingDependency(f'{name.kind} "{name.name}" has not been validated yet')
    if verdict is None or verdict.status != "True":
        raise Malformed(
            f'{name.kind} "{name.name}" is not ready',
            hint=f"syncret explain {name.kind}/{name.name} says why",
        )
