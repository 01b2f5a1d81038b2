"""Carries out Deliveries where the home is this host's; imported code is small until there is one."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from syncret.config.settings import Settings
from syncret.daemon.engine.reconciler import Reconciler
from syncret.daemon.engine.reconcilers.context import ReconcilerContext
from syncret.daemon.private_paths import in_container

if TYPE_CHECKING:  # few have any
    from syncret.daemon.core.delivery.step import StepListener


def deliveries_of(
    settings: Settings,
    key: bytes | None,
    *,
    once: bool = False,
    dry: bool = False,
    took_step: "StepListener | None" = None,
) -> Callable[[ReconcilerContext], Reconciler] | None:
    """Makes their reconciler; None without a key, which only the home of a host has.

    `once`: in one pass nothing waits for more changes; `dry`: nothing may be written or run;
    `took_step` hears of each step of a delivery.
    """
    if key is None:
        return None
    return partial(_reconciler, settings, key, once=once, dry=dry, took_step=took_step)


def _reconciler(
    settings: Settings,
    key: bytes,
    context: ReconcilerContext,
    *,
    once: bool,
    dry: bool,
    took_step: "StepListener | None",
) -> Reconciler:
    from syncret.config.manifests.bound_folders import absolute
    from syncret.daemon.core.delivery.step import ignore_step
    from syncret.daemon.delivery.reconciler import DeliveryReconciler, OnHost

    own = (settings.output_dir, settings.state_file, *settings.manifest_paths)
    host = OnHost(
        key=key,
        fsync=settings.fsync,
        rescan=settings.rescan_interval,
        reserved=tuple(str(Path(each).absolute()) for each in own if each),
        bound=absolute(settings.bound_folders),
        once=once,
        dry=dry,
        in_container=in_container(),
        took_step=took_step or ignore_step,
    )
    return DeliveryReconciler(context, host)
