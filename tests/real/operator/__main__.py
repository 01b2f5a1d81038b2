"""What the operator costs and how fast it is, as a process: `python -m tests.real.operator SECONDS`.

It is installed as the documentation says, with its exported rights. The audit log of the API server is the
judge of what it asks and writes.
"""

import asyncio
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from syncret.config.resources.kinds import OPERATOR_KINDS
from syncret.daemon.install.operator.components import OPERATOR
from tests.real.e2e.process import syncret
from tests.real.operator.figures import Figure, Process, figures
from tests.real.operator.node import Node
from tests.real.operator.operating import IMAGE, remove_installation
from tests.support.servers.kube.crds import install, install_kinds
from tests.support.servers.kube.kubectl import kubectl
from tests.support.servers.kube.running import KubeApi, kube_api

BITWARDEN: Final = "registry.example.com/bitwarden:0.5"


def main() -> int:
    """Exit code 1 where a figure is not what it has to be."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 600.0
    api = kube_api()
    install(api)
    install_kinds(api, OPERATOR_KINDS)
    remove_installation(api)
    return asyncio.run(play(api, seconds))


async def play(api: KubeApi, seconds: float) -> int:
    """Print each figure as soon as it is known."""
    found: list[Figure] = []
    async with operator(api) as process:
        async for figure in figures(api, process, seconds):
            found.append(figure)
            print(figure, flush=True)  # noqa: T201  # what this is for
    return int(not all(figure.holds for figure in found))


@asynccontextmanager
async def operator(api: KubeApi) -> AsyncGenerator[Process]:
    """The Deployment that `syncret export operator` prints, as a process."""
    namespace = api.namespace()
    printed = syncret(
        "export", "operator", "--image", IMAGE, "--bitwarden-image", BITWARDEN, "--namespace", namespace
    )
    assert printed.returncode == 0, printed.stderr
    kubectl(api, "apply", "--server-side", "-f", "-", documents=printed.stdout)
    stack = ExitStack()
    try:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        pod = Node(api, Path(folder)).run(OPERATOR, stack, namespace)
        yield Process(pod.pid, namespace, OPERATOR)
    finally:
        stack.close()


if __name__ == "__main__":
    sys.exit(main())
