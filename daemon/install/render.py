"""An installation -> the objects that `kubectl apply` takes. Pure."""

from collections.abc import Iterator, Sequence

from syncret.config.catalog import Catalog
from syncret.config.errors import ConfigError
from syncret.config.meta import Document
from syncret.daemon.install.deployment import deployment
from syncret.daemon.install.installation import Installation, problems
from syncret.daemon.install.metadata import named
from syncret.daemon.install.roles import roles
from syncret.daemon.install.traffic import traffic


def render(installation: Installation, catalog: Catalog) -> Sequence[Document]:
    """All objects but the namespace and the CRDs, in the order in which they are needed. Raises ConfigError.

    The catalog tells the kinds of generators, which the daemon has to read.
    """
    found = list(problems(installation))
    if found:
        raise ConfigError(found)
    _ = installation.daemon
    return tuple(_objects(installation, catalog))


def _objects(installation: Installation, catalog: Catalog) -> Iterator[Document]:
    account = installation.service_account
    if account.create:
        yield named(
            installation,
            "v1",
            "ServiceAccount",
            installation.account,
            namespace=installation.namespace,
            labels=account.labels,
            annotations=account.annotations,
        )
    yield from roles(installation, catalog)
    yield deployment(installation)
    yield from traffic(installation)
