"""Makes the reconciler of Deliveries for the home of a host; its code is imported only when it is needed."""

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
    from syncret.daemon.delivery.credentials.offers import Offers


def deliveries_of(
    settings: Settings,
    key: bytes | None,
    *,
    once: bool = False,
    dry: bool = False,
    took_step: "StepListener | None" = None,
    offers: "Offers | None" = None,
) -> Callable[[ReconcilerContext], Reconciler] | None:
    """A function that makes the reconciler; None without a key, which only the home of a host has.

    `once`: this is one pass, in which nothing waits for more changes; `dry`: nothing may be written or run;
    `took_step` is called with each step of a delivery; `offers`: what units may ask for on the credential
    socket, None if there is none.
    """
    if key is None:
        return None
    return partial(_reconciler, settings, key, once=once, dry=dry, took_step=took_step, offers=offers)


def _reconciler(
    settings: Settings,
    key: bytes,
    context: ReconcilerContext,
    *,
    once: bool,
    dry: bool,
    took_step: "StepListener | None",
    offers: "Offers | None",
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
        trusts_api=settings.kubernetes and settings.commands_from_api,
        took_step=took_step or ignore_step,
        offers=offers,
        outputs=_outputs(settings, dry=dry),
    )
    return DeliveryReconciler(context, host)


def _outputs(settings: Settings, *, dry: bool) -> str:
    """The absolute path of the output folder; a dry run without one uses the default."""
    folder = settings.output_dir or (Settings().output_dir if dry else "")
    return str(Path(folder).absolute()) if folder else ""
