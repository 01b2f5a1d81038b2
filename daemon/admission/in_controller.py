"""The webhook inside the controller: each replica serves it, the active one maintains its certificate."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext

from syncret.config.settings import Settings
from syncret.daemon.core.cluster_stats import ClusterStats
from syncret.daemon.ops.view import Serve, View


@asynccontextmanager
async def webhook_service(settings: Settings) -> AsyncGenerator[Serve, None]:
    """Listen as `settings.webhook` says, if it is enabled, until the block is left. Raises CannotListen."""
    if not (settings.kubernetes and settings.webhook.enabled) or settings.is_sidecar:
        yield lambda _: nullcontext()
        return
    from syncret.daemon.admission import parts  # certificates are slow to import
    from syncret.daemon.homes.kubernetes.api import no_fence

    async with parts.listening(settings) as sockets:

        @asynccontextmanager
        async def served(view: View) -> AsyncGenerator[None, None]:
            stats = view.cluster or ClusterStats()
            fence = stats.fence
            async with AsyncExitStack() as stack:
                within = None
                if not settings.webhook.cert_dir:
                    left = no_fence if fence is None else fence.left
                    within = await stack.enter_async_context(parts.cluster(settings, stats, fence=left))
                    if not settings.observe:
                        await stack.enter_async_context(
                            parts.keeping(
                                settings, within, lambda: left() > 0 and not stats.foreign_writers()
                            )
                        )
                certificate = parts.certificate_of(settings, within)
                await stack.enter_async_context(
                    parts.serving(sockets, certificate, view.registry, view.metrics.registry)
                )
                yield

        yield served
