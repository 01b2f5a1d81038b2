"""`syncret operator` as a process."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from syncret.config.meta import member
from tests.real.operator.operating import CONFIG, condition
from tests.support.servers.kube.crds import until
from tests.support.servers.kube.running import KubeApi

pytestmark = pytest.mark.slow


def test_the_command_installs_in_the_namespace_that_is_chosen(
    api: KubeApi, namespace: str, kubeconfig: Path, tmp_path: Path
) -> None:
    """It begins anew there; a wrong image is told; SIGTERM ends it with 0."""
    spec = {"controllerConfig": {"namespace": f"{namespace}-operand"}}
    body = {
        "apiVersion": "operator.openshift.io/v1alpha1",
        "kind": "ExternalSecretsConfig",
        "metadata": {"name": "cluster"},
        "spec": spec,
    }
    api.create(CONFIG.rpartition("/")[0], body)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "KUBECONFIG": str(kubeconfig),
        "POD_NAMESPACE": namespace,
        "RELATED_IMAGE_EXTERNAL_SECRETS": "registry.example.com/syncret:9.9",
    }
    command = [str(Path(sys.executable).with_name("syncret")), "operator", "--listen", "127.0.0.1:0"]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        until(
            lambda: "waits for Deployment" in condition(api.get(CONFIG)).get("message", ""), "it is installed"
        )
        config = api.get(CONFIG)
        assert config is not None
        assert member(config, "status")["externalSecretsImage"] == "registry.example.com/syncret:9.9"
        assert (
            api.get(f"/apis/apps/v1/namespaces/{namespace}-operand/deployments/external-secrets") is not None
        )
    finally:
        process.send_signal(signal.SIGTERM)
        code = process.wait(60)
    told = (tmp_path / "log").read_text()
    assert code == 0, told
    assert f'"namespace": "{namespace}-operand"' in told
