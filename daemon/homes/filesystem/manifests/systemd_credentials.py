"""Secrets from systemd credentials: files in `$CREDENTIALS_DIRECTORY`, which no other user can read.

`LoadCredential=vault.token:/etc/...` in a unit makes a file `vault.token` there, and that is key `token` of
Secret `vault` in namespace `default`: the name ends at the first dot. Files without a dot are ignored. These
Secrets stay in memory; they are never written to files, and not kept in the state file.
"""

import os
import re
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path

import msgspec

from syncret.config.errors import Problem
from syncret.config.fields import DNS_LABEL
from syncret.config.manifests.loader import LoadedDocument
from syncret.config.meta import ObjectRef
from syncret.daemon.homes.contract import HomeProblem, RefusalReason
from syncret.daemon.homes.filesystem.manifests.reader import Content, Manifest, digest_of
from syncret.daemon.homes.filesystem.output.names import is_key

NAMESPACE = "default"


def read_credentials(folder: str, salt: bytes) -> tuple[Sequence[Manifest], Sequence[HomeProblem]]:
    """The Secrets that the credentials make, and what is wrong with them. Blocking."""
    secrets: dict[str, dict[str, bytes]] = {}
    problems: list[HomeProblem] = []
    try:
        for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
            name, dot, key = entry.name.partition(".")
            if not dot:
                continue
            if not re.fullmatch(DNS_LABEL, name) or not is_key(key):
                problems.append(HomeProblem(entry.path, _MISNAMED, reason=RefusalReason.INVALID))
            elif entry.is_file():
                secrets.setdefault(name, {})[key] = Path(entry.path).read_bytes()
    except OSError as error:
        problem = Problem(path="", message=f"cannot be read: {error.strerror}")
        problems.append(HomeProblem(folder, problem, reason=RefusalReason.UNREADABLE))
    return [_manifest(folder, name, data, salt) for name, data in secrets.items()], problems


_MISNAMED = Problem(
    path="",
    message="this credential cannot be a key of a Secret",
    hint="call it <secret>.<key>: lowercase letters, digits and '-' before the first dot",
)


def _manifest(folder: str, name: str, data: dict[str, bytes], salt: bytes) -> Manifest:
    document = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name},
        "data": {key: b64encode(data[key]).decode() for key in sorted(data)},
    }
    ref = ObjectRef("", "Secret", NAMESPACE, name)
    content = Content(msgspec.json.encode(document), LoadedDocument(folder, 0, None))
    return Manifest(ref, folder, 0, digest_of(content.data, salt), content)
