"""A host on which each kind has an object that is in order and one that is not, scraped by a Prometheus."""

import shutil
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from tests.faults.manager import after, estate, manager
from tests.real.e2e.process import ROOT, Daemon, daemon, free_port, until
from tests.real.prometheus.server import SECONDS, Prometheus, prometheus

QUICKSTART: Final = ROOT / "config" / "samples" / "quickstart"

_FAILING: Final = """\
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {{name: away}}
spec:
  provider:
    webhook: {{url: "http://127.0.0.1:{port}/{{{{ .remoteRef.key }}}}"}}
---
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {{name: locked}}
spec:
  provider:
    vault:
      server: http://127.0.0.1:{port}
      path: secret
      auth: {{tokenSecretRef: {{name: nowhere, key: token}}}}
---
apiVersion: external-secrets.io/v1
kind: ClusterSecretStore
metadata: {{name: locked}}
spec:
  provider:
    vault:
      server: http://127.0.0.1:{port}
      path: secret
      auth: {{tokenSecretRef: {{name: nowhere, namespace: default, key: token}}}}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {{name: away}}
spec:
  refreshInterval: 1s
  secretStoreRef: {{name: away}}
  data: [{{secretKey: a, remoteRef: {{key: a}}}}]
---
apiVersion: external-secrets.io/v1
kind: ClusterExternalSecret
metadata: {{name: nowhere}}
spec:
  namespaceSelectors: [{{matchExpressions: [{{key: team, operator: Resembles, values: [a]}}]}}]
  externalSecretSpec:
    secretStoreRef: {{name: embedded}}
    data: [{{secretKey: a, remoteRef: {{key: banner}}}}]
---
apiVersion: external-secrets.io/v1alpha1
kind: PushSecret
metadata: {{name: locked}}
spec:
  refreshInterval: 1s
  secretStoreRefs: [{{name: locked}}]
  selector: {{secret: {{name: session-key}}}}
  data: [{{match: {{secretKey: password, remoteRef: {{remoteKey: a}}}}}}]
"""
_INVALID: Final = """\
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: invalid}
spec: {refreshInterval: hourly}
"""


def _no_answer() -> bytes:
    raise ConnectionResetError


class Scraped(NamedTuple):
    """The daemon and its Prometheus."""

    daemon: Daemon
    server: Prometheus


@contextmanager
def troubled(folder: Path) -> Generator[Scraped, None, None]:
    """Both run, and the first scrape is done."""
    manifests = folder / "manifests"
    shutil.copytree(QUICKSTART, manifests)
    with manager(_no_answer) as broken, manager(partial(after, 2.5)) as slow:
        (manifests / "failing.yaml").write_text(_FAILING.format(port=free_port()))
        (manifests / "broken.yaml").write_text(estate("broken", broken, 2, interval="1s"))
        (manifests / "invalid.yaml").write_text(_INVALID)
        (manifests / "slow.yaml").write_text(estate("slow", slow, 2, interval="1s"))
        with daemon(folder, manifests, "--set", "retryMax=2s") as running:
            host, port = running.address
            with prometheus(folder, f"{host}:{port}") as server:
                until(lambda: server.target().get("health") == "up", "scraped", SECONDS)
                yield Scraped(running, server)
