"""Who issues tokens of ServiceAccounts in a home whose manifests come from a folder."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from syncret.config.meta import ObjectRef
from syncret.daemon.engine.sessions.credentials import Issue, no_issuer
from syncret.providers.contract import IssuedToken


def of_folder(environment: Mapping[str, str], mount: Path | None = None) -> Issue:
    """In a pod its API server, asked as the pod's own account; elsewhere nobody."""

    async def issue(account: ObjectRef, audiences: Sequence[str], seconds: int) -> IssuedToken:
        from syncret.providers.kit.kube import access  # only what asks for a token needs it

        place = mount or access.MOUNT
        if not access.is_pod(environment, place):
            return await no_issuer(account, audiences, seconds)
        async with access.open_in_cluster(environment, place) as kube:
            return await kube.token(account.namespace, account.name, audiences=audiences, seconds=seconds)

    return issue
