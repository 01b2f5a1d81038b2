"""Workload identity federation: exchanges a token of another issuer for a Google token.

Anyone who may write the ConfigMap controls the configuration, so it is restricted more than by Google's own
clients: tokens go to Google only, the daemon's own tokens are never sent, and programs are not run.
"""

import re
from functools import partial
from typing import Final

import msgspec

from syncret.config.fields import ServiceAccountSelector
from syncret.providers.contract import OpenContext, Receiver
from syncret.providers.errors import Malformed
from syncret.providers.gcpsm.spec import AwsSecurityCredentials, GcpWorkloadIdentityFederation
from syncret.providers.kit.ambient.aws import keys_for_federation
from syncret.providers.kit.google.endpoints import Endpoints
from syncret.providers.kit.google.external import (
    TOKEN_TYPE_AWS,
    AwsKeys,
    CredentialSource,
    ExternalAccount,
    ExternalAccountLogin,
    SubjectToken,
    from_source,
    read_account,
    signed_by,
)
from syncret.providers.kit.google.tokens import TOKEN_TYPE_JWT, Login
from syncret.providers.kit.google.workload import ACCOUNT, SUBJECT_SECONDS
from syncret.providers.kit.http import Http
from syncret.providers.values import SecretBytes

_PLACE: Final = "auth.workloadIdentityFederation"
_IMDS: Final = r"http://(?:metadata\.google\.internal|169\.254\.169\.254|\[fd00:ec2::254\])/latest"
_AWS_ADDRESSES: Final = {
    "url": re.compile(rf"{_IMDS}/meta-data/iam/security-credentials/?"),
    "region_url": re.compile(rf"{_IMDS}/meta-data/placement/availability-zone"),
    "imdsv2_session_token_url": re.compile(rf"{_IMDS}/api/token"),
    "regional_cred_verification_url": re.compile(
        r"https://sts\.\{region\}\.amazonaws\.com\?Action=GetCallerIdentity&Version=2011-06-15"
    ),
}
_IMPERSONATE: Final = "/v1/projects/-/serviceAccounts/{}:generateAccessToken"
_AWS_PROOF: Final = "a request signed with the AWS credentials of the daemon"
_EMAIL: Final = r"[a-z0-9-]+@[a-z0-9-]+\.iam\.gserviceaccount\.com"


async def federation(
    spec: GcpWorkloadIdentityFederation,
    http: Http,
    context: OpenContext,
    endpoints: Endpoints,
) -> Login:
    """The login that the spec describes. Raises SyncError for one that is incomplete or not allowed."""
    sources = (spec.cred_config, spec.service_account_ref, spec.aws_security_credentials)
    if sum(source is not None for source in sources) != 1:
        raise Malformed(
            "invalid workloadIdentityFederation config: exactly one of credConfig, awsSecurityCredentials or "
            "serviceAccountRef must be provided",
            hint=f"keep one of them in {_PLACE}",
        )
    if spec.cred_config is None and not spec.audience:
        raise Malformed(
            "invalid workloadIdentityFederation config: audience must be provided, when serviceAccountRef or "
            "awsSecurityCredentials is provided",
            hint="write the full name of the pool's provider, beginning with //iam.googleapis.com",
        )
    account = await _read_configuration(spec, context, endpoints)
    subject: SubjectToken
    if spec.service_account_ref is not None:
        subject = _account_token(spec.service_account_ref, context)
    elif spec.aws_security_credentials is not None:
        subject = await _signed_aws_request(spec.aws_security_credentials, account.audience, context)
    else:
        source = account.credential_source
        subject = from_source(
            source,
            account.audience,
            http,
            aws_keys=partial(_machine_keys, context, endpoints),
            read_file=context.read_file,
            now=context.now,
        )
    return ExternalAccountLogin(
        account,
        subject,
        http,
        endpoints,
        context.now,
        method=_PLACE,
        audience_field=f"{_PLACE}.audience, then issuer and subject of the token",
        account_field=f"{_PLACE}.gcpServiceAccountEmail",
    )


async def _read_configuration(
    spec: GcpWorkloadIdentityFederation,
    context: OpenContext,
    endpoints: Endpoints,
) -> ExternalAccount:
    account = ExternalAccount()
    if spec.cred_config is not None:
        ref = spec.cred_config
        text = await context.credentials.config_map_key(ref.name, ref.key, ref.namespace)
        account = read_account(SecretBytes(text.encode()), f'key "{ref.key}" of ConfigMap "{ref.name}"')
        _check_source(account.credential_source, spec.external_token_endpoint or "")
    email = spec.gcp_service_account_email or ""
    if not email and spec.service_account_ref is not None:
        ref_account = spec.service_account_ref
        found = await context.credentials.account_annotations(ref_account.name, ref_account.namespace)
        email = found.get(ACCOUNT, "")
    kind = TOKEN_TYPE_AWS if spec.aws_security_credentials else account.subject_token_type or TOKEN_TYPE_JWT
    account = msgspec.structs.replace(
        account,
        audience=spec.audience or account.audience,
        subject_token_type=kind,
        service_account_impersonation_url=(
            f"https://iamcredentials.{endpoints.universe}{_IMPERSONATE.format(email)}"
            if email
            else account.service_account_impersonation_url
        ),
    )
    _check_addresses(account, endpoints.universe)
    return account


def _check_addresses(account: ExternalAccount, universe: str) -> None:
    """Raises Malformed if tokens would be sent elsewhere than to Google."""
    google = rf"(?:[a-z0-9-]+\.)*{re.escape(universe)}"
    if not account.audience:
        raise _invalid("audience is empty", "write the full name of the pool's provider")
    impersonation = account.service_account_impersonation_url
    account_path = rf"/v1/projects/[^/]+/serviceAccounts/{_EMAIL}:generateAccessToken"
    pattern = rf"https://iamcredentials\.{google}{account_path}"
    if impersonation and not re.fullmatch(pattern, impersonation):
        raise _invalid("service_account_impersonation_url does not lead to Google", "write it as gcloud does")
    if account.token_url and not re.fullmatch(rf"https://sts\.{google}/v1/token", account.token_url):
        raise _invalid("token_url does not lead to Google", f"write https://sts.{universe}/v1/token")


def _check_source(source: CredentialSource, endpoint: str) -> None:
    if source.environment_id:
        _check_aws(source)
        return
    if source.url != endpoint:
        raise _invalid(
            "credential_source.url does not match with the configured externalTokenEndpoint",
            f"write the address into {_PLACE}.externalTokenEndpoint too",
        )


def _check_aws(source: CredentialSource) -> None:
    if not source.environment_id.lower().startswith("aws"):
        raise _invalid(
            "credential_source.environment_id must start with aws", "aws1 is the only one there is"
        )
    for field, pattern in _AWS_ADDRESSES.items():
        value = getattr(source, field)
        if not pattern.fullmatch(value) and not (field == "imdsv2_session_token_url" and not value):
            raise _invalid(f"credential_source.{field} does not lead to AWS", "write it as gcloud does")


def _account_token(account: ServiceAccountSelector, context: OpenContext) -> SubjectToken:
    async def token() -> str:
        issued = await context.credentials.account_token(
            account.name, audiences=account.audiences, seconds=SUBJECT_SECONDS, namespace=account.namespace
        )
        return issued.token.raw.decode("ascii", "replace")

    return token


async def _machine_keys(context: OpenContext, endpoints: Endpoints, source: CredentialSource) -> AwsKeys:
    """The keys of the daemon's own machine at AWS, for a proof that Google gets."""
    own = context.ambient([Receiver("gcpsm", f"https://sts.{endpoints.universe}", _AWS_PROOF)])
    return await keys_for_federation(own, source, endpoints, context.now)


async def _signed_aws_request(
    spec: AwsSecurityCredentials, audience: str, context: OpenContext
) -> SubjectToken:
    ref = spec.aws_credentials_secret_ref
    data = (await context.credentials.secret(ref.name, ref.namespace)).data
    empty = SecretBytes(b"")
    access, secret = data.get("aws_access_key_id", empty), data.get("aws_secret_access_key", empty)
    if not len(access) or not len(secret):
        raise Malformed(
            "aws_access_key_id and aws_secret_access_key keys must be present in AwsSecurityCredentials "
            "secret",
            hint=f'add them to Secret "{ref.name}"',
        )
    session = data.get("aws_session_token", empty)
    keys = AwsKeys(access.raw.decode("utf-8", "replace"), secret, session, spec.region)

    async def signed() -> str:
        return signed_by(keys, audience, context.now())

    return signed


def _invalid(problem: str, hint: str) -> Malformed:
    return Malformed(f"invalid external_account config: {problem}", hint=hint)
