"""What operators may see of a running daemon, and the two things they may do with it."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import TypeAlias

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


Serve: TypeAlias = Callable[[View], AbstractAsyncContextManager[None]]
"""Answers operators for as long as its block is open."""

Service: TypeAlias = Callable[[Settings], AbstractAsyncContextManager[Serve]]
"""Takes its address before anything begins, and holds it until its block is left; early callers wait."""
