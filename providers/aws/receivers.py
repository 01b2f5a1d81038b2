"""The receivers of the daemon's own identity for AWS stores and generators: only AWS, in a region."""

from collections.abc import Iterator, Mapping
from typing import Final

from syncret.providers.aws.spec import AwsAuth, AwsSpec
from syncret.providers.contract import Receiver
from syncret.providers.kit.auth.aws_requests import endpoint

_SIGNED: Final = "requests signed with the AWS credentials of the daemon"
_SERVICES: Final[Mapping[str, tuple[str, ...]]] = {
    "SecretsManager": ("secretsmanager",),
    "ParameterStore": ("ssm",),
    "CertificateManager": ("acm", "tagging"),
}


def names_credentials(auth: AwsAuth | None) -> bool:
    """Whether the spec names credentials; if not, the SDK finds those of the daemon."""
    if auth is None:
        return False
    return auth.secret_ref is not None or (auth.jwt is not None and auth.jwt.service_account_ref is not None)


def receivers(spec: AwsSpec) -> Iterator[Receiver]:
    """The store's services, unless it names credentials; with a role these get only that role's."""
    if not names_credentials(spec.auth):
        assumes = bool(spec.role or spec.additional_roles)
        yield from in_region(spec.region, *(("sts",) if assumes else _SERVICES[spec.service]))


def of_generator(auth: AwsAuth | None, role: str, region: str, service: str) -> Iterator[Receiver]:
    """The service of a generator, or with a role the one that gives it, unless it names credentials."""
    if not names_credentials(auth):
        yield from in_region(region, "sts" if role else service)


def in_region(region: str, *services: str) -> Iterator[Receiver]:
    for service in services:
        yield Receiver("aws", endpoint(service, region), _SIGNED, "region")
