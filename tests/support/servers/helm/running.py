"""The real Helm, built from its published sources."""

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

import yaml

from syncret.config.meta import Document
from tests.support.servers.golang import built, need_go

CHART: Final = Path(__file__).parents[4] / "charts" / "syncret"

_VERSIONS: Final = tuple(
    f"-X helm.sh/helm/v3/pkg/{place}.k8sVersion{part}"
    for place in ("chartutil", "lint/rules")
    for part in ("Major=1", "Minor=35")
)
_FLAGS: Final = ("-mod=mod", f"-ldflags=-s -w {' '.join(_VERSIONS)}")


@cache
def program() -> Path:
    """The program. Building it takes a minute the first time."""
    need_go()
    folder = built(Path(__file__).parent, packages=("helm.sh/helm/v3/cmd/helm",), flags=_FLAGS)
    return folder / "helm"


def run(*arguments: str, environment: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """What became of `helm ARGUMENTS`, which finds nothing of this machine's own."""
    with tempfile.TemporaryDirectory() as home:
        return subprocess.run(
            [program(), *arguments],
            check=False,
            capture_output=True,
            text=True,
            env={"HOME": home, "PATH": os.environ["PATH"], **(environment or {})},
        )


def run_with(values: Document, *arguments: str) -> subprocess.CompletedProcess[str]:
    """What became of a command that takes values."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(values, file)
        file.flush()
        return run(*arguments, "--values", file.name)


def template(chart: Path, values: Document, *arguments: str) -> list[Document]:
    """The objects of a chart with some values."""
    done = run_with(values, "template", "syncret", str(chart), *arguments)
    assert done.returncode == 0, done.stderr
    return documents(done.stdout)


def documents(text: str) -> list[Document]:
    """The objects in what Helm prints."""
    return [each for each in yaml.load_all(text, yaml.CSafeLoader) if each]
