"""The real kubectl, as the administrator of a test's API server."""

import os
import subprocess
import tempfile
from pathlib import Path

from tests.support.servers.kube.running import ADMIN, KubeApi, programs


def kubectl(api: KubeApi, *arguments: str, documents: str = "") -> str:
    """What it prints. `documents` are what `-f -` reads."""
    with tempfile.TemporaryDirectory() as home:
        authority = Path(home) / "ca.crt"
        authority.write_bytes(api.ca)
        access = (f"--server={api.url}", f"--token={ADMIN}", f"--certificate-authority={authority}")
        done = subprocess.run(
            [programs("kubectl") / "kubectl", *access, *arguments],
            check=False,
            input=documents,
            capture_output=True,
            text=True,
            env={"HOME": home, "PATH": os.environ["PATH"]},
        )
    assert done.returncode == 0, f"kubectl {' '.join(arguments)}: {done.stderr}"
    return done.stdout
