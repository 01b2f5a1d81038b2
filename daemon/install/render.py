"""Renders an installation to the objects that `kubectl apply` takes. Pure."""

from collections.abc import Mapping, Sequence
from typing import Final

from syncret.config.catalog import Catalog
from syncret.config.errors import ConfigError
from syncret.config.meta import Document
from syncret.daemon.install import webhook
from syncret.daemon.install.crds import crds
from syncret.daemon.install.deployment import DEPLOYMENT
from syncret.daemon.install.installation import Installation, problems
from syncret.daemon.install.metadata import ACCOUNT, INSTALLATION, i, named
from syncret.daemon.install.outline.fill import fill
from syncret.daemon.install.outline.nodes import Outline, each, when
from syncret.daemon.install.roles import roles
from syncret.daemon.install.traffic import TRAFFIC

_ACCOUNT: Final = when(
    i.service_account.create,
    named(
        "v1",
        "ServiceAccount",
        ACCOUNT,
        labels=i.service_account.labels,
        annotations=i.service_account.annotations,
    ),
)


def outlines(catalog: Catalog) -> Mapping[str, Sequence[Outline]]:
    """The outlines of all objects but CRDs, in groups with a name, in the order in which they are needed.

    The catalog contains the kinds of generators, which the daemon has to read.
    """
    return {
        "account": [_ACCOUNT],
        "roles": roles(catalog),
        "deployment": [DEPLOYMENT],
        "traffic": TRAFFIC,
        "webhook": webhook.OBJECTS,
        "objects": [each(i.objects, lambda one: one)],
    }


def render(installation: Installation, catalog: Catalog) -> Sequence[Document]:
    """All objects but the namespace. Raises ConfigError."""
    found = list(problems(installation))
    if found:
        raise ConfigError(found)
    values = {INSTALLATION: installation.values}
    wanted = list(outlines(catalog).values())
    if installation.crds is not None:
        wanted.insert(0, [outline for _, outline in crds(catalog)])
    return tuple(each for group in wanted for each in fill(group, values))
