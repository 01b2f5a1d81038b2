"""ExternalSecretsConfig: what the operator installs in a cluster, and how.

Fields have two ages. Those of `appConfig` came first; later places of cert-manager and of the Bitwarden
server are read too, though not both at once.
"""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta, field

from syncret.config.fields import Duration, Model, Rule, Timestamp, Transition
from syncret.config.resources.base import Resource
from syncret.config.resources.operator.common import (
    CommonSettings,
    Labels,
    Mode,
    NamespaceText,
    NameText,
    Switch,
)
from syncret.config.resources.operator.rules import (
    ANNOTATION_RULES,
    CONFIG_RULES,
    NAMESPACE_STAYS,
    POLICIES_STAY,
    VARIABLE_RULE,
    fixed,
    issuer,
    named_cluster,
    needs,
    only_where,
)
from syncret.config.resources.pods import EgressRule, Variable


class SecretName(Model):
    """A Secret by name.

    Example: {name: bitwarden-tls}
    """

    name: NameText
    """Name of the Secret, in the namespace of the installation. Example: bitwarden-tls"""


class BitwardenSwitch(Model):
    """Whether the server that stores of Bitwarden Secrets Manager talk to is installed.

    Example: {enabled: 'true', secretRef: {name: bitwarden-tls}}
    """

    enabled: Switch = "false"
    """'true' installs it; 'false' leaves what is there alone. Example: 'true'"""
    secret_ref: SecretName | None = None
    """Secret with `tls.crt`, `tls.key` and `ca.crt`; absent: cert-manager issues one."""


class BitwardenMode(Model):
    """Whether the server that stores of Bitwarden Secrets Manager talk to is installed.

    Example: {mode: Enabled, secretRef: {name: bitwarden-tls}}
    """

    mode: Mode = "Disabled"
    """Enabled installs it; Disabled leaves what is there alone. Example: Enabled"""
    secret_ref: SecretName | None = None
    """Secret with `tls.crt`, `tls.key` and `ca.crt`; absent: cert-manager issues one."""


class Plugins(Model):
    """Servers of single providers."""

    bitwarden_secret_manager_provider: BitwardenMode | None = None
    """The server of Bitwarden Secrets Manager."""


class Webhook(Model):
    """The admission webhook.

    Example: {certificateCheckInterval: 5m}
    """

    certificate_check_interval: Duration = "5m"
    """How often its certificate is looked at. Example: 10m"""


class Issuer(Model):
    """An issuer of cert-manager.

    Example: {name: internal-ca, kind: ClusterIssuer, group: cert-manager.io}
    """

    RULES: ClassVar[tuple[Rule, ...]] = issuer(required=True)

    name: NameText
    """Name of the issuer; an Issuer lies in the namespace of the installation. Example: internal-ca"""
    kind: NameText = ""
    """Issuer or ClusterIssuer. Example: ClusterIssuer"""
    group: NameText = ""
    """The group of cert-manager. Example: cert-manager.io"""


class LaterIssuer(Issuer):
    """An issuer of cert-manager, whose kind and group may be left out.

    Example: {name: internal-ca}
    """

    RULES: ClassVar[tuple[Rule, ...]] = issuer(required=False)


class CertManager(Model):
    """Whether cert-manager issues certificates, instead of an authority of our own.

    Example: {enabled: 'true', issuerRef: {name: internal-ca, kind: ClusterIssuer, group: cert-manager.io}}
    """

    RULES: ClassVar[tuple[Rule, ...]] = (
        needs("enabled", "true", "issuerRef"),
        only_where("addInjectorAnnotations", "enabled", "true"),
    )
    TRANSITIONS: ClassVar[tuple[Transition, ...]] = (fixed("enabled"), fixed("issuerRef"))

    enabled: Switch = "false"
    """'true': cert-manager issues them. It cannot change while it is there: without a value it is 'false',
    and stays so until `certManagerConfig` is removed. Example: 'true'"""
    add_injector_annotations: Switch = "false"
    """'true': the webhook is annotated, so that cert-manager writes its authority there; otherwise the
    operator does. Example: 'true'"""
    issuer_ref: Issuer | None = None
    """Who issues them; it cannot change while it is there."""
    certificate_duration: Duration = "8760h"
    """How long a certificate is valid. Example: 2160h"""
    certificate_renew_before: Duration = "30m"
    """How long before its end it is renewed. Example: 720h"""


class LaterCertManager(Model):
    """Whether cert-manager issues certificates, instead of an authority of our own.

    Example: {mode: Enabled, issuerRef: {name: internal-ca}}
    """

    RULES: ClassVar[tuple[Rule, ...]] = (
        needs("mode", "Enabled", "issuerRef"),
        only_where("injectAnnotations", "mode", "Enabled"),
    )
    TRANSITIONS: ClassVar[tuple[Transition, ...]] = (
        fixed("mode"),
        fixed("injectAnnotations"),
        fixed("issuerRef"),
    )

    mode: Mode
    """Enabled: cert-manager issues them; it cannot change while it is there. Example: Enabled"""
    inject_annotations: Switch = "false"
    """'true': the webhook is annotated, so that cert-manager writes its authority there; otherwise the
    operator does. It cannot change while it is there. Example: 'true'"""
    issuer_ref: LaterIssuer | None = None
    """Who issues them; it cannot change while it is there."""
    certificate_duration: Duration = "8760h"
    """How long a certificate is valid. Example: 2160h"""
    certificate_renew_before: Duration = "30m"
    """How long before its end it is renewed. Example: 720h"""


class CertProvider(Model):
    """Who issues certificates."""

    cert_manager: LaterCertManager | None = None
    """cert-manager."""


class AppConfig(CommonSettings):
    """How the daemon works.

    Example: {logLevel: 4}
    """

    operating_namespace: NamespaceText | None = None
    """The one namespace that is looked after; cluster-wide kinds are off then. Absent: all of them.
    Example: shop"""
    webhook_config: Webhook | None = None
    """The admission webhook."""
    cert_manager_config: CertManager | None = None
    """Whether cert-manager issues certificates."""
    bitwarden_secret_manager_provider: BitwardenSwitch | None = None
    """Whether the server of Bitwarden Secrets Manager is installed."""


class NetworkPolicy(Model):
    """Connections that a component may open, beside those that it needs.

    Example: {name: to-vault, componentName: ExternalSecretsCoreController, egress: [{ports: [{port: 8200}]}]}
    """

    name: NameText
    """Name of the policy, after `eso-user-`. Example: to-vault"""
    component_name: Literal["ExternalSecretsCoreController", "BitwardenSDKServer"]
    """Whose connections. Example: ExternalSecretsCoreController"""
    egress: tuple[EgressRule, ...]
    """What is allowed; an empty list allows nothing. Example: [{ports: [{protocol: TCP, port: 8200}]}]"""


class DeploymentSettings(Model):
    """Fields of a Deployment.

    Example: {revisionHistoryLimit: 5}
    """

    revision_history_limit: Annotated[int, Meta(ge=1, le=50, extra_json_schema={"format": "int32"})] = 10
    """How many earlier revisions are kept, to go back to. Example: 5"""


class Component(Model):
    """What differs for one component.

    Example: {componentName: Webhook, deploymentConfigs: {revisionHistoryLimit: 5}}
    """

    RULES: ClassVar[tuple[Rule, ...]] = (VARIABLE_RULE,)

    component_name: Literal[
        "ExternalSecretsCoreController", "Webhook", "CertController", "BitwardenSDKServer"
    ]
    """Which one. Example: Webhook"""
    deployment_configs: DeploymentSettings | None = None
    """Fields of its Deployment."""
    override_env: Annotated[tuple[Variable, ...], Meta(max_length=50, extra={"list_keys": ("name",)})] = ()
    """Variables of its main container, over those that the operator sets: `SYNCRET_*` are settings.
    Example: [{name: SYNCRET_WORKERS, value: '64'}]"""


class ControllerConfig(Model):
    """Where things are installed, and what they carry.

    Example: {namespace: external-secrets, labels: {team: platform}}
    """

    RULES: ClassVar[tuple[Rule, ...]] = ANNOTATION_RULES
    TRANSITIONS: ClassVar[tuple[Transition, ...]] = (NAMESPACE_STAYS, POLICIES_STAY)

    namespace: NamespaceText = "external-secrets"
    """Where everything is installed; it cannot change. Example: secrets"""
    labels: Labels = {}
    """Labels of everything that is installed, beside ours. Example: {team: platform}"""
    annotations: Labels = {}
    """Annotations of everything that is installed. Example: {example.com/owner: platform}"""
    cert_provider: CertProvider | None = None
    """Who issues certificates."""
    network_policies: Annotated[
        tuple[NetworkPolicy, ...], Meta(max_length=50, extra={"list_keys": ("name", "componentName")})
    ] = ()
    """Connections of components; with the first entry all others but the needed ones are closed. An entry
    cannot be taken away again, unless the whole field is."""
    component_configs: Annotated[
        tuple[Component, ...], Meta(max_length=4, extra={"list_keys": ("componentName",)})
    ] = ()
    """What differs for single components."""


class ExternalSecretsConfigSpec(Model):
    """What is installed, and how.

    Example: {appConfig: {logLevel: 4}}
    """

    RULES: ClassVar[tuple[Rule, ...]] = CONFIG_RULES

    app_config: AppConfig | None = None
    """How the daemon works."""
    plugins: Plugins | None = None
    """Servers of single providers."""
    controller_config: ControllerConfig | None = None
    """Where things are installed, and what they carry."""


class InstallationCondition(Model):
    """One statement on the installation.

    Example: {type: Ready, status: 'True', reason: Ready, message: '', lastTransitionTime:
    '2026-01-01T00:00:00Z'}
    """

    type: Annotated[str, Meta(max_length=316)]
    """Ready, Degraded, Accepted or UpdateAnnotation. Example: Ready"""
    status: Literal["True", "False", "Unknown"]
    """Whether it holds. Example: 'True'"""
    reason: Annotated[str, Meta(min_length=1, max_length=1024)]
    """Why, as one word for programs. Example: Progressing"""
    message: Annotated[str, Meta(max_length=32768)]
    """Why, for people. Example: 'waits for Deployment external-secrets: 0 of 1 available'"""
    last_transition_time: Timestamp
    """When `status` last changed. Example: '2026-01-01T00:00:00Z'"""
    observed_generation: Annotated[int, Meta(ge=0, extra_json_schema={"format": "int64"})] | None = None
    """The generation that it is about. Example: 3"""


class ExternalSecretsConfigStatus(Model):
    """How far the installation is; ignored in a manifest.

    Example: {}
    """

    conditions: Annotated[tuple[InstallationCondition, ...], Meta(extra={"list_keys": ("type",)})] = ()
    """What holds, and why."""
    external_secrets_image: str = ""
    """The image of the daemon that is installed. Example: registry.example.com/syncret:1.0"""
    bitwarden_sdk_server_image: str = field(default="", name="bitwardenSDKServerImage")
    """The image of the Bitwarden server that is installed. Example: registry.example.com/bitwarden:1.0"""


class ExternalSecretsConfig(Resource):
    """What the operator installs in this cluster, and how."""

    RULES: ClassVar[tuple[Rule, ...]] = (named_cluster("ExternalSecretsConfig"),)

    spec: ExternalSecretsConfigSpec = ExternalSecretsConfigSpec()
    """What is installed, and how."""
    status: ExternalSecretsConfigStatus = ExternalSecretsConfigStatus()
    """How far the installation is; ignored in a manifest."""
