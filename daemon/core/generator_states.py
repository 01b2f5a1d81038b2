"""GeneratorStates, the records of what generators created in other systems: their documents, and their end.

A GeneratorState keeps the generator as it was and what that needs to clean up after itself. As with the
operator, the newest record but one stays in force: programs with the former credential have until the next
refresh, and the grace period, to take the new one.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from syncret.config.meta import Document
from syncret.config.resources.base import Resource
from syncret.config.resources.generators import GeneratorState
from syncret.config.resources.kinds import GENERATOR_STATE
from syncret.daemon.core.digest import text_hash

KIND: Final = GENERATOR_STATE.group_kind
FINALIZER: Final = "generatorstate.externalsecrets.io/finalizer"
OWNER_KEY: Final = "generators.external-secrets.io/owner-key"
_LONGEST_BASE: Final = 58


def owner_key(owner: Resource, place: str) -> str:
    """The label for the entry of a resource that generated values."""
    metadata = owner.metadata
    return text_hash(f"{owner.kind}-{metadata.namespace}-{metadata.name}-{place}")


def state_document(
    owner: Resource, place: str, generator: Document, state: Document, *, suffix: str
) -> Document:
    """A new GeneratorState. It is deleted with its owner; its finalizer holds it until it is cleaned up."""
    base = f"gen-{owner.kind.lower()}-{owner.metadata.name}-"[:_LONGEST_BASE]
    reference = {
        "apiVersion": owner.api_version,
        "kind": owner.kind,
        "name": owner.metadata.name,
        "uid": owner.metadata.uid,
    }
    return {
        "apiVersion": GENERATOR_STATE.api_version,
        "kind": KIND.kind,
        "metadata": {
            "name": base + suffix,
            "namespace": owner.metadata.namespace,
            "labels": {OWNER_KEY: owner_key(owner, place)},
            "ownerReferences": [reference],
            "finalizers": [FINALIZER],
        },
        "spec": {"resource": generator, "state": state},
    }


def superseded(
    states: Iterable[GeneratorState], owner: Resource, generated: Mapping[str, str]
) -> Iterator[GeneratorState]:
    """The records of `owner` that are obsolete now. `generated` has the newest record of each place.

    Of a place that generated again the former record is kept; of a place that no longer generates, none.
    """
    keys = {owner_key(owner, place): name for place, name in generated.items()}
    former: dict[str, list[GeneratorState]] = {}
    for state in states:
        if _is_in_force(state, owner.metadata.uid, keys.values()):
            former.setdefault(state.metadata.labels.get(OWNER_KEY, ""), []).append(state)
    for key, found in former.items():
        found.sort(key=_age)
        yield from found[:-1] if key in keys else found


def _age(state: GeneratorState) -> tuple[str, int, str]:
    """The sort key of records: by time; within one second by version, which is a growing number."""
    metadata = state.metadata
    return metadata.creation_timestamp, len(metadata.resource_version), metadata.resource_version


def _is_in_force(state: GeneratorState, owner: str, new: Collection[str]) -> bool:
    metadata = state.metadata
    if metadata.deletion_timestamp or metadata.name in new:
        return False
    if state.spec is None or state.spec.garbage_collection_deadline:
        return False
    return any(reference.uid == owner for reference in metadata.owner_references)
