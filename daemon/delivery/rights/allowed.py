"""Checks whether a Delivery may be carried out on this host: its paths, its commands, their rights."""

from collections.abc import Collection

from syncret.config.manifests.bound_deliveries import delivery_outside_bounds
from syncret.config.manifests.bound_folders import bounds_of
from syncret.config.resources.delivery.delivery import DeliverySpec
from syncret.config.resources.delivery.rules import commands_of, overlap, places_of
from syncret.config.resources.delivery.steps import DeliveryCheck
from syncret.config.settings import BoundFolder
from syncret.daemon.delivery.credentials.sealing import check_sealing
from syncret.daemon.delivery.paths import Refused
from syncret.daemon.delivery.rights.accounts import other_user
from syncret.daemon.delivery.rights.mounted import may
from syncret.daemon.delivery.trusted import check_manifest

_ROOT_PROFILE = "install deliver-as-root.conf as a drop-in of syncret.service, or check by a unit"


def check_places(spec: DeliverySpec, reserved: Collection[str]) -> None:
    """Raise Refused for a path inside the daemon's own folders, or credentials that cannot be sealed."""
    check_sealing(spec)
    for place in places_of(spec):
        for own in reserved:
            if overlap(place.path, own):
                raise Refused(f"{place.field}: {own} is a folder of syncret's own", "choose another path")


def check_author(
    spec: DeliverySpec,
    manifest: str | None,
    bound: Collection[BoundFolder],
    *,
    in_container: bool,
    trusts_api: bool = False,
) -> None:
    """Raise Refused unless the author of the manifest may have what the Delivery asks for.

    In a bound folder the settings limit that. Elsewhere everything is allowed, but a manifest with commands
    must be writable by root and the daemon alone. An object of an API server has no manifest.
    """
    folder = None if manifest is None else bounds_of(manifest, bound)
    if folder is not None:
        problem = delivery_outside_bounds(spec, folder)
        if problem is not None:
            raise Refused(f"{problem.path}: {problem.message}", problem.hint)
        return
    if manifest is None and bound:
        raise Refused("no file of this host defines the Delivery", "write a manifest")
    for field in () if manifest is None and trusts_api else commands_of(spec):
        if manifest is None:
            hint = "write a manifest; for an object of the API server there is the setting commandsFromApi"
            raise Refused(f"{field}: not run: no file of this host defines the Delivery", hint)
        try:
            check_manifest(manifest, in_container=in_container)
        except Refused as error:
            raise Refused(f"{field}: not run: {error}", error.hint) from None


def check_rights(step: DeliveryCheck | None) -> None:
    """Raise Refused if the program of a check asks for more rights than this process has."""
    if step is None or not step.exec:
        return
    if step.view == "mounted" and not may("mounted"):
        raise Refused("spec.check.view: the daemon has no right to mount", _ROOT_PROFILE)
    if other_user(step.user) is not None and not may("user"):
        raise Refused(f"spec.check.user: the daemon has no right to become {step.user}", _ROOT_PROFILE)
