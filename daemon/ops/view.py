"""What operators may see of a running daemon, and the two things they may do with it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from syncret.config.settings import Settings
from syncret.daemon.backends.filesystem.reading import FileProblem
from syncret.daemon.ops.metrics import Metrics
from syncret.daemon.ops.watched import Clock, Running


@dataclass(slots=True, kw_only=True)
class View:
    """One life of the daemon. `problems` are those of the manifests, as they are now."""

    controllers: Running
    metrics: Metrics
    clock: Clock
    settings: Settings
    started: float
    address: str = ""
    """Where HTTP is served, once it is: the port that was found where port 0 was asked for."""
    problems: Sequence[FileProblem] = field(default_factory=tuple)
