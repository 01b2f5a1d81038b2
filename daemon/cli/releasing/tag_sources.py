"""Resolves tags from environment, files and stores; only kinds that the command line allows."""

import os
import stat
from base64 import b64decode
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from syncret.config.fields import Json
from syncret.config.meta import Document, member
from syncret.config.resources.kinds import CLUSTER_SECRET_STORE
from syncret.config.spelling import did_you_mean, keys_hint
from syncret.daemon.release.compiler import Refusal
from syncret.daemon.release.documents import Documents
from syncret.daemon.release.model import Tag
from syncret.daemon.release.parsed import Parsed
from syncret.daemon.release.platform import STORES, Policy
from syncret.providers.values import SecretBytes

LARGEST: Final = 1024 * 1024
"""Bytes of a file: no Secret holds more."""

_SYSTEM: Final = ("/proc/", "/sys/", "/dev/")
"""Their files show processes and devices, such as the environment of this process."""

_STDIN: Final = "/dev/stdin"
_DEFAULT: Final = "default"
Answer = SecretBytes | Refusal


class Asked(NamedTuple):
    """A tag whose value is wanted, and the file that it stands in."""

    label: str
    tag: Tag
    file: str


def answers(parsed: Parsed, allowed: Collection[str]) -> dict[str, Answer]:
    """The value of each tag of a release, by the label of its field."""
    asked = [Asked(field.label, tag, field.user.given.file) for field, tag in parsed.tags]
    return answered(asked, parsed.documents, parsed.policy, allowed)


def answered(
    asked: Iterable[Asked], documents: Documents, policy: Policy, allowed: Collection[str]
) -> dict[str, Answer]:
    """The values of tags, by their labels; kinds that are not allowed are refused."""
    found: dict[str, Answer] = {}
    from_stores: list[Asked] = []
    for each in asked:
        label, tag, file = each
        if tag.kind not in allowed:
            message, hint = f"@{tag.kind} is not resolved unless asked for", f"add --resolve {tag.kind}"
            found[label] = Refusal(message, hint, is_mistake=True)
        elif tag.kind == "env":
            found[label] = _of_environment(tag)
        elif tag.kind == "file":
            found[label] = _of_file(tag, file)
        elif tag.source == "k8s":
            found[label] = _of_secret(tag, documents)
        else:
            from_stores.append(each)
    if from_stores:
        found.update(_of_stores(from_stores, documents, policy))
    return found


def _of_environment(tag: Tag) -> Answer:
    value = os.environb.get(os.fsencode(tag.argument))
    if value is None:
        return Refusal(f"the variable {tag.argument} is not set", "set it; it may be empty")
    return SecretBytes(value)


def _of_file(tag: Tag, beside: str) -> Answer:
    path = (Path() if beside == _STDIN else Path(beside).parent) / tag.argument
    try:
        value = _regular(path)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return Refusal(f"the file of @file cannot be read: {reason}", "correct the path")
    if value is None:
        message = "the path of @file is no file, or one of the system"
        return Refusal(message, "name a regular file outside of /proc, /sys and /dev")
    if len(value) > LARGEST:
        return Refusal("the file of @file is larger than 1 MiB", "name a smaller one")
    return SecretBytes(value.rstrip(b"\r\n") if tag.trim else value)


def _regular(path: Path) -> bytes | None:
    """The content, up to one byte over the limit; None if it is no regular file. It never blocks."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    with open(descriptor, "rb") as stream:  # noqa: PTH123  # opened so that nothing waits
        real = str(Path(f"/proc/self/fd/{descriptor}").readlink())
        if not stat.S_ISREG(os.fstat(descriptor).st_mode) or real.startswith(_SYSTEM):
            return None
        return stream.read(LARGEST + 1)


def _of_secret(tag: Tag, documents: Documents) -> Answer:
    """A key of a Secret among the documents."""
    secrets = {_name(each): each for each in documents.others if each.get("kind") == "Secret"}
    secret = secrets.get(tag.path)
    if secret is None:
        hint = did_you_mean(tag.path, list(secrets)) or "give its manifest with -f"
        return Refusal(f"there is no Secret {tag.path} among the documents", hint, is_mistake=True)
    texts, data = member(secret, "stringData"), member(secret, "data")
    value: Json = texts.get(tag.key)
    if isinstance(value, str):
        return SecretBytes(value.encode())
    encoded: Json = data.get(tag.key)
    if not isinstance(encoded, str):
        return Refusal(f"the Secret {tag.path} has no key {tag.key}", keys_hint(tag.key, {*texts, *data}))
    try:
        return SecretBytes(b64decode(encoded, validate=True))
    except ValueError:
        return Refusal(f"the key {tag.key} of the Secret {tag.path} is no base64", "mend its manifest")


def _name(document: Document) -> str:
    return str(member(document, "metadata").get("name"))


def _store(tag: Tag, documents: Documents, policy: Policy) -> Document | Refusal:
    """The document of the store that a tag is read from."""
    stores = [each for each in documents.others if each.get("kind") in STORES]
    kinds: tuple[str, ...] = STORES
    name = tag.store
    if not name:
        if policy.store is None:
            hint = "add store=NAME, or a Platform with secretStoreRef"
            return Refusal("no store is named, and the platform has none", hint, is_mistake=True)
        name, kinds = str(policy.store["name"]), (str(policy.store["kind"]),)
    found = [each for each in stores if _name(each) == name and each.get("kind") in kinds]
    if not found:
        hint = did_you_mean(name, [_name(each) for each in stores]) or "give its manifest with -f"
        return Refusal(f"there is no store {name} among the documents", hint, is_mistake=True)
    return found[0]


def _of_stores(asked: Iterable[Asked], documents: Documents, policy: Policy) -> Mapping[str, Answer]:
    from syncret.config.settings_layers import DEFAULTS
    from syncret.daemon.one_read import Unread, Wanted, read_values  # the engine: only where a tag needs it
    from syncret.providers.registry import Registry

    found: dict[str, Answer] = {}
    wanted: dict[str, Wanted] = {}
    for label, tag, _ in asked:
        store = _store(tag, documents, policy)
        if isinstance(store, Refusal):
            found[label] = store
            continue
        own: Json = member(store, "metadata").get("namespace")
        namespace = own if isinstance(own, str) and own else documents.namespace or _DEFAULT
        ref = {"name": _name(store), "kind": store["kind"]}
        wanted[label] = Wanted(ref, namespace, tag.path, tag.key)
    objects = [
        {
            **each,
            "metadata": {"namespace": documents.namespace or _DEFAULT, **member(each, "metadata")},
        }
        if each.get("kind") != CLUSTER_SECRET_STORE.kind
        else each
        for each in documents.others
    ]
    values = read_values(objects, list(wanted.values()), DEFAULTS, Registry()) if wanted else []
    for label, value in zip(wanted, values, strict=True):
        found[label] = Refusal(value.message, value.hint) if isinstance(value, Unread) else value
    return found
