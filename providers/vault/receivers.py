"""The receivers of the daemon's own identity for a store of Vault: the server that it names."""

from collections.abc import Iterator
from typing import Final

from syncret.providers.contract import Receiver
from syncret.providers.kit.auth import aws_requests
from syncret.providers.vault.auth_spec import VaultAuth, VaultIam
from syncret.providers.vault.spec import VaultSpec

DEFAULT_REGION: Final = "us-east-1"

_NAME: Final = "vault"
_ACCOUNT: Final = "a token of the daemon's own ServiceAccount"
_AWS_PROOF: Final = "a request signed with the AWS credentials of the daemon"
_AWS_KEYS: Final = "requests signed with the AWS credentials of the daemon"
_GOOGLE: Final = "an identity token of the daemon's machine at Google"


def receivers(spec: VaultSpec) -> Iterator[Receiver]:
    """The server, and AWS for the login `iam`, unless the login that is used names credentials."""
    name, method = (spec.auth or VaultAuth()).chosen()
    if name == "kubernetes" and not (method.service_account_ref or method.secret_ref):
        yield Receiver(_NAME, spec.server, _ACCOUNT, "server")
    elif name == "gcp" and not (method.secret_ref or method.workload_identity):
        yield Receiver(_NAME, spec.server, _GOOGLE, "server")
    elif name == "iam":
        yield from _of_iam(spec.server, method)


def _of_iam(server: str, method: VaultIam) -> Iterator[Receiver]:
    if method.secret_ref is not None or (
        method.jwt is not None and method.jwt.service_account_ref is not None
    ):
        return
    yield Receiver(_NAME, server, _AWS_PROOF, "server", method.vault_aws_iam_server_id)
    region = method.region or DEFAULT_REGION
    if aws_requests.REGION.fullmatch(region):  # another is refused before anything is sent
        yield Receiver("aws", aws_requests.endpoint("sts", region), _AWS_KEYS, "auth.iam.region")
