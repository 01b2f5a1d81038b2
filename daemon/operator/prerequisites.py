"""Checks what a configuration names and does not create: kinds of cert-manager, an issuer, a Secret."""

from typing import Final

from syncret.config.errors import ConfigError, Problem
from syncret.config.meta import GroupKind, ObjectRef
from syncret.config.resources.kinds import SECRET
from syncret.daemon.homes.contract import StorageUnavailable
from syncret.daemon.install.operator.choices import Choices
from syncret.daemon.operator.cluster import CERTIFICATE, CRD, Cluster

SOON: Final = 2.0
"""Seconds until the next check of something that is missing."""

VERY_SOON: Final = 0.5
_ISSUERS: Final = "cert-manager.io"


class NotYet(Exception):
    """A prerequisite is missing; it is checked again after some seconds."""

    def __init__(self, message: str, seconds: float = SOON) -> None:
        super().__init__(message)
        self.seconds = seconds


async def check_prerequisites(cluster: Cluster, chosen: Choices) -> None:
    """Raise StorageUnavailable or NotYet if one is missing, ConfigError if only a change helps."""
    issued = chosen.cert_manager
    if issued is not None:
        kind = issued.issuer["kind"]
        issuer = GroupKind(_ISSUERS, kind)
        unknown = [each for each in (CERTIFICATE, issuer) if cluster.inventory.is_unknown(each)]
        if unknown:
            cluster.applier.retry_unknown(unknown)
        for each in unknown:
            await _check_served(cluster, each)
        namespace = chosen.namespace if kind == "Issuer" else ""
        await _look(cluster, ObjectRef(*issuer, namespace, issued.issuer["name"]))
    if chosen.bitwarden is not None and chosen.bitwarden.secret:
        await _look(cluster, SECRET.ref(chosen.namespace, chosen.bitwarden.secret))


async def _check_served(cluster: Cluster, kind: GroupKind) -> None:
    if await cluster.applier.serves(kind):
        return
    crd = ObjectRef(*CRD, "", f"{kind.kind.lower()}s.{kind.group}")
    if cluster.inventory.get(crd) is not None:  # it is served a moment later, without an event
        raise NotYet("the kinds of cert-manager are not served yet", VERY_SOON)
    message = f"cert-manager is to issue certificates, and its kind {kind.kind} is not there"
    raise ConfigError([Problem(path="", message=message, hint="install cert-manager")])


async def _look(cluster: Cluster, ref: ObjectRef) -> None:
    if cluster.inventory.get(ref) is None and await cluster.applier.look(ref) is None:
        raise StorageUnavailable(f"{ref} is not there")
