"""Settings for one installation or for all, and the types of texts in the operator's kinds."""

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta

from syncret.config.fields import Model
from syncret.config.resources.pods import Affinity, ResourceRequirements, Toleration

Switch: TypeAlias = Literal["true", "false"]
"""On or off, as text: a boolean is refused."""

Mode: TypeAlias = Literal["Enabled", "Disabled"]
NamespaceText: TypeAlias = Annotated[str, Meta(min_length=1, max_length=63)]
NameText: TypeAlias = Annotated[str, Meta(min_length=1, max_length=253)]
Labels: TypeAlias = Annotated[dict[str, str], Meta(max_length=20)]
ProxyText: TypeAlias = Annotated[str, Meta(max_length=2048)]
NoProxyText: TypeAlias = Annotated[str, Meta(max_length=4096)]


class Proxy(Model):
    """The proxy that everything installed goes through; three empty texts: none, whatever is said elsewhere.

    Example: {httpsProxy: 'http://proxy.example.com:3128', noProxy: .cluster.local}
    """

    http_proxy: ProxyText = ""
    """For addresses that begin with `http:`. Example: 'http://proxy.example.com:3128'"""
    https_proxy: ProxyText = ""
    """For addresses that begin with `https:`. Example: 'http://proxy.example.com:3128'"""
    no_proxy: NoProxyText = ""
    """Hosts and networks that are reached without it, with commas between.
    Example: .cluster.local,10.0.0.0/8"""
    network_policy_provisioning: Literal["Managed", "Unmanaged"] = "Managed"
    """Managed: where pods are isolated, a NetworkPolicy lets them reach the proxy. Unmanaged: yours does.
    Example: Unmanaged"""


class CommonSettings(Model):
    """What can be said for one installation, or for all."""

    log_level: Annotated[int, Meta(ge=1, le=5, extra_json_schema={"format": "int32"})] = 1
    """How much is logged, from 1 to 5: up to 3 is `info`, 4 and 5 are `debug`. Example: 4"""
    resources: ResourceRequirements | None = None
    """What each main container may use, and what is reserved for it."""
    affinity: Affinity | None = None
    """Where the scheduler may put the pods, and where it would rather.
    Example: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms:
    [{matchExpressions: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]}]}}}"""
    tolerations: Annotated[tuple[Toleration, ...], Meta(max_length=10, extra={"atomic": True})] = ()
    """Taints that do not keep the pods away; an empty list means none, whatever is said elsewhere."""
    node_selector: Annotated[dict[str, str], Meta(max_length=10, extra={"atomic": True})] = {}
    """Labels of the nodes that the pods run on; an empty map means any, whatever is said elsewhere.
    Example: {node-role.kubernetes.io/infra: ''}"""
    proxy: Proxy | None = None
    """The proxy that everything installed goes through; it counts as a whole."""
