"""The server that stores of Bitwarden Secrets Manager talk to."""

from collections.abc import Iterator
from typing import Final

from syncret.config.meta import Document
from syncret.daemon.install.operator.choices import Bitwarden, Choices, Environment
from syncret.daemon.install.operator.components import BITWARDEN, selector

_PORT: Final = 9998
_ISSUED: Final = "bitwarden-tls-certs"
"""The Certificate, and its Secret, of cert-manager."""
_FILES: Final = {"tls.crt": "cert.pem", "tls.key": "key.pem", "ca.crt": "ca.pem"}
_HOSTS: Final = ("localhost",)
_LOOPBACK: Final = ("127.0.0.1", "::1")


def bitwarden(chosen: Choices, server: Bitwarden, environment: Environment) -> Iterator[Document]:
    """Its account, Service and Deployment, and its certificate, if cert-manager issues one."""
    if not server.secret and chosen.cert_manager is not None:
        inside = [BITWARDEN, *(f"{BITWARDEN}.{chosen.namespace}{end}" for end in ("", ".svc"))]
        yield {
            "apiVersion": "cert-manager.io/v1",
            "kind": "Certificate",
            "metadata": {"name": _ISSUED},
            "spec": {
                "commonName": BITWARDEN,
                "dnsNames": [*inside, f"{BITWARDEN}.{chosen.namespace}.svc.cluster.local", *_HOSTS],
                "ipAddresses": [*_LOOPBACK],
                "issuerRef": dict(chosen.cert_manager.issuer),
                "secretName": _ISSUED,
                "duration": chosen.cert_manager.duration,
                "renewBefore": chosen.cert_manager.renew_before,
            },
        }
    yield {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": BITWARDEN}}
    port = {"name": "https", "port": _PORT, "targetPort": "https", "protocol": "TCP"}
    yield {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": BITWARDEN},
        "spec": {"type": "ClusterIP", "selector": selector(BITWARDEN), "ports": [port]},
    }
    yield {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": BITWARDEN},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": selector(BITWARDEN)},
            "template": {"metadata": {"labels": {}}, "spec": _pod(server.secret or _ISSUED, environment)},
        },
    }


def _pod(secret: str, environment: Environment) -> Document:
    def probe(path: str) -> Document:
        return {"httpGet": {"path": path, "port": "https", "scheme": "HTTPS"}, "periodSeconds": 10}

    items = [{"key": key, "path": path} for key, path in _FILES.items()]
    return {
        "serviceAccountName": BITWARDEN,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [
            {
                "name": BITWARDEN,
                "image": environment.bitwarden_image,
                "imagePullPolicy": "IfNotPresent",
                "ports": [{"name": "https", "containerPort": _PORT, "protocol": "TCP"}],
                "livenessProbe": probe("/live"),
                "readinessProbe": probe("/ready"),
                "securityContext": {
                    "allowPrivilegeEscalation": False,
                    "readOnlyRootFilesystem": True,
                    "capabilities": {"drop": ["ALL"]},
                },
                "volumeMounts": [{"name": "certificate", "mountPath": "/certs", "readOnly": True}],
            }
        ],
        "volumes": [{"name": "certificate", "secret": {"secretName": secret, "items": items}}],
    }
