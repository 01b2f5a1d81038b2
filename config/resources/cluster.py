"""Cluster-scoped kinds that create objects in many namespaces: ClusterExternalSecret, ClusterPushSecret."""

from syncret.config.fields import Duration, LabelSelector, Model, Name, Namespace
from syncret.config.resources.base import ConditionStatus, Resource
from syncret.config.resources.external_secret import ExternalSecretSpec
from syncret.config.resources.push_secret import PushSecretSpec, PushSelector


class ChildMetadata(Model):
    """Labels and annotations of the created objects."""

    annotations: dict[str, str] = {}
    labels: dict[str, str] = {}


class NamespaceFailure(Model):
    """A namespace in which the object could not be created, and why."""

    namespace: str
    reason: str = ""


class ClusterExternalSecretSpec(Model):
    """The ExternalSecret to make, and the namespaces to make it in: named, or selected by labels."""

    external_secret_spec: ExternalSecretSpec
    external_secret_name: Name = ""
    external_secret_metadata: ChildMetadata | None = None
    namespace_selector: LabelSelector | None = None
    namespace_selectors: tuple[LabelSelector, ...] = ()
    namespaces: tuple[Namespace, ...] = ()
    refresh_time: Duration | None = None


class ClusterExternalSecretCondition(Model):
    """One condition of a ClusterExternalSecret: without reason and time."""

    type: str
    status: str
    message: str = ""


class ClusterExternalSecretStatus(Model):
    """The namespaces where the object was created, and those where it failed."""

    external_secret_name: str = ""
    failed_namespaces: tuple[NamespaceFailure, ...] = ()
    provisioned_namespaces: tuple[str, ...] = ()
    conditions: tuple[ClusterExternalSecretCondition, ...] = ()


class ClusterExternalSecret(Resource):
    """Creates one ExternalSecret in every namespace that it selects."""

    spec: ClusterExternalSecretSpec = ClusterExternalSecretSpec(external_secret_spec=ExternalSecretSpec())
    status: ClusterExternalSecretStatus = ClusterExternalSecretStatus()


class ClusterPushSecretSpec(Model):
    """The PushSecret to make, and the namespaces to make it in, by labels."""

    push_secret_spec: PushSecretSpec
    refresh_time: Duration | None = None
    push_secret_name: Name = ""
    push_secret_metadata: ChildMetadata | None = None
    namespace_selectors: tuple[LabelSelector, ...] = ()


class ClusterPushSecretStatus(Model):
    """The namespaces where the object was created, and those where it failed."""

    failed_namespaces: tuple[NamespaceFailure, ...] = ()
    provisioned_namespaces: tuple[str, ...] = ()
    push_secret_name: str = ""
    conditions: tuple[ConditionStatus, ...] = ()


class ClusterPushSecret(Resource):
    """Creates one PushSecret in every namespace that it selects."""

    spec: ClusterPushSecretSpec = ClusterPushSecretSpec(
        push_secret_spec=PushSecretSpec(secret_store_refs=(), selector=PushSelector())
    )
    status: ClusterPushSecretStatus = ClusterPushSecretStatus()
