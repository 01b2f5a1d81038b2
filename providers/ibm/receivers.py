"""The receivers of the daemon's own identity for a store of IBM Cloud."""

from collections.abc import Iterator
from typing import Final

from syncret.providers.contract import Receiver
from syncret.providers.ibm.spec import IbmSpec

IAM: Final = "https://iam.cloud.ibm.com"

_NAME: Final = "ibm"
_TOKEN: Final = "the token of the daemon's container"
_ACCESS: Final = "an access token of the daemon's trusted profile"


def receivers(spec: IbmSpec) -> Iterator[Receiver]:
    """IAM, which gets the container's token, and the instance, unless the store names an API key."""
    container = spec.auth.container_auth
    if container is not None:
        yield Receiver(_NAME, container.iam_endpoint or IAM, _TOKEN, "auth.containerAuth.iamEndpoint")
        yield Receiver(_NAME, spec.service_url or "", _ACCESS, "serviceUrl")
