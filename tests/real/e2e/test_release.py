"""A release among the manifests of a host: the daemon keeps what it makes in step with its values."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.real.e2e.manifests import replaced
from tests.real.e2e.process import Daemon, daemon, files

pytestmark = pytest.mark.slow

STORE = """\
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: s}
spec: {provider: {fake: {data: [{key: db, value: '{"p": "first-password", "q": "short"}'}]}}}
"""
RELEASE = """\
apiVersion: syncret.dev/v1alpha1
kind: Module
metadata: {name: app}
spec:
  config: {password: {$opm: secret, $secretName: db, $dataKey: password, $constraints: {minRunes: 8}}}
  container: {image: x, env: {P: {from: config.password}}}
---
apiVersion: syncret.dev/v1alpha1
kind: Release
spec: {values: {password: {source: k8s-eso, path: db, remoteKey: p}}}
---
apiVersion: syncret.dev/v1alpha1
kind: Platform
spec: {refreshInterval: 1s, secretStoreRef: {name: s, kind: SecretStore}}
"""


def field(process: Daemon) -> dict[str, Any]:
    """What /status says of the only sensitive field."""
    ((found,),) = (release["secrets"] for release in process.status_document()["releases"])
    return dict(found)


def test_fields_are_known_after_a_restart(tmp_path: Path) -> None:
    manifests = tmp_path / "manifests"
    manifests.mkdir()
    for name, text in (("store", STORE), ("release", RELEASE)):
        path = manifests / f"{name}.yaml"
        path.write_text(text)
        os.utime(path, (1_700_000_000, 1_700_000_000))  # a file that was left alone is not read again
    for _ in range(2):
        with daemon(tmp_path, manifests) as process:
            process.until(lambda: field(process)["constraints"] == "satisfied", "judged")
            assert process.stop() == 0


def test_files_follow_a_release(tmp_path: Path) -> None:
    manifests, out = tmp_path / "manifests", tmp_path / "out"
    manifests.mkdir()
    (manifests / "store.yaml").write_text(STORE)
    release = manifests / "release.yaml"
    release.write_text(RELEASE)
    first = {"default/db/password": "first-password"}
    with daemon(tmp_path, manifests) as process:
        process.until(lambda: files(out) == first, "written")
        process.until(lambda: field(process)["constraints"] == "satisfied", "judged")
        assert field(process)["from"] == {"store": "SecretStore/s", "path": "db", "remoteKey": "p"}
        assert field(process)["ready"]
        replaced(release, RELEASE.replace("remoteKey: p", "remoteKey: q"))
        process.until(lambda: process.status("db")["ready"] is False, "held back")
        assert "password: minRunes" in process.status("db")["lastFailure"]["message"]
        assert files(out) == first
        assert field(process)["constraints"] == "violated"
        table = process.ask("status").stdout
        assert "default/app  spec.config.password  k8s-eso" in table
        assert "constraints violated" in process.ask("explain", "ExternalSecret/db").stdout
        replaced(release, RELEASE.replace("remoteKey: p", "remoteKey: p, value: x"))
        process.until(lambda: "has both a value and a reference" in process.stderr, "the mistake told")
        assert files(out) == first
        assert field(process)["constraints"] == "violated"  # as the file said last
        replaced(release, RELEASE.replace("$dataKey: password", "$dataKey: pw"))
        process.until(lambda: files(out) == {"default/db/pw": "first-password"}, "another key")
        release.unlink()
        process.until(lambda: files(out) == {}, "gone")
        process.until(lambda: process.status_document()["releases"] == [], "no release any more")
        assert process.stop() == 0
