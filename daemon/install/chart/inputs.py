"""What a template of Helm sees, and the names that follow from it."""

from typing import Final

from syncret.daemon.install.outline.nodes import (
    Refused,
    Root,
    Value,
    When,
    contains,
    first,
    merged,
    text,
    trunc,
    when,
)

HELM: Final = Root()
"""What a template of Helm sees: Values, Release, Chart, Capabilities."""
helm: Final = Value(HELM)
v: Final = helm.Values
release: Final = helm.Release

_LONGEST: Final = 40
"""Leaves room for what is appended, in names and labels of at most 63 characters."""

APP: Final = trunc(first(v.nameOverride, "syncret"), _LONGEST)
NAME: Final = trunc(
    first(
        v.fullnameOverride,
        When(contains(release.Name, APP), release.Name, text(release.Name, "-", APP)),
    ),
    _LONGEST,
)
NAMESPACE: Final = first(v.namespaceOverride, release.Namespace)
_REPOSITORY: Final = first(
    v["global"].repository,
    v.image.repository,
    Refused("image.repository", "is missing", "there is no default: push the image to a registry"),
)
IMAGE: Final = when(
    contains(_REPOSITORY, "external-secrets/external-secrets"),
    Refused("image.repository", "is that of another program", "name that of syncret's image"),
    text(_REPOSITORY, ":", first(v.image.tag, helm.Chart.AppVersion)),
)
LABELS: Final = merged(
    {
        "helm.sh/chart": text(helm.Chart.Name, "-", helm.Chart.Version),
        "app.kubernetes.io/version": helm.Chart.AppVersion,
        "app.kubernetes.io/managed-by": release.Service,
    },
    v.commonLabels,
)
