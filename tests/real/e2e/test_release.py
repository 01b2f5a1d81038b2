"""A release among the manifests of a host: the daemon keeps what it makes in step with its values."""

from pathlib import Path

import pytest

from tests.real.e2e.manifests import replaced
from tests.real.e2e.process import daemon, files

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


def test_files_follow_a_release(tmp_path: Path) -> None:
    manifests, out = tmp_path / "manifests", tmp_path / "out"
    manifests.mkdir()
    (manifests / "store.yaml").write_text(STORE)
    release = manifests / "release.yaml"
    release.write_text(RELEASE)
    first = {"default/db/password": "first-password"}
    with daemon(tmp_path, manifests) as process:
        process.until(lambda: files(out) == first, "written")
        replaced(release, RELEASE.replace("remoteKey: p", "remoteKey: q"))
        process.until(lambda: process.status("db")["ready"] is False, "held back")
        assert "password: minRunes" in process.status("db")["lastFailure"]["message"]
        assert files(out) == first
        replaced(release, RELEASE.replace("remoteKey: p", "remoteKey: p, value: x"))
        process.until(lambda: "has both a value and a reference" in process.stderr, "the mistake told")
        assert files(out) == first
        replaced(release, RELEASE.replace("$dataKey: password", "$dataKey: pw"))
        process.until(lambda: files(out) == {"default/db/pw": "first-password"}, "another key")
        release.unlink()
        process.until(lambda: files(out) == {}, "gone")
        assert process.stop() == 0
