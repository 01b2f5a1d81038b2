"""Decides which keys and object names may become file names: none of them leads out of its folder."""

import re
from collections.abc import Collection

from syncret.config.meta import ObjectRef
from syncret.config.resources.kinds import SECRET
from syncret.daemon.homes.contract import Invalid

TEMPORARY = "..syncret-"
"""The prefix of temporary names. No key or object name can have it: both refuse a leading `..`."""

CLUSTER_FOLDER = "_cluster"
"""The folder of cluster-scoped manifests; no namespace can have this name."""

_MAX_LENGTH = 253
_KEY = re.compile(r"(?!\.\.|\.$)[-._a-zA-Z0-9]{1,253}").fullmatch
_PART = re.compile(r"(?!\.)[-.:a-zA-Z0-9]{1,253}").fullmatch


def is_key(name: str) -> bool:
    """Whether Kubernetes would take it as a key of a Secret, which makes it a safe name of a file."""
    return _KEY(name) is not None


def check_keys(ref: ObjectRef, keys: Collection[str]) -> None:
    """Raise Invalid for the first key that is no file name.

    The message has its position in the order of the keys and what is wrong with it, but does not quote it:
    keys may come from a secret manager.
    """
    for key in keys:
        if _KEY(key) is None:
            position = sorted(keys).index(key) + 1
            raise Invalid(
                f"{ref}: key number {position} (sorted by name) cannot be a file: {_fault(key)}; "
                "keys are made of letters, digits, '-', '_' and '.': rewrite it"
            )


def _fault(key: str) -> str:
    faults = {
        "it is empty": not key,
        "it is longer than 253 characters": len(key) > _MAX_LENGTH,
        "it contains '/'": "/" in key,
        "it contains a NUL character": "\0" in key,
        "it is '.', which names the folder itself": key == ".",
        "it starts with '..'": key.startswith(".."),
    }
    return next(
        (fault for fault, found in faults.items() if found), "it contains a character that is not allowed"
    )


def folder_of(ref: ObjectRef) -> str:
    """The name of the folder that holds an object: its namespace. Raises Invalid."""
    return _part(ref, ref.namespace) if ref.namespace else CLUSTER_FOLDER


def secret_name(ref: ObjectRef) -> str:
    """The name of a Secret's own folder inside its namespace's. Raises Invalid."""
    return _part(ref, ref.name)


def manifest_name(ref: ObjectRef) -> str:
    """The name of another object's file: `ConfigMap_app.yaml`, `Application.argoproj.io_app.yaml`.

    Kinds of two groups do not meet, and the underscore keeps it apart from every name of a Secret.
    Raises Invalid.
    """
    return _part(ref, str(ref.group_kind)) + "_" + _part(ref, ref.name) + ".yaml"


def name_of(ref: ObjectRef) -> str:
    """The name of an object's folder or file inside its namespace's folder. Raises Invalid."""
    return secret_name(ref) if ref.group_kind == SECRET.group_kind else manifest_name(ref)


def path_of(ref: ObjectRef) -> str:
    """The path of an object's folder or file, below the output folder. Raises Invalid."""
    return f"{folder_of(ref)}/{name_of(ref)}"


def _part(ref: ObjectRef, name: str) -> str:
    if _PART(name) is None:
        raise Invalid(
            f"{ref.kind}: its name or namespace cannot be a file name: use letters, digits, '-' and '.'"
        )
    return name
