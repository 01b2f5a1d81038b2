"""The spec of an Alibaba Cloud store, and its rules beyond the schema."""

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Model
from syncret.providers.kit import spec_rules
from syncret.providers.kit.spec_parts import AccessKey

_REGION: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class AlibabaSecretRef(AccessKey):
    """An access key of a RAM user.

    Example: {accessKeyIDSecretRef: {name: alibaba-login, key: id}, accessKeySecretSecretRef: {name:
    alibaba-login, key: secret}}
    """


class AlibabaRrsa(Model):
    """The role that a ServiceAccount may assume (RRSA), by a token that is mounted as a file.

    Example: {oidcProviderArn: 'acs:ram::1000000000000000:oidc-provider/ack-rrsa-c1',
    oidcTokenFilePath: /var/run/secrets/ack.alibabacloud.com/rrsa-tokens/token,
    roleArn: 'acs:ram::1000000000000000:role/shop', sessionName: syncret}
    """

    oidc_provider_arn: str
    """The identity provider of the cluster in RAM.
    Example: acs:ram::1000000000000000:oidc-provider/ack-rrsa-c1"""
    oidc_token_file_path: str
    """The file with the token; only folders of the setting `manifestFiles` are read.
    Example: /var/run/secrets/ack.alibabacloud.com/rrsa-tokens/token"""
    role_arn: str
    """The role. Example: acs:ram::1000000000000000:role/shop"""
    session_name: str
    """What the audit log calls the session. Example: syncret"""


class AlibabaAuth(Model):
    """How the store authenticates: a role or an access key. Of both, the role is used.

    Example: {secretRef: {accessKeyIDSecretRef: {name: alibaba-login, key: id}, accessKeySecretSecretRef:
    {name: alibaba-login, key: secret}}}
    """

    secret_ref: AlibabaSecretRef | None = None
    """An access key that is kept in a Secret."""
    rrsa: AlibabaRrsa | None = None
    """A role of RAM, for pods in ACK."""


class AlibabaSpec(Model):
    """Reads and writes secrets of Alibaba Cloud's Key Management Service in one region.

    Example: {regionID: cn-hangzhou, auth: {secretRef: {accessKeyIDSecretRef: {name: alibaba-login, key: id},
    accessKeySecretSecretRef: {name: alibaba-login, key: secret}}}}
    """

    auth: AlibabaAuth
    """How the store authenticates to Alibaba Cloud."""
    region_id: str = msgspec.field(name="regionID")
    """The region. Example: cn-hangzhou"""


def check(spec: AlibabaSpec, scope: Scope) -> Iterator[Problem]:
    """The region is one, and one way to log in is complete and in scope."""
    hint = "write a region such as cn-hangzhou"
    yield from spec_rules.filled(spec.region_id, "regionID", "missing alibaba region", hint)
    if spec.region_id and not _REGION.fullmatch(spec.region_id):
        yield Problem(path="regionID", message="this is no name of a region", hint=hint)
    if spec.auth.rrsa is not None:
        yield from _check_rrsa(spec.auth.rrsa)
    elif spec.auth.secret_ref is not None:
        yield from _check_key(spec.auth.secret_ref, scope)
    else:
        yield Problem(
            path="auth", message="missing alibaba auth provider", hint="write auth.secretRef or auth.rrsa"
        )


def _check_rrsa(rrsa: AlibabaRrsa) -> Iterator[Problem]:
    for value, field, name in (
        (rrsa.oidc_provider_arn, "oidcProviderArn", "OIDC provider ARN"),
        (rrsa.oidc_token_file_path, "oidcTokenFilePath", "OIDC token file path"),
        (rrsa.role_arn, "roleArn", "Assume Role ARN"),
        (rrsa.session_name, "sessionName", "session name"),
    ):
        yield from spec_rules.filled(value, f"auth.rrsa.{field}", f"missing alibaba {name}", "write it")
    if rrsa.oidc_token_file_path:
        yield from spec_rules.mounted(rrsa.oidc_token_file_path, "auth.rrsa.oidcTokenFilePath")


def _check_key(ref: AlibabaSecretRef, scope: Scope) -> Iterator[Problem]:
    for field, name, selector in (
        ("accessKeyIDSecretRef", "access ID", ref.access_key_id_secret_ref),
        ("accessKeySecretSecretRef", "access key secret", ref.access_key_secret_secret_ref),
    ):
        path = f"auth.secretRef.{field}"
        yield from spec_rules.strict(selector, scope, path)
        yield from spec_rules.complete(
            selector, path, no_name=f"missing alibaba {name} name", no_key=f"missing alibaba {name} key"
        )
