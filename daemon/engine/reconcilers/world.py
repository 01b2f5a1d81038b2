"""What every reconciler works with. Nothing of it is global: a test builds its own world."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct, field

from syncret.config.meta import ObjectRef
from syncret.daemon.backends.contract import Status, Target
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.inventory import Inventory
from syncret.daemon.engine.reconcilers.events import Events
from syncret.daemon.engine.reconcilers.facts import Facts
from syncret.daemon.engine.reconcilers.owned import Owned
from syncret.daemon.engine.reconcilers.store_heads import StoreHeads
from syncret.daemon.engine.reconcilers.templates import Templates
from syncret.daemon.engine.sessions import Sessions
from syncret.providers.contract import Generator


class Options(Struct, frozen=True, kw_only=True):
    """What the operator decides for all resources."""

    controller_class: str = "default"
    allow_generic_targets: bool = False
    store_interval: float = 300.0
    spread: bool = True
    generator_grace: float = 120.0
    in_cluster: bool = True
    """Whether objects that are nobody's output may be marked. On a host each write makes files of them."""


class World(Struct, frozen=True, kw_only=True):
    """The engine's side of a reconciler."""

    inventory: Inventory
    target: Target
    status: Status
    sessions: Sessions
    generator: Callable[[str], Generator[Any]]
    """The generator of a kind. Raises UnknownName."""
    clock: Clock
    events: Events
    wrote: Callable[[ObjectRef, str, ObjectRef], None]
    """Told of each write: the object, its new version, and who wrote it, so that its echo wakes nobody."""
    wake: Callable[[ObjectRef], object]
    """Runs an object that waits for what no event would tell it."""
    templates: Templates
    options: Options = field(default_factory=Options)
    facts: Facts = field(default_factory=Facts)
    heads: StoreHeads = field(default_factory=StoreHeads)
    owned: Owned = field(default_factory=Owned)

    def handles(self, controller: str | None) -> bool:
        """Whether a store or generator of that class is this daemon's."""
        return not controller or controller == self.options.controller_class
