"""A node that runs Pods as processes: what Deployments say, with tokens of their accounts."""

import signal
import subprocess
from base64 import b64decode
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, NamedTuple

from syncret.config.meta import Document, member
from tests.real.e2e.process import SYNCRET, environment, free_port
from tests.real.operator.operating import OPERAND
from tests.support.servers.kube.kubelet import DEPLOYMENTS
from tests.support.servers.kube.running import KubeApi

SECRET: Final = f"/api/v1/namespaces/{OPERAND}/secrets/external-secrets-webhook"


class Pod(NamedTuple):
    """A container that runs."""

    pid: int
    log: Path


class Node:
    """Runs Pods as processes: three share one machine, so that ports and folders are others."""

    def __init__(self, api: KubeApi, folder: Path) -> None:
        self.port = free_port()
        self._api, self._folder = api, folder
        self._replaced = {
            "0.0.0.0:8080": "127.0.0.1:0",  # the operator's own
            "listen=:8080": "listen=127.0.0.1:0",
            "healthListen=:8082": "healthListen=127.0.0.1:0",
            "webhook.port=10250": f"webhook.port={self.port}",
            "webhook.certDir=/tmp/certs": f"webhook.certDir={self.mounted}",
        }

    @property
    def mounted(self) -> Path:
        """Where the certificate of the webhook is."""
        return self._folder / "certs"

    def mount(self) -> None:
        """Write what the Secret holds, as a kubelet does."""
        self.mounted.mkdir()
        for name, value in member(self._api.get(SECRET) or {}, "data").items():
            (self.mounted / name).write_bytes(b64decode(value))

    def run(self, name: str, stack: ExitStack, namespace: str = OPERAND) -> Pod:
        """Start a Deployment's container, for as long as the stack lasts."""
        deployment: Any = self._api.get(f"{DEPLOYMENTS.format(namespace)}/{name}") or {}
        pod = deployment["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        own = self._folder / name
        own.mkdir()
        log = own / "log"
        process = subprocess.Popen(
            [SYNCRET, *self._arguments(container["args"])],
            env=environment(
                **self._given(own, pod, namespace), **self._variables(container["env"], namespace)
            ),
            stdout=stack.enter_context(log.open("wb")),
            stderr=subprocess.STDOUT,
        )
        stack.callback(process.wait, 20)
        stack.callback(process.send_signal, signal.SIGTERM)
        return Pod(process.pid, log)

    def _arguments(self, given: Sequence[str]) -> Sequence[str]:
        return [self._replaced.get(each, each) for each in given]

    def _variables(self, given: Sequence[Document], namespace: str) -> Mapping[str, str]:
        fields = {"metadata.name": "pod-1", "metadata.namespace": namespace, "metadata.uid": "uid-1"}
        return {
            each["name"]: each.get("value", "")
            if "valueFrom" not in each
            else fields[each["valueFrom"]["fieldRef"]["fieldPath"]]
            for each in given
        }

    def _given(self, own: Path, pod: Document, namespace: str) -> Mapping[str, str]:
        """What a node gives to a Pod, and folders of its own."""
        given = {
            "SYNCRET_SOCKET": str(own / "control"),
            "SYNCRET_WEBHOOK_HEALTHZ_ADDR": f"127.0.0.1:{free_port()}",
        }
        if pod.get("automountServiceAccountToken") is False:
            return given
        token = self._api.token(namespace, pod["serviceAccountName"])
        kubeconfig = self._api.kubeconfig(own / "kubeconfig", token)
        return {**given, "SYNCRET_KUBECONFIG": str(kubeconfig)}
