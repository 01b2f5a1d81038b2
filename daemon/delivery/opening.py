"""Carries out Deliveries where the home is this host's; imported code is small until there is one."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from syncret.config.settings import Settings
from syncret.daemon.engine.reconciler import Reconciler
from syncret.daemon.engine.reconcilers.context import ReconcilerContext
from syncret.daemon.private_paths import in_container


def deliveries_of(
    settings: Settings, key: bytes | None, *, once: bool = False, dry: bool = False
) -> Callable[[ReconcilerContext], Reconciler] | None:
    """Makes their reconciler; None without a key, which only the home of a host has.

    `once`: in one pass nothing waits for more changes; `dry`: nothing may be written or run.
    """
    return None if key is None else partial(_reconciler, settings, key, once=once, dry=dry)


def _reconciler(
    settings: Settings, key: bytes, context: ReconcilerContext, *, once: bool, dry: bool
) -> Reconciler:
    from syncret.daemon.delivery.reconciler import DeliveryReconciler, OnHost  # few have any

    own = (settings.output_dir, settings.state_file, *settings.manifest_paths)
    host = OnHost(
        key=key,
        fsync=settings.fsync,
        rescan=settings.rescan_interval,
        reserved=tuple(str(Path(each).absolute()) for each in own if each),
        once=once,
        dry=dry,
        in_container=in_container(),
    )
    return DeliveryReconciler(context, host)
