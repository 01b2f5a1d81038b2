"""Where a PushSecret takes its values from: one Secret, all that match a selector, or a generator."""

from base64 import b64encode
from typing import Final, NamedTuple

from syncret.config.meta import Document, GroupKind, ObjectRef
from syncret.config.resources.external_secret import ExternalSecret
from syncret.config.resources.push_secret import PushSecret
from syncret.daemon.core.secret import secret_data
from syncret.daemon.engine.reconcilers.leases import Leases
from syncret.daemon.engine.reconcilers.stores import NotReadyYet
from syncret.daemon.engine.reconcilers.world import World
from syncret.providers.errors import Malformed

SECRET: Final = GroupKind("", "Secret")
DRAWN: Final = "__pushsecret"
"""The place under which the operator records what a PushSecret draws."""


class SourceMissing(Malformed):
    """The Secret that was named does not exist."""


class Source(NamedTuple):
    """One Secret to push from, as a document and as its values."""

    document: Document
    data: dict[str, bytes]


async def sources(world: World, resource: PushSecret, leases: Leases) -> list[Source]:
    """Every source of the PushSecret; none where a selector matches nothing. Raises SyncError.

    What is drawn is entered in `leases`.
    """
    namespace, selector = resource.metadata.namespace, resource.spec.selector
    if selector.generator_ref is not None:
        values = await leases.draw(DRAWN, selector.generator_ref)
        data = {key: value.raw for key, value in values.items()}
        return [Source(_document(namespace, data), data)]
    if selector.secret is None:
        raise Malformed(
            "no secret selector provided", hint="set spec.selector.secret or spec.selector.generatorRef"
        )
    if selector.secret.name:
        stored = await world.target.get(ObjectRef("", "Secret", namespace, selector.secret.name))
        if stored is None and _is_being_made(world, namespace, selector.secret.name):
            raise NotReadyYet(f'secret "{selector.secret.name}" is being made')
        if stored is None:
            raise SourceMissing(
                f'secret "{selector.secret.name}" not found', hint=f"create it in {namespace}"
            )
        found = [stored]
    else:
        found = list(await world.target.list(SECRET, namespace=namespace, selector=selector.secret.selector))
    documents = [stored.document for stored in found]
    return [Source(document, secret_data(document)) for document in documents]


def _is_being_made(world: World, namespace: str, name: str) -> bool:
    """Whether an ExternalSecret makes the Secret, and has not come to anything yet."""
    makers = world.inventory.dependents(ObjectRef("", "Secret", namespace, name))
    undecided = (
        maker for maker in makers if maker.kind == "ExternalSecret" and not world.facts.decided(maker)
    )
    found = map(world.inventory.get, undecided)
    return any(
        stored is not None and not stored.as_type(ExternalSecret).status.conditions for stored in found
    )


def _document(namespace: str, data: dict[str, bytes]) -> Document:
    """A Secret that exists only while it is pushed."""
    encoded = {key: b64encode(value).decode() for key, value in data.items()}
    metadata = {"name": "generated", "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": "Opaque", "data": encoded}
