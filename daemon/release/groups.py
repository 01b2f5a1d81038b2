"""Groups fields by the Secret that they go to, and checks each group: one slot has one value."""

import hashlib
import json
from base64 import b64encode
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from syncret.config.fields import Json
from syncret.config.meta import Document, is_object
from syncret.config.spelling import did_you_mean
from syncret.daemon.core.constraints.rules import Constraints
from syncret.daemon.release.findings import Findings, Place
from syncret.daemon.release.model import Failed, Field, Reference, Tag, Text

LARGEST: Final = 1024 * 1024
_SHOWN: Final = 4
_LONGEST_NAME: Final = 253
_ALL: Final = (
    ("kubernetes.io/tls", ("tls.crt", "tls.key")),
    ("kubernetes.io/ssh-auth", ("ssh-privatekey",)),
    ("kubernetes.io/dockerconfigjson", (".dockerconfigjson",)),
    ("kubernetes.io/dockercfg", (".dockercfg",)),
)
_REQUIRED: Final[Mapping[str, tuple[str, ...]]] = dict(_ALL)
_BASIC: Final = "kubernetes.io/basic-auth"
_BASIC_KEYS: Final = ("username", "password")
OPAQUE: Final = "Opaque"


class Group(Struct, frozen=True):
    """One `$secretName`: its fields that have a value or a reference, each slot once."""

    name: str
    """The name of the objects that are made: `$secretName`, of an immutable Secret with a suffix."""
    secret_name: str
    fields: tuple[Field, ...]
    type: str = ""
    immutable: bool = False

    @property
    def texts(self) -> dict[str, Text]:
        """The literals by key, sorted."""
        found = {each.routing.data_key: each.fulfilment for each in self.fields}
        return {key: text for key, text in sorted(found.items()) if isinstance(text, Text)}

    @property
    def external(self) -> dict[str, Reference]:
        """The entries of secret managers by key, sorted."""
        found = {each.routing.data_key: each.fulfilment for each in self.fields}
        return {
            key: ref
            for key, ref in sorted(found.items())
            if isinstance(ref, Reference) and ref.source == "k8s-eso"
        }


class Settings(Struct, frozen=True):
    """What a module says of one Secret."""

    type: str = ""
    immutable: bool = False


def check_slots(fields: Sequence[Field], findings: Findings) -> None:
    """Fields of one slot must have the same fulfilment."""
    of: dict[tuple[str, str], list[Field]] = defaultdict(list)
    for field in fields:
        if field.fulfilment is not None and not isinstance(field.fulfilment, Failed | Tag):
            of[field.slot].append(field)
    for (secret_name, key), twins in of.items():
        if len({_identity(twin) for twin in twins}) > 1:
            for twin in twins:
                others = ", ".join([each.user.path for each in twins[:_SHOWN] if each is not twin])
                message = f"goes to the key {key} of {secret_name} with another value than {others}"
                findings.error(twin.user, message, "give both the same, or let the module route them apart")


def _identity(field: Field) -> object:
    match field.fulfilment:
        case Text(value):
            return value.raw
        case other:
            return other


def groups_of(
    fields: Sequence[Field], settings: Mapping[str, Settings], declared: Place, findings: Findings
) -> dict[str, Group]:
    """The groups by `$secretName`, in the order of their first fields. `declared` is `spec.secrets`."""
    of: dict[str, dict[str, Field]] = {}
    for field in fields:
        slots = of.setdefault(field.routing.secret_name, {})
        if field.fulfilment is not None and not isinstance(field.fulfilment, Failed | Tag):
            first = slots.get(field.routing.data_key)
            slots[field.routing.data_key] = field if first is None else _merged(first, field)
    broken = {field.routing.secret_name for field in fields if isinstance(field.fulfilment, Failed | Tag)}
    groups: dict[str, Group] = {}
    for secret_name, slots in of.items():
        said = settings.get(secret_name, Settings())
        group = Group(secret_name, secret_name, tuple(slots.values()), said.type, said.immutable)
        _check_size(group, findings)
        _check_mixed(group, findings)
        groups[secret_name] = _named(group, declared.at(secret_name), findings, secret_name in broken)
    return groups


def _merged(first: Field, twin: Field) -> Field:
    """One field for both: what must hold of one must hold of the slot."""
    more = [each for each in twin.routing.constraints.all if each not in first.routing.constraints.all]
    if not more:
        return first
    constraints = Constraints((*first.routing.constraints.all, *more))
    return replace(first, routing=replace(first.routing, constraints=constraints))


def _check_size(group: Group, findings: Findings) -> None:
    texts = [field for field in group.fields if isinstance(field.fulfilment, Text)]
    if sum(len(text.value) for text in group.texts.values()) > LARGEST:
        message = f"the values of the Secret {group.secret_name} are larger than 1 MiB together"
        findings.error(texts[0].user, message, "make them smaller, or let the module route them apart")


def _check_mixed(group: Group, findings: Findings) -> None:
    if group.texts and group.external:
        first = next(field for field in group.fields if isinstance(field.fulfilment, Text))
        message = f"the Secret {group.secret_name} has two writers: this release, and its ExternalSecret"
        hint = "fulfil all keys of a Secret in one way, or route them to two Secrets"
        findings.warn(first.author, message, hint)


def _named(group: Group, place: Place, findings: Findings, is_broken: bool) -> Group:  # noqa: FBT001  # of one caller
    if not group.immutable:
        return group
    if any(isinstance(field.fulfilment, Reference) for field in group.fields):
        message = f"{group.secret_name} has references: only a Secret of literals alone can be immutable"
        findings.error(place.at("immutable"), message, "remove it")
        return group
    if is_broken or not group.fields:
        return group
    name = f"{group.secret_name}-{_suffix(group)}"
    if len(name) > _LONGEST_NAME:
        findings.error(place.at("immutable"), "makes the name of the Secret too long", "shorten $secretName")
    return Group(name, group.secret_name, group.fields, group.type, immutable=True)


def encoded(group: Group) -> dict[str, str]:
    """The literals in base64, by key."""
    return {key: b64encode(text.value.raw).decode() for key, text in group.texts.items()}


def _suffix(group: Group) -> str:
    """Ten hex digits that change with the content. Names are public: short values need a slow hash."""
    content = json.dumps(encoded(group), sort_keys=True, separators=(",", ":")).encode()
    salt = f"syncret:{group.secret_name}".encode()
    return hashlib.scrypt(content, salt=salt, n=16384, r=8, p=1, dklen=5).hex()


def read_settings(
    written: Json, declared: Mapping[str, set[str]], place: Place, findings: Findings
) -> dict[str, Settings]:
    """`spec.secrets` of a module; `declared` are the keys of each Secret name."""
    if written is None:
        return {}
    if not is_object(written):
        findings.error(place, "must be a mapping", "write {NAME: {type: ...}}")
        return {}
    settings: dict[str, Settings] = {}
    for name, said in written.items():
        at = place.at(name)
        if name not in declared:
            hint = did_you_mean(name, list(declared)) or "remove it"
            findings.error(at, "is no $secretName of this module", hint)
        elif not is_object(said):
            findings.error(at, "must be a mapping", "write {type: ..., immutable: ...}")
        else:
            settings[name] = _settings(said, declared[name], at, findings)
    return settings


def _settings(said: Document, keys: set[str], place: Place, findings: Findings) -> Settings:
    findings.unknown(place, said, ("type", "immutable"))
    kind, immutable = said.get("type", ""), said.get("immutable", False)
    if not isinstance(kind, str) or ("type" in said and not kind):
        findings.error(place.at("type"), "must be a type of Secrets", "write type: kubernetes.io/tls")
        kind = ""
    missing = [key for key in _REQUIRED.get(kind, ()) if key not in keys]
    if missing:
        hint = f"declare a field with $dataKey: {missing[0]}"
        findings.error(place.at("type"), f"{kind} demands the keys {', '.join(missing)}", hint)
    if kind == _BASIC and not keys.intersection(_BASIC_KEYS):
        hint = "declare a field with $dataKey: password"
        findings.error(place.at("type"), f"{kind} demands the keys username or password", hint)
    if not isinstance(immutable, bool):
        findings.error(place.at("immutable"), "must be true or false", "write immutable: true")
    return Settings(kind, immutable is True)
