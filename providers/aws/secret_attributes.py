"""The attributes of a secret in AWS Secrets Manager: tags, a resource policy, replicas."""

from collections.abc import Mapping, Sequence
from typing import Any

from syncret.config.fields import Json
from syncret.providers.aws.push_specs import ResourcePolicy, SecretPush
from syncret.providers.aws.service import Api, obsolete_tags, tag_list
from syncret.providers.contract import Compute, Credentials
from syncret.providers.errors import Malformed
from syncret.providers.kit.golang import json as gojson
from syncret.providers.pushes import PushItem
from syncret.providers.work import Work


async def set_tags(api: Api, name: str, current: dict[str, str], wanted: dict[str, str]) -> None:
    """Set exactly these tags; AWS's own stay."""
    unwanted = obsolete_tags(current, wanted)
    if unwanted:
        await api.call("untag_resource", SecretId=name, TagKeys=unwanted)
    if not wanted.items() <= current.items():
        await api.call("tag_resource", SecretId=name, Tags=tag_list(wanted))


async def policy(
    credentials: Credentials, item: PushItem, wanted: ResourcePolicy | None, compute: Compute
) -> str:
    """The text of the requested policy; empty if none is requested. Raises SyncError."""
    source = wanted.policy_source_ref if wanted is not None else None
    if source is None:
        return ""
    namespace = item.source.get("metadata", {}).get("namespace")
    if source.kind == "ConfigMap":
        text = await credentials.config_map_key(source.name, source.key, namespace)
    else:
        found = await credentials.secret_key(source.name, source.key, namespace)
        text = found.raw.decode("utf-8", "replace")
    if await compute(lambda work: _document(text, work)) is None:
        raise Malformed(
            f'key "{source.key}" of {source.kind} "{source.name}" is no resource policy',
            hint="a policy is a JSON object with a Statement",
        )
    return text


async def set_policy(
    api: Api, name: str, wanted: str, options: ResourcePolicy | None, compute: Compute
) -> None:
    """Set this policy, or none. An equal policy in other words stays."""
    answer = await api.look_up("get_resource_policy", SecretId=name) or {}
    current: str = answer.get("ResourcePolicy") or ""
    if not wanted and current:
        await api.call("delete_resource_policy", SecretId=name)
    elif wanted and not await compute(lambda work: _document(current, work) == _document(wanted, work)):
        await put_policy(api, name, wanted, options)


async def put_policy(api: Api, name: str, wanted: str, options: ResourcePolicy | None) -> None:
    """Set a policy."""
    block = options.block_public_policy if options is not None else None
    bound = {} if block is None else {"BlockPublicPolicy": block}
    await api.call("put_resource_policy", SecretId=name, ResourcePolicy=wanted, **bound)


def replicas(regions: Sequence[str], key: str | None) -> list[dict[str, str]]:
    """Replicas as AWS expects them."""
    return [{"Region": region, **({"KmsKeyId": key} if key else {})} for region in regions]


async def set_replicas(api: Api, name: str, described: Mapping[str, Any], options: SecretPush) -> None:
    """Set replicas in exactly these regions; unchanged if the push does not mention them."""
    wanted = options.replication_locations
    if wanted is None:
        return
    current = _regions(described)
    unwanted = [region for region in current if region not in wanted]
    missing = [region for region in wanted if region not in current]
    if unwanted:
        await api.call("remove_regions_from_replication", SecretId=name, RemoveReplicaRegions=unwanted)
    if missing:
        added = replicas(missing, described.get("KmsKeyId"))
        await api.call("replicate_secret_to_regions", SecretId=name, AddReplicaRegions=added)


async def drop_replicas(api: Api, name: str, described: Mapping[str, Any]) -> None:
    """Remove all replicas: a secret that has some cannot be deleted."""
    regions = _regions(described)
    if regions:
        await api.call("remove_regions_from_replication", SecretId=name, RemoveReplicaRegions=regions)


def _regions(described: Mapping[str, Any]) -> list[str]:
    return [status["Region"] for status in described.get("ReplicationStatus") or ()]


def _document(text: str, work: Work) -> Json:
    try:
        return gojson.unmarshal_object(text, work) if text else None
    except Malformed:
        return None
