"""Kubernetes' own types that an object carries for others: resources, places to run, variables, egress rules.

Only their form is checked here, as a CRD does; the API server validates the rest where they are used.
"""

from typing import Annotated, ClassVar, TypeAlias

import msgspec
from msgspec import Meta

from syncret.config.fields import Int32, Int64, LabelSelector, Model

_NUMBER = r"(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
_QUANTITY = rf"^{_NUMBER}(([KMGTPE]i)|[numkMGTPE]|([eE]{_NUMBER}))?$"

Quantity: TypeAlias = Annotated[int | str, Meta(extra={"pattern": _QUANTITY})]
"""An amount: `500m`, `1Gi`, 2."""


class ResourceClaim(Model):
    """A claim of the pod that the container uses.

    Example: {name: device}
    """

    name: str
    """Name of an entry of `resourceClaims` of the pod. Example: device"""
    request: str = ""
    """Which request of the claim; empty: all of them. Example: gpu"""


class ResourceRequirements(Model):
    """What a container may use at most, and what is reserved for it.

    Example: {requests: {cpu: 50m, memory: 96Mi}, limits: {memory: 256Mi}}
    """

    claims: Annotated[tuple[ResourceClaim, ...], Meta(extra={"list_keys": ("name",)})] = ()
    """Claims of the pod that the container uses."""
    limits: dict[str, Quantity] = {}
    """The most that the container may use, by resource. Example: {memory: 256Mi}"""
    requests: dict[str, Quantity] = {}
    """What is reserved on the node, by resource. Example: {cpu: 50m, memory: 96Mi}"""


class Toleration(Model):
    """A taint that does not keep the pods away.

    Example: {key: node-role.kubernetes.io/infra, operator: Exists}
    """

    key: str = ""
    """Key of the taint; empty with Exists: every taint. Example: node-role.kubernetes.io/infra"""
    operator: str = ""
    """Exists, or Equal, which compares the value; empty: Equal. Example: Exists"""
    value: str = ""
    """Value of the taint, for Equal. Example: 'true'"""
    effect: str = ""
    """NoSchedule, PreferNoSchedule or NoExecute; empty: all of them. Example: NoSchedule"""
    toleration_seconds: Int64 | None = None
    """How long a pod stays on a node that gets a taint of effect NoExecute; absent: for ever.
    Example: 300"""


class NodeRequirement(Model):
    """One expression of a node selector.

    Example: {key: kubernetes.io/arch, operator: In, values: [amd64]}
    """

    key: str
    """Label or field that is compared. Example: kubernetes.io/arch"""
    operator: str
    """In, NotIn, Exists, DoesNotExist, Gt or Lt. Example: In"""
    values: tuple[str, ...] = ()
    """What it is compared with. Example: [amd64, arm64]"""


class NodeSelectorTerm(Model):
    """Expressions that a node meets all of.

    Example: {matchExpressions: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]}
    """

    ATOMIC: ClassVar[bool] = True

    match_expressions: tuple[NodeRequirement, ...] = ()
    """Expressions on labels of the node."""
    match_fields: tuple[NodeRequirement, ...] = ()
    """Expressions on fields of the node. Example: [{key: metadata.name, operator: In, values: [node-1]}]"""


class NodeSelectorTerms(Model):
    """Terms of which a node meets at least one.

    Example: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: Exists}]}]}
    """

    ATOMIC: ClassVar[bool] = True

    node_selector_terms: tuple[NodeSelectorTerm, ...]
    """The terms."""


class PreferredNode(Model):
    """A preference, and how much it counts.

    Example: {weight: 1, preference: {matchExpressions: [{key: zone, operator: Exists}]}}
    """

    preference: NodeSelectorTerm
    """What is preferred."""
    weight: Int32
    """From 1 to 100: the sums are compared. Example: 50"""


class NodeAffinity(Model):
    """Nodes that pods must, or would rather, run on."""

    required_during_scheduling_ignored_during_execution: NodeSelectorTerms | None = None
    """What a node must meet."""
    preferred_during_scheduling_ignored_during_execution: tuple[PreferredNode, ...] = ()
    """What is preferred, of nodes that meet the rest."""


class PodAffinityTerm(Model):
    """Other pods, and how near they are.

    Example: {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: shop}}}
    """

    topology_key: str
    """Label of nodes; those with an equal value are one place. Example: kubernetes.io/hostname"""
    label_selector: LabelSelector | None = None
    """Labels of the other pods."""
    namespaces: tuple[str, ...] = ()
    """Namespaces of the other pods; none, and no selector: the pod's own. Example: [shop]"""
    namespace_selector: LabelSelector | None = None
    """Labels of their namespaces."""
    match_label_keys: tuple[str, ...] = ()
    """Labels of the pod itself that others must have equal. Example: [pod-template-hash]"""
    mismatch_label_keys: tuple[str, ...] = ()
    """Labels of the pod itself that others must not have equal. Example: [tenant]"""


class PreferredPods(Model):
    """A preference, and how much it counts.

    Example: {weight: 100, podAffinityTerm: {topologyKey: kubernetes.io/hostname}}
    """

    pod_affinity_term: PodAffinityTerm
    """What is preferred."""
    weight: Int32
    """From 1 to 100: the sums are compared. Example: 50"""


class PodAffinity(Model):
    """Pods that others must, or would rather, run beside; or not beside."""

    required_during_scheduling_ignored_during_execution: tuple[PodAffinityTerm, ...] = ()
    """What must hold."""
    preferred_during_scheduling_ignored_during_execution: tuple[PreferredPods, ...] = ()
    """What is preferred, of places where the rest holds."""


class Affinity(Model):
    """Where the scheduler may put the pods, and where it would rather."""

    node_affinity: NodeAffinity | None = None
    """On which nodes."""
    pod_affinity: PodAffinity | None = None
    """Beside which pods."""
    pod_anti_affinity: PodAffinity | None = None
    """Beside which pods not."""


class KeyOfObject(Model):
    """One key of a ConfigMap or Secret.

    Example: {name: proxy, key: url}
    """

    ATOMIC: ClassVar[bool] = True

    key: str
    """The key. Example: url"""
    name: str = ""
    """Name of the object, in the same namespace. Example: proxy"""
    optional: bool | None = None
    """Whether the container may start without it."""


class FieldOfPod(Model):
    """A field of the pod.

    Example: {fieldPath: metadata.name}
    """

    ATOMIC: ClassVar[bool] = True

    field_path: str
    """The field. Example: metadata.name"""
    api_version: str = ""
    """The version that the path is written for; empty: v1. Example: v1"""


class ResourceOfContainer(Model):
    """A limit or request of a container.

    Example: {resource: limits.memory}
    """

    ATOMIC: ClassVar[bool] = True

    resource: str
    """Which one. Example: limits.memory"""
    container_name: str = ""
    """Of which container; empty: of this one. Example: external-secrets"""
    divisor: Quantity | None = None
    """The unit in which it is given; absent: 1. Example: 1Mi"""


class VariableSource(Model):
    """Where the value of a variable comes from.

    Example: {fieldRef: {fieldPath: metadata.name}}
    """

    config_map_key_ref: KeyOfObject | None = None
    """A key of a ConfigMap."""
    field_ref: FieldOfPod | None = None
    """A field of the pod."""
    resource_field_ref: ResourceOfContainer | None = None
    """A limit or request of a container."""
    secret_key_ref: KeyOfObject | None = None
    """A key of a Secret."""


class Variable(Model):
    """A variable of a container's environment.

    Example: {name: SYNCRET_WORKERS, value: '64'}
    """

    name: str
    """Name of the variable. Example: SYNCRET_WORKERS"""
    value: str = ""
    """Its value. Example: '64'"""
    value_from: VariableSource | None = None
    """Where its value comes from, instead of `value`."""


class AddressBlock(Model):
    """Addresses of a network.

    Example: {cidr: 10.0.0.0/8}
    """

    cidr: str
    """The network. Example: 10.0.0.0/8"""
    except_: tuple[str, ...] = msgspec.field(default=(), name="except")
    """Networks within it that are left out. Example: [10.1.0.0/16]"""


class NetworkPeer(Model):
    """Who may be reached: addresses, or pods by their labels.

    Example: {ipBlock: {cidr: 10.0.0.0/8}}
    """

    ip_block: AddressBlock | None = None
    """Addresses of a network."""
    namespace_selector: LabelSelector | None = None
    """Labels of the namespaces of the pods."""
    pod_selector: LabelSelector | None = None
    """Labels of the pods."""


class NetworkPort(Model):
    """A port that may be reached.

    Example: {protocol: TCP, port: 443}
    """

    protocol: str = ""
    """TCP, UDP or SCTP; empty: TCP. Example: TCP"""
    port: int | str | None = None
    """Number or name of the port; absent: all of them. Example: 443"""
    end_port: Int32 | None = None
    """The last port of a range that begins with `port`. Example: 32767"""


class EgressRule(Model):
    """Connections that are allowed: to one of the peers, on one of the ports.

    Example: {to: [{ipBlock: {cidr: 10.0.0.0/8}}], ports: [{protocol: TCP, port: 8200}]}
    """

    to: tuple[NetworkPeer, ...] = ()
    """Who may be reached; empty: all addresses and pods."""
    ports: tuple[NetworkPort, ...] = ()
    """On which ports; empty: all of them."""
