"""Files that a manifest names."""

import json
import os
import tempfile
from pathlib import Path
from typing import Final

from tests.faults.hostile.manifests import Document, Hostile, external, read, store, written

REFUSED: Final = "is not ready"
"""The condition of the store says why: the file is not below the folders of `manifestFiles`."""


def _ibm(token: str, url: str) -> str:
    """An IBM store whose token is in this file."""
    auth = {"containerAuth": {"profile": "p", "tokenLocation": token, "iamEndpoint": url}}
    return written(store("ibm", {"serviceUrl": url, "auth": auth}), external(data=[read()]))


def _google(file: str, url: str) -> str:
    """A Google store whose federation reads this file."""
    config = {
        "type": "external_account",
        "audience": "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/p",
        "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
        "token_url": "https://sts.googleapis.com/v1/token",
        "credential_source": {"file": file},
    }
    text: Document = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "config", "namespace": "evil"},
        "data": {"config": json.dumps(config)},
    }
    federation = {"credConfig": {"name": "config", "key": "config"}, "audience": config["audience"]}
    del url
    spec = {"projectID": "acme", "auth": {"workloadIdentityFederation": federation}}
    return written(text, store("gcpsm", spec), external(data=[read()]))


def _pipe(url: str) -> str:
    """A FIFO that nobody writes to."""
    path = Path(tempfile.mkdtemp(prefix="hostile-")) / "pipe"
    os.mkfifo(path)
    return _ibm(str(path), url)


CASES: Final = (
    Hostile(name="file-pipe", tried="a FIFO that nobody writes to", manifest=_pipe, says=REFUSED, quick=True),
    Hostile(
        name="file-stdout",
        tried="`/proc/self/fd/1`, a pipe in a container",
        manifest=lambda url: _ibm("/proc/self/fd/1", url),
        says=REFUSED,
    ),
    Hostile(name="file-zero", tried="`/dev/zero`", manifest=lambda url: _ibm("/dev/zero", url), says=REFUSED),
    Hostile(
        name="file-climbs",
        tried="`/var/run/secrets/../../../dev/zero`",
        manifest=lambda url: _ibm("/var/run/secrets/../../../dev/zero", url),
        says=REFUSED,
    ),
    Hostile(
        name="file-terminal",
        tried="`/dev/tty`, by a Google store",
        manifest=lambda url: _google("/dev/tty", url),
        says=REFUSED,
    ),
    Hostile(
        name="file-memory",
        tried="`/proc/self/mem`, by a Google store",
        manifest=lambda url: _google("/proc/self/mem", url),
        says=REFUSED,
    ),
)
