"""Stores that log in as the operator itself: which servers must be allowed, so that they still do."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

from syncret.config.meta import ObjectRef
from syncret.config.servers import server_of
from syncret.config.settings import OwnReceiver
from syncret.daemon.core.own_identity import verdicts_of
from syncret.daemon.homes.contract import StoredObject
from syncret.providers.kit.ambient.rules import Rules, Verdict
from syncret.providers.registry import Registry


class Lost(Struct, frozen=True):
    """A store or generator that would lose the operator's identity."""

    ref: ObjectRef
    verdict: Verdict


class Identities(Struct, frozen=True):
    """Stores that would lose it, and the setting `ownIdentity.receivers` with which none does."""

    lost: Sequence[Lost] = ()
    receivers: Mapping[str, Sequence[str | OwnReceiver]] = {}
    remaining: Sequence[Lost] = ()
    """Those whose server no setting can name, because its URL is not plain."""

    @property
    def setting(self) -> dict[str, Any]:
        """The lines for a settings file."""
        return {
            "ownIdentity": {
                "receivers": {
                    provider: [each if isinstance(each, str) else _entry(each) for each in entries]
                    for provider, entries in self.receivers.items()
                }
            }
        }


def identities_of(users: Iterable[StoredObject], registry: Registry, rules: Rules) -> Identities:
    """What the stores and generators among these objects need, beyond what the settings allow already."""
    users = list(users)
    lost = _lost(users, registry, rules)
    if not lost:
        return Identities()
    wanted: dict[str, dict[str, OwnReceiver]] = {}
    for each in lost:
        receiver = each.verdict.receiver
        server = server_of(receiver.url)
        if server is not None:
            entries = wanted.setdefault(receiver.provider, {})
            entry = entries.get(str(server)) or OwnReceiver(url=str(server))
            entries[str(server)] = OwnReceiver(
                url=entry.url,
                stores="all" if each.ref.namespace else entry.stores,
                server_id=receiver.server_id or entry.server_id,
            )
    merged = {
        provider: (
            *(each for each in rules.settings.receivers.get(provider, ()) if _url(each) not in entries),
            *(each if each.stores or each.server_id else each.url for each in entries.values()),
        )
        for provider, entries in wanted.items()
    }
    widened = structs.replace(
        rules.settings,
        receivers={**rules.settings.receivers, **merged},
        cluster_only=rules.settings.cluster_only,
    )
    remaining = _lost(users, registry, Rules(widened, rules.strict, rules.environment))
    return Identities(lost, merged, remaining)


def _url(entry: str | OwnReceiver) -> str:
    return entry if isinstance(entry, str) else entry.url


def _lost(users: Sequence[StoredObject], registry: Registry, rules: Rules) -> list[Lost]:
    return [
        Lost(user.ref, verdict)
        for user in users
        for verdict in verdicts_of(user.document, registry, rules)
        if not verdict.allowed
    ]


def _entry(receiver: OwnReceiver) -> dict[str, str]:
    entry = {"url": receiver.url}
    if receiver.stores:
        entry["stores"] = receiver.stores
    if receiver.server_id:
        entry["serverId"] = receiver.server_id
    return entry
