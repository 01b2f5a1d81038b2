"""Decides whether a Delivery may do on this host what it asks for: its paths, its commands, their rights."""

from collections.abc import Collection

from syncret.config.resources.delivery.delivery import DeliverySpec
from syncret.config.resources.delivery.rules import commands_of, overlap, places_of, unserved
from syncret.config.resources.delivery.steps import DeliveryCheck
from syncret.daemon.delivery.mounted import may
from syncret.daemon.delivery.paths import Refused
from syncret.daemon.delivery.proving import other_user
from syncret.daemon.delivery.trusted import check_manifest

_ROOT_PROFILE = "install deliver-as-root.conf as a drop-in of syncret.service, or check by a unit"


def check_places(spec: DeliverySpec, reserved: Collection[str]) -> None:
    """Raise Refused for what this version cannot do, and for a path inside our own folders."""
    for path, what in unserved(spec):
        raise Refused(f"{path}: {what}", "see the documentation of Delivery")
    for place in places_of(spec):
        for own in reserved:
            if overlap(place.path, own):
                raise Refused(f"{place.field}: {own} is a folder of syncret's own", "choose another path")


def check_commands(spec: DeliverySpec, manifest: str | None, *, in_container: bool) -> None:
    """Raise Refused unless nobody but root and us can have written what is run; `manifest` is its file."""
    for field in commands_of(spec):
        if manifest is None:
            raise Refused(f"{field}: not run: no file of this host defines the Delivery", "write a manifest")
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
