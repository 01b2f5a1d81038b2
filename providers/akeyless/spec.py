"""The spec of an Akeyless store, and its rules beyond the schema."""

from collections.abc import Iterator

import msgspec

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Base64, CAProvider, Model, SecretKeySelector, ServiceAccountSelector
from syncret.providers.kit.spec_rules import address, complete, filled, referent, strict


class KubernetesAuth(Model):
    """Logs in with the token of a ServiceAccount, which the gateway has Kubernetes verify.

    Example: {accessID: p-1a2b3c, k8sConfName: cluster-1, serviceAccountRef: {name: app}}
    """

    access_id: str = msgspec.field(name="accessID")
    """Access ID of the Kubernetes auth method. Example: p-1a2b3c"""
    k8s_conf_name: str
    """The name of the Kubernetes auth configuration on the gateway. Example: cluster-1"""
    service_account_ref: ServiceAccountSelector | None = None
    """The ServiceAccount whose token is sent. Example: {name: app}"""
    secret_ref: SecretKeySelector | None = None
    """A Secret with such a token, if no ServiceAccount is named; its key is `token` by default.
    Example: {name: app-token, key: token}"""


class AccessSecret(Model):
    """Logs in with an access ID. The type determines what the parameter means.

    Example: {accessID: {name: akeyless-login, key: id}, accessType: {name: akeyless-login, key: type},
    accessTypeParam: {name: akeyless-login, key: key}}
    """

    access_id: SecretKeySelector = msgspec.field(default=SecretKeySelector(), name="accessID")
    """The Secret key with the access ID. Example: {name: akeyless-login, key: id}"""
    access_type: SecretKeySelector = SecretKeySelector()
    """The Secret key with the type: `api_key` or `access_key`; `aws_iam`, `azure_ad` or `gcp` proves the
    daemon's own identity at its cloud. Example: {name: akeyless-login, key: type}"""
    access_type_param: SecretKeySelector = SecretKeySelector()
    """The Secret key with the parameter: the access key; of `azure_ad` the object ID of a managed identity,
    of `gcp` the audience (`akeyless.io` without it). Example: {name: akeyless-login, key: key}"""


class AkeylessAuth(Model):
    """How the store authenticates. `kubernetesAuth` wins over `secretRef`.

    Example: {kubernetesAuth: {accessID: p-1a2b3c, k8sConfName: cluster-1, serviceAccountRef: {name: app}}}
    """

    kubernetes_auth: KubernetesAuth | None = None
    """A ServiceAccount."""
    secret_ref: AccessSecret = AccessSecret()
    """An access ID with its key, or with a type of a cloud."""
    service_account_ref: ServiceAccountSelector | None = None
    """The account whose token is exchanged for an Azure one, in place of the daemon's own identity; only the
    access type `azure_ad` uses it. Example: {name: app}"""


class AkeylessSpec(Model):
    """Reads and writes items of Akeyless.

    Example: {akeylessGWApiURL: 'https://akeyless.example.com:8080', authSecretRef: {kubernetesAuth:
    {accessID: p-1a2b3c, k8sConfName: cluster-1, serviceAccountRef: {name: app}}}}
    """

    akeyless_gw_api_url: str = msgspec.field(name="akeylessGWApiURL")
    """The gateway's API; empty means Akeyless' public one. Example: https://akeyless.example.com:8080"""
    auth_secret_ref: AkeylessAuth
    """All ways to log in, not only those with a Secret; the name is the resource model's."""
    ca_bundle: Base64 | None = None
    """The certificate authorities to trust, as PEM in base64; absent: those of the system.
    Example: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t"""
    ca_provider: CAProvider | None = None
    """The Secret or ConfigMap key with these authorities."""
    ignore_cache: bool = False
    """Bypasses the gateway's cache."""


def check(spec: AkeylessSpec, scope: Scope) -> Iterator[Problem]:
    """The gateway's address is a URL, and the way to log in is complete."""
    url = spec.akeyless_gw_api_url
    server = address(url)
    if url and not (server and server.host):
        yield Problem(
            path="akeylessGWApiURL",
            message="invalid akeyless GW API URL",
            hint="write it with scheme and host, such as https://api.akeyless.io",
        )
    if spec.auth_secret_ref.kubernetes_auth:
        yield from _check_kubernetes(spec.auth_secret_ref.kubernetes_auth, scope)
    else:
        yield from _check_secret(spec.auth_secret_ref, scope)


def _check_kubernetes(auth: KubernetesAuth, scope: Scope) -> Iterator[Problem]:
    base = "authSecretRef.kubernetesAuth"
    context = "invalid Auth.Kubernetes.ServiceAccountRef"
    yield from referent(auth.service_account_ref, scope, f"{base}.serviceAccountRef", context)
    yield from strict(auth.secret_ref, scope, f"{base}.secretRef")
    yield from filled(
        auth.access_id,
        f"{base}.accessID",
        "missing kubernetes auth-method access-id",
        "write the access ID of the Kubernetes auth method",
    )
    yield from filled(
        auth.k8s_conf_name,
        f"{base}.k8sConfName",
        "missing kubernetes config name",
        "write the name of the Kubernetes auth configuration on the gateway",
    )


def _check_secret(auth: AkeylessAuth, scope: Scope) -> Iterator[Problem]:
    base = "authSecretRef.secretRef"
    ref = auth.secret_ref
    yield from strict(ref.access_id, scope, f"{base}.accessID")
    yield from complete(
        ref.access_id,
        f"{base}.accessID",
        no_name="missing akeyless accessID name",
        no_key="missing akeyless accessID key",
    )
    yield from strict(ref.access_type, scope, f"{base}.accessType")
    if ref.access_type_param.name:
        yield from strict(ref.access_type_param, scope, f"{base}.accessTypeParam")
    context = "invalid Auth.ServiceAccountRef"
    yield from referent(auth.service_account_ref, scope, "authSecretRef.serviceAccountRef", context)
