"""Reboots of a real systemd while the secret manager is away: the guide of the cache, as it is written."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real.systemd.installed import PACKAGES, unpack
from tests.suites.docs.pages import blocks
from tests.support.debian import ROOT, missing_tools
from tests.support.machine import Machine, booted, until

GUIDE = ROOT / "docs" / "guides" / "cache.md"
MANAGER = """\
[Service]
WorkingDirectory=/srv/manager
ExecStart=/usr/bin/python3 -m http.server --bind 127.0.0.1 8200
"""
SITE = """\
server {
    listen 127.0.0.1:443 ssl default_server;
    ssl_certificate /run/syncret/tls/server.pem;
    ssl_certificate_key /run/syncret/tls/server.key;
}
"""
MANIFESTS = """\
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: manager}
spec: {provider: {webhook: {url: "http://127.0.0.1:8200/{{ .remoteRef.key }}", result: {jsonPath: $}}}}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: tls}
spec:
  refreshInterval: 1h
  secretStoreRef: {name: manager}
  dataFrom: [{extract: {key: tls.json}}]
---
apiVersion: generators.external-secrets.io/v1alpha1
kind: Password
metadata: {name: strong}
spec: {length: 24}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: once}
spec:
  refreshPolicy: CreatedOnce
  dataFrom: [{sourceRef: {generatorRef: {kind: Password, name: strong}}}]
---
apiVersion: syncret.dev/v1alpha1
kind: Delivery
metadata: {name: web}
spec:
  sources: [{secret: tls}]
  to: [{directory: {path: /run/syncret/tls, mode: "0400"}}]
"""
CERTIFICATE = "/run/syncret/tls/server.pem"
PASSWORD = "/run/syncret/secrets/default/once/password"

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(bool(why := missing_tools("mmdebstrap", "systemd-nspawn", "nsenter")), reason=why),
]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("machine")
    try:
        root = unpack(folder, PACKAGES)
        for block in (*blocks(GUIDE, "ini"), *blocks(GUIDE, "yaml")):
            if block.title:
                write(root, block.title, block.text)
        write(root, "/etc/systemd/system/manager.service", MANAGER)
        write(root, "/etc/nginx/sites-enabled/tls", SITE)
        write(root, "/etc/syncret/manifests/all.yaml", MANIFESTS)
        (root / "srv/manager").mkdir()
        yield root
    finally:
        shutil.rmtree(folder)


def write(root: Path, path: str, text: str) -> None:
    file = root / path.lstrip("/")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(0o644)


def make_pair(machine: Machine) -> None:
    """A certificate and its key, as the manager has them."""
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    files = ("-keyout", "/tmp/key", "-out", "/tmp/pem")
    machine.run("openssl", "req", "-x509", *curve, "-days", "2", "-subj", "/CN=kept", *files)
    pair = {f"server.{name}": machine.path(f"/tmp/{name}").read_text() for name in ("key", "pem")}
    machine.path("/srv/manager/tls.json").write_text(json.dumps(pair))


def served(machine: Machine) -> str:
    """The name in the certificate that nginx serves."""
    script = "openssl s_client -connect 127.0.0.1:443 </dev/null 2>/dev/null | openssl x509 -noout -subject"
    return machine.run("sh", "-c", script, check=False).strip().removeprefix("subject=CN = ")


def when(machine: Machine, unit: str, moment: str) -> int:
    return int(machine.property(unit, f"{moment}TimestampMonotonic"))


def shown(machine: Machine, console: Path) -> None:
    print(machine.run("syncret", "status", "-o", "wide", check=False))
    print(f"{machine.journal('syncret')}{machine.journal('nginx')}{console.read_text(errors='replace')}")


def test_after_a_reboot_without_the_manager_files_are_there_before_nginx_starts(
    root: Path, tmp_path: Path
) -> None:
    """Then, with an age that values may have, the next reboot withdraws them."""
    with booted(root, tmp_path / "first") as machine:
        [init] = [block for block in blocks(GUIDE, "console") if block.title == "init"]
        command, *lines = init.text.splitlines()
        assert machine.run(*command.removeprefix("# ").split()).splitlines() == lines
        make_pair(machine)
        machine.run("systemctl", "enable", "syncret", "nginx")
        machine.run("systemctl", "start", "manager")
        machine.run("systemctl", "restart", "syncret", "nginx")
        until(lambda: served(machine) == "kept", "served")
        password = machine.path(PASSWORD).read_text()
        shown(machine, tmp_path / "first")

    with booted(root, tmp_path / "second") as machine:
        try:
            assert machine.property("manager", "ActiveState") == "inactive"
            assert machine.property("nginx", "ActiveState") == "active"
            assert served(machine) == "kept"
            assert machine.path(PASSWORD).read_text() == password
            assert when(machine, "syncret", "ActiveEnter") <= when(machine, "nginx", "InactiveExit")
            until(
                lambda: "from the cache" in machine.run("syncret", "explain", "es/tls", check=False),
                "age told",
            )
            assert "2 restored" in machine.run("syncret", "cache", "status")
            state = machine.path("/var/lib/syncret")
            for file in state.iterdir():
                assert password.encode() not in file.read_bytes(), file
        finally:
            shown(machine, tmp_path / "second")
        settings = machine.path("/etc/syncret/syncret.yaml")
        settings.write_text(settings.read_text().replace("cache: {", "cache: {noStaleAfter: 1s, "))

    with booted(root, tmp_path / "third") as machine:
        try:
            assert machine.property("syncret", "ActiveState") == "active"
            assert machine.property("nginx", "ActiveState") == "failed"
            assert not machine.path(CERTIFICATE).exists()
            assert "SourceStale" in machine.run("syncret", "explain", "Delivery/web", check=False)
            assert machine.path(PASSWORD).read_text() == password  # it is never read again: it has no age
            machine.run("systemctl", "start", "manager")
            machine.run("syncret", "refresh", "es/tls")
            until(lambda: machine.path(CERTIFICATE).exists(), "delivered again")
        finally:
            shown(machine, tmp_path / "third")
