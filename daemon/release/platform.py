"""The platform's policy: the store of references to secret managers, and how strict a release is."""

from typing import Final, Literal, cast

from msgspec import Struct

from syncret.config.durations import DurationError, parse_duration
from syncret.config.fields import Json
from syncret.config.meta import Document, is_object
from syncret.config.resources.kinds import CLUSTER_SECRET_STORE, SECRET_STORE
from syncret.config.spelling import allowed_values_hint
from syncret.daemon.release.documents import Documents, spec_of
from syncret.daemon.release.findings import Findings
from syncret.daemon.release.leaves import is_name

STORES: Final = (CLUSTER_SECRET_STORE.kind, SECRET_STORE.kind)
_LITERALS: Final = ("allow", "warn", "strict")
_VERDICTS: Final = ("block", "warn")


class Policy(Struct, frozen=True):
    """The platform of a release; the defaults are those of no platform."""

    literals: Literal["allow", "warn", "strict"] = "allow"
    constraints: Literal["block", "warn"] = "block"
    refresh_interval: str = "1h"
    store: Document | None = None
    is_store_broken: bool = False
    """Whether a problem of the store is already reported."""


def read_policy(documents: Documents, findings: Findings, *, strict: bool) -> Policy:
    """The policy of the platform; `strict` refuses literals whatever the platform says."""
    spec = spec_of(documents.platform)
    production = spec.get("production", False)
    if not isinstance(production, bool):
        findings.error(documents.platform_at("production"), "must be true or false", "write production: true")
    default = "warn" if production is True else "allow"
    literals = _choice(documents, findings, "literals", _LITERALS, default)
    constraints = _choice(documents, findings, "constraints", _VERDICTS, "block")
    interval: Json = spec.get("refreshInterval", "1h")
    try:
        parse_duration(interval if isinstance(interval, str) else "")
    except DurationError:
        findings.error(documents.platform_at("refreshInterval"), "must be a duration", "write 1h or 10m")
        interval = "1h"
    store = _store(documents, findings)
    return Policy(
        literals="strict" if strict else cast("Literal['allow', 'warn', 'strict']", literals),
        constraints=cast("Literal['block', 'warn']", constraints),
        refresh_interval=str(interval),
        store=store,
        is_store_broken=store is None and "secretStoreRef" in spec,
    )


def _choice(
    documents: Documents, findings: Findings, name: str, allowed: tuple[str, ...], default: str
) -> str:
    value: Json = spec_of(documents.platform).get(name, default)
    if isinstance(value, str) and value in allowed:
        return value
    hint = allowed_values_hint(value if isinstance(value, str) else "", allowed)
    findings.error(documents.platform_at(name), "is not known", hint)
    return default if name == "constraints" else "allow"


def _store(documents: Documents, findings: Findings) -> Document | None:
    spec = spec_of(documents.platform)
    if "secretStoreRef" not in spec:
        return None
    place = documents.platform_at("secretStoreRef")
    ref: Json = spec["secretStoreRef"]
    if not is_object(ref):
        findings.error(place, "must be a mapping", "write {name: ..., kind: ClusterSecretStore}")
        return None
    findings.unknown(place, ref, ("name", "kind"))
    kind: Json = ref.get("kind", CLUSTER_SECRET_STORE.kind)
    is_good = True
    if not is_name(ref.get("name")):
        findings.error(place.at("name"), "must be the name of a store", "write name: ...")
        is_good = False
    if not isinstance(kind, str) or kind not in STORES:
        hint = allowed_values_hint(kind if isinstance(kind, str) else "", STORES)
        findings.error(place.at("kind"), "is no kind of a store", hint)
        is_good = False
    return {"name": ref["name"], "kind": kind} if is_good else None
