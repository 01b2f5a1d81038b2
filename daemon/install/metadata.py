"""Names and labels of the objects of an installation, and conditions that several modules use."""

from typing import Final

from syncret.config.settings import ESO_LEASE
from syncret.daemon.install.outline.nodes import (
    Call,
    Outline,
    Root,
    Value,
    When,
    any_of,
    each,
    equal,
    first,
    given,
    item,
    merged,
    more,
    not_,
    text,
    when,
)

AUTHORIZATION: Final = "rbac.authorization.k8s.io/v1"

INSTALLATION: Final = Root()
i: Final = Value(INSTALLATION)
"""The installation that an outline is about: `i.pod.labels` is a member of its values."""

ACCOUNT: Final = first(i.service_account.name, i.name)
"""The name of the ServiceAccount."""
SELECTOR: Final[dict[str, Outline]] = {
    "app.kubernetes.io/name": i.app,
    "app.kubernetes.io/instance": first(i.instance, i.name),
}
"""The labels that the Pods are found by; a Deployment cannot change them later."""

ELECTS: Final = any_of(more(i.replicas, 1), equal(item(i.settings, "leaderElection.enabled"), "true"))
"""Whether the active replica is elected. A single replica may take part, too, against an ESO's election."""
_CLASS: Final = item(i.settings, "controllerClass")
_IS_DEFAULT_CLASS: Final = any_of(not_(_CLASS), equal(_CLASS, "default"))
LEASE: Final = first(
    item(i.settings, "leaderElection.id"),
    When(_IS_DEFAULT_CLASS, ESO_LEASE, text("syncret-", _CLASS)),
)
"""The Lease of the election, as the daemon names it."""
HOLDS_LEASE: Final = any_of(ELECTS, _IS_DEFAULT_CLASS)
"""Whether a Lease is held: that of the election, or ESO's, so that an ESO waits for ours."""
OTHERS_NAMESPACE: Final = item(i.settings, "migration.namespace")
"""The namespace of ESO, if it is another one; empty: not given."""
LEASE_NAMESPACE: Final = first(item(i.settings, "leaderElection.namespace"), i.namespace)


def processes(name: str) -> Call:
    """Whether a kind is acted on: the setting `process.NAME`, which is on by default."""
    return not_(equal(item(i.settings, f"process.{name}"), "false"))


def named(
    api_version: str,
    kind: str,
    name: Outline,
    *,
    namespace: Outline = i.namespace,
    labels: Outline = None,
    annotations: Outline = None,
) -> dict[str, Outline]:
    """The head of an object; without a namespace (None) it is cluster-scoped."""
    metadata: dict[str, Outline] = {"name": name}
    if namespace is not None:
        metadata["namespace"] = namespace
    more_labels = () if labels is None else (labels,)
    metadata["labels"] = merged(i.labels, *more_labels, SELECTOR)
    if annotations is not None:
        metadata["annotations"] = given(annotations)
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata}


def suffixed(suffix: str) -> Call:
    """The name of the installation with something appended."""
    return text(i.name, f"-{suffix}")


def spread(constraints: Value, selector: Outline) -> Outline:
    """The topologySpreadConstraints of Pods; one without a labelSelector is about these."""
    own = {"labelSelector": {"matchLabels": selector}}
    return when(constraints, [each(constraints, lambda one: merged(own, one))])
