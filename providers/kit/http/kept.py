"""Notes which requests were made on a connection that was kept."""

from dataclasses import dataclass
from types import SimpleNamespace

import aiohttp


@dataclass(slots=True)
class Connection:
    """What is known of the connection of a request, which takes it as its `trace_request_ctx`."""

    was_kept: bool = False


async def _note(_session: aiohttp.ClientSession, trace: SimpleNamespace, _: object) -> None:
    if isinstance(trace.trace_request_ctx, Connection):
        trace.trace_request_ctx.was_kept = True


def noting() -> aiohttp.TraceConfig:
    """What a session needs for its requests to know."""
    config = aiohttp.TraceConfig()
    config.on_connection_reuseconn.append(_note)
    return config
