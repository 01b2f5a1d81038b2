"""What operators may see of a running daemon, and the two things they may do with it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from syncret.config.settings import Settings
from syncret.daemon.app import Controllers
from syncret.daemon.backends.filesystem.reading import FileProblem
from syncret.daemon.engine.clock import Clock
from syncret.daemon.ops.metrics import Metrics


@dataclass(slots=True, kw_only=True)
class View:
    """One life of the daemon. `problems` are those of the manifests, as they are now."""

    controllers: Controllers
    metrics: Metrics
    clock: Clock
    settings: Settings
    started: float
    problems: Sequence[FileProblem] = field(default_factory=tuple)
