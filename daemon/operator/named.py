"""What a configuration names and does not make: kinds of cert-manager, an issuer, a Secret."""

from typing import Final

from syncret.config.errors import ConfigError, Problem
from syncret.config.meta import GroupKind, ObjectRef
from syncret.config.resources.kinds import SECRET
from syncret.daemon.homes.contract import StorageUnavailable
from syncret.daemon.install.operator.choices import Choices
from syncret.daemon.operator.cluster import CERTIFICATE, CRD, Cluster

_ISSUERS: Final = "cert-manager.io"


async def missing(cluster: Cluster, chosen: Choices) -> None:
    """Raise StorageUnavailable for what is not there yet, and ConfigError for what cannot work without it."""
    issued = chosen.cert_manager
    if issued is not None:
        if cluster.inventory.is_unknown(CERTIFICATE):
            cluster.applier.look_again()
        if not await cluster.applier.serves(CERTIFICATE):
            if cluster.inventory.get(ObjectRef(*CRD, "", "certificates.cert-manager.io")) is not None:
                raise StorageUnavailable("the kinds of cert-manager are not served yet")
            message = "cert-manager is to issue certificates, and its kinds are not there"
            raise ConfigError([Problem(path="", message=message, hint="install cert-manager")])
        kind = issued.issuer["kind"]
        namespace = chosen.namespace if kind == "Issuer" else ""
        issuer = GroupKind(_ISSUERS, kind)
        await _look(cluster, ObjectRef(*issuer, namespace, issued.issuer["name"]))
    if chosen.bitwarden is not None and chosen.bitwarden.secret:
        await _look(cluster, SECRET.ref(chosen.namespace, chosen.bitwarden.secret))


async def _look(cluster: Cluster, ref: ObjectRef) -> None:
    if cluster.inventory.get(ref) is None and await cluster.applier.look(ref) is None:
        raise StorageUnavailable(f"{ref} is not there")
