"""Cluster-scoped kinds that create objects in many namespaces: ClusterExternalSecret, ClusterPushSecret."""

from syncret.config.fields import Duration, LabelSelector, Model, Name, Namespace
from syncret.config.resources.base import ConditionStatus, Resource
from syncret.config.resources.external_secret import ExternalSecretSpec
from syncret.config.resources.push_secret import PushSecretSpec, PushSelector


class ChildMetadata(Model):
    """Labels and annotations of the created objects.

    Example: {labels: {team: payments}}
    """

    annotations: dict[str, str] = {}
    """Annotations of the created objects. Example: {owner: payments}"""
    labels: dict[str, str] = {}
    """Labels of the created objects; the targets of ExternalSecrets get them, too.
    Example: {team: payments}"""


class NamespaceFailure(Model):
    """A namespace in which the object could not be created, and why.

    Example: {namespace: shop, reason: external secret already exists in namespace}
    """

    namespace: str
    """Name of the namespace. Example: shop"""
    reason: str = ""
    """Why there is no such object, for people. Example: external secret already exists in namespace"""


class ClusterExternalSecretSpec(Model):
    """The ExternalSecret to make, and the namespaces to make it in: named, or selected by labels.

    Example: {externalSecretSpec: {secretStoreRef: {name: vault, kind: ClusterSecretStore}}, namespaces:
    [shop]}
    """

    external_secret_spec: ExternalSecretSpec
    """Spec of the ExternalSecret in each namespace; its store should be a ClusterSecretStore, or exist in
    each of them.
    Example: {secretStoreRef: {name: vault, kind: ClusterSecretStore}, dataFrom: [{extract: {key:
    shared}}]}"""
    external_secret_name: Name = ""
    """Name of the ExternalSecrets; empty: that of this object. A new name deletes those of the old one.
    Example: shared"""
    external_secret_metadata: ChildMetadata | None = None
    """Labels and annotations of the ExternalSecrets."""
    namespace_selector: LabelSelector | None = None
    """Older form of `namespaceSelectors`, with a single selector; both count.
    Example: {matchLabels: {team: payments}}"""
    namespace_selectors: tuple[LabelSelector, ...] = ()
    """Labels of namespaces; a namespace that matches one of them gets the ExternalSecret, and loses it with
    the label.
    Example: [{matchLabels: {team: payments}}]"""
    namespaces: tuple[Namespace, ...] = ()
    """Names of namespaces that get the ExternalSecret, besides those that are selected.
    Example: [shop, payments]"""
    refresh_time: Duration | None = None
    """How often the namespaces are looked at again; a new or changed one is noticed at once. Example: 1h"""


class ClusterExternalSecretCondition(Model):
    """Whether the ExternalSecret is in every namespace: without reason and time.

    Example: {type: Ready, status: 'True'}
    """

    type: str
    """What the condition is about. Example: Ready"""
    status: str
    """True, False, or Unknown. Example: 'True'"""
    message: str = ""
    """Why, for people. Example: one or more namespaces failed"""


class ClusterExternalSecretStatus(Model):
    """The namespaces where the object was created, and those where it failed; ignored in a manifest.

    Example: {}
    """

    external_secret_name: str = ""
    """Name that the ExternalSecrets have. Example: shared"""
    failed_namespaces: tuple[NamespaceFailure, ...] = ()
    """Namespaces in which the ExternalSecret could not be made or brought up to date."""
    provisioned_namespaces: tuple[str, ...] = ()
    """Namespaces that have the ExternalSecret. Example: [shop, payments]"""
    conditions: tuple[ClusterExternalSecretCondition, ...] = ()
    """Whether the ExternalSecret is in every selected namespace."""


class ClusterExternalSecret(Resource):
    """Creates one ExternalSecret in every namespace that it selects."""

    spec: ClusterExternalSecretSpec = ClusterExternalSecretSpec(external_secret_spec=ExternalSecretSpec())
    """The ExternalSecret to make, and the namespaces to make it in."""
    status: ClusterExternalSecretStatus = ClusterExternalSecretStatus()
    """Where it was made, and where that failed; ignored in a manifest."""


class ClusterPushSecretSpec(Model):
    """The PushSecret to make, and the namespaces to make it in, by labels.

    Example: {pushSecretSpec: {secretStoreRefs: [{name: vault, kind: ClusterSecretStore}], selector:
    {secret: {name: database}}}, namespaceSelectors: [{matchLabels: {team: payments}}]}
    """

    push_secret_spec: PushSecretSpec
    """Spec of the PushSecret in each namespace; its stores should be ClusterSecretStores, or exist in each of
    them.
    Example: {secretStoreRefs: [{name: vault, kind: ClusterSecretStore}], selector: {secret: {name:
    database}}}"""
    refresh_time: Duration | None = None
    """How often the namespaces are looked at again; a new or changed one is noticed at once. Example: 1h"""
    push_secret_name: Name = ""
    """Name of the PushSecrets; empty: that of this object. A new name deletes those of the old one.
    Example: shared"""
    push_secret_metadata: ChildMetadata | None = None
    """Labels and annotations of the PushSecrets."""
    namespace_selectors: tuple[LabelSelector, ...] = ()
    """Labels of namespaces; a namespace that matches one of them gets the PushSecret, and loses it with the
    label.
    Example: [{matchLabels: {team: payments}}]"""


class ClusterPushSecretStatus(Model):
    """The namespaces where the object was created, and those where it failed; ignored in a manifest.

    Example: {}
    """

    failed_namespaces: tuple[NamespaceFailure, ...] = ()
    """Namespaces in which the PushSecret could not be made or brought up to date."""
    provisioned_namespaces: tuple[str, ...] = ()
    """Namespaces that have the PushSecret. Example: [shop, payments]"""
    push_secret_name: str = ""
    """Name that the PushSecrets have. Example: shared"""
    conditions: tuple[ConditionStatus, ...] = ()
    """Whether the PushSecret is in every selected namespace."""


class ClusterPushSecret(Resource):
    """Creates one PushSecret in every namespace that it selects."""

    spec: ClusterPushSecretSpec = ClusterPushSecretSpec(
        push_secret_spec=PushSecretSpec(secret_store_refs=(), selector=PushSelector())
    )
    """The PushSecret to make, and the namespaces to make it in."""
    status: ClusterPushSecretStatus = ClusterPushSecretStatus()
    """Where it was made, and where that failed; ignored in a manifest."""
