"""The daemon: home, engine, HTTP, control socket and watchdog in one TaskGroup; signals, reload and drain."""

import asyncio
import signal
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Protocol

import structlog

from syncret.config.meta import ObjectRef
from syncret.config.settings import Settings
from syncret.daemon.app import Controllers, controllers
from syncret.daemon.backends.filesystem.manifests import FileProblem
from syncret.daemon.engine.clock import Clock
from syncret.daemon.host import host_home
from syncret.daemon.ops.metrics import Metrics
from syncret.daemon.ops.notify import Notifier
from syncret.providers.registry import Registry
