"""Tokens of ServiceAccounts on a host: in a pod its API server issues them for the pod's own account."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from syncret.config.meta import ObjectRef
from syncret.daemon.homes.memory.cluster import no_token
from syncret.providers.contract import IssuedToken


async def issue_token(
    account: ObjectRef,
    audiences: Sequence[str],
    seconds: int,
    *,
    environment: Mapping[str, str],
    mount: Path | None = None,
) -> IssuedToken:
    """A token of the account. Raises SyncError, outside of a pod always."""
    from syncret.providers.kit.ambient import pod  # only what asks for a token needs it

    place = mount or pod.MOUNT
    if not pod.is_pod(environment, place):
        raise no_token(account, audiences, seconds)
    async with pod.open_in_cluster(environment, place) as kube:
        return await kube.token(account.namespace, account.name, audiences=audiences, seconds=seconds)
