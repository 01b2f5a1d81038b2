"""What a daemon brings into memory for the stores that it has, and for no other."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.real.e2e.manifests import external, written
from tests.real.e2e.process import environment, until

pytestmark = pytest.mark.slow

VAULT = """apiVersion: v1
kind: Secret
metadata: {name: token}
stringData: {token: t}
---
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: vault}
spec:
  provider:
    vault:
      server: "http://127.0.0.1:1"
      path: kv
      auth: {tokenSecretRef: {name: token, key: token}}
"""

RUN = """
import json, sys
from syncret.daemon.cli.main import main
code = main(sys.argv[2:])
open(sys.argv[1], "w").write(json.dumps(sorted(sys.modules)))
sys.exit(code)
"""

OTHERS = {"requests", "aioboto3", "aiobotocore", "boto3", "botocore", "syncret.providers.aws.sdk"} | {
    f"syncret.providers.{name}" for name in ("aws", "azurekv", "gcpsm", "ibm", "kubernetes", "webhook")
}


def test_a_daemon_with_one_vault_store_has_no_other_providers_sdk(tmp_path: Path) -> None:
    manifests = written(tmp_path / "manifests", store=VAULT, app=external("app", "k", store="vault"))
    names, log = tmp_path / "names", tmp_path / "log"
    settings = ["--output-dir", tmp_path / "out", "--state", tmp_path / "state.db", "--listen", ""]
    command = [sys.executable, "-c", RUN, names, "run", "-f", manifests, *settings]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*map(str, command), "--socket", str(tmp_path / "control.sock")],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environment(),
        )
        try:
            until(lambda: "the first pass is done" in log.read_text(), "the first pass done")
            os.kill(process.pid, signal.SIGTERM)
            assert process.wait(60) == 0, log.read_text()
        finally:
            process.kill()
            process.wait()
    found = set(json.loads(names.read_text()))
    assert {"syncret.providers.vault", "syncret.providers.kit.vault.hvac_classes"} <= found, "it was opened"
    assert not found & OTHERS


@pytest.mark.parametrize("first", ["syncret.providers.vault.connection", "hvac"])
def test_another_package_can_use_the_client_of_hvac(first: str) -> None:
    """Ours does without most of hvac; all of it is there for others, whoever imports it first."""
    use = (
        f"import {first}, syncret.providers.vault.connection, hvac, requests\n"
        "client = hvac.Client('http://127.0.0.1:1')\n"
        "try: client.auth.approle.login('role', 'secret')\n"
        "except (requests.exceptions.ConnectionError, hvac.exceptions.VaultError): print('tried')"
    )
    ran = subprocess.run([sys.executable, "-c", use], capture_output=True, text=True, check=True)
    assert ran.stdout == "tried\n"
