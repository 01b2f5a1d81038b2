"""The guide is played as it stands on an API server that has nothing: install, look at it, and uninstall."""

import os
import re
import subprocess
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from textwrap import dedent

import pytest

from syncret.daemon.install.operator.components import OPERATOR, PART_OF
from tests.real.e2e.process import SYNCRET, until
from tests.real.kubernetes.conftest import kubeconfig_of
from tests.real.operator.node import Node
from tests.real.operator.operating import CONFIG, MANAGER, OPERAND, PLACES, WITHIN, condition, installed
from tests.suites.docs.pages import ROOT
from tests.support.servers.kube.kubelet import roll_out
from tests.support.servers.kube.running import KubeApi, programs

pytestmark = pytest.mark.slow

GUIDE = ROOT / "docs/guides/operator.md"
BAD = """\
spec:
  appConfig:
    resources:
      requests: {cpu: "2"}
      limits: {cpu: "1"}
"""
MASKS = (
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "<time>"),
    (r"syncret:[0-9.]+", "syncret:<version>"),
    (r"\b\d+m?s$", "<age>"),
    (r" +", " "),
)


@pytest.fixture
def fresh() -> Generator[KubeApi]:
    """An API server that has nothing."""
    server = KubeApi()
    yield server
    server.stop()


class Reader:
    """Who follows the guide, with a shell."""

    def __init__(self, api: KubeApi, folder: Path) -> None:
        self._folder = folder
        self._environment = {
            **os.environ,
            "PATH": f"{SYNCRET.parent}:{programs('kubectl')}:{os.environ['PATH']}",
            "KUBECONFIG": str(kubeconfig_of(folder, api)),
            "HOME": str(folder),
        }

    def types(self, line: str) -> str:
        """What is answered to one line."""
        done = subprocess.run(
            ["bash", "-c", f"set -o pipefail; {line}"],
            check=False,
            capture_output=True,
            text=True,
            cwd=self._folder,
            env=self._environment,
        )
        assert done.returncode == 0, f"{line}: {done.stderr}"
        return done.stdout

    def follows(self, title: str) -> None:
        """Write the files of a section, and type its lines. No namespace ends here: none is waited for."""
        text = section(title)
        for name, content in re.findall(
            r'^```yaml title="([^"]+)"\n(.*?)^```$', text, re.MULTILINE | re.DOTALL
        ):
            (self._folder / name).write_text(content)
        for line in re.findall(r"^# (.*)$", text, re.MULTILINE):
            self.types(f"{line} --wait=false" if "delete namespace" in line else line)


def section(title: str) -> str:
    """What the guide says below a heading."""
    _, _, rest = GUIDE.read_text().partition(f"\n## {title}\n")
    assert rest, title
    return re.split(r"^##+ ", rest, maxsplit=1, flags=re.MULTILINE)[0]


def masked(text: str) -> str:
    """Without what is another one each time."""
    for pattern, instead in MASKS:
        text = re.sub(pattern, instead, text, flags=re.MULTILINE)
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())


def shown(reader: Reader) -> Iterator[str]:
    """What the reader looks at: the list, and the conditions."""
    yield reader.types("kubectl get esc")
    told = reader.types("kubectl describe esc cluster")
    yield dedent(told[told.index("  Conditions:") : told.index("Events:")])


def test_who_follows_the_guide_gets_there_and_back(fresh: KubeApi, tmp_path: Path) -> None:
    """What the guide shows of a progressing, a good and a failed installation is what there is to see."""
    reader, page = Reader(fresh, tmp_path), masked(GUIDE.read_text())
    reader.follows("Install it")
    with ExitStack() as stack:
        Node(fresh, tmp_path).run(OPERATOR, stack, OPERATOR)
        until(lambda: "waits for Deployment" in ready(fresh), "it is installed", WITHIN)
        for each in shown(reader):
            assert masked(each) in page
        roll_out(fresh, OPERAND)
        reader.types("kubectl wait --for=condition=Ready --timeout=60s esc/cluster")
        for each in shown(reader):
            assert masked(each) in page
        config = tmp_path / "config.yaml"
        config.write_text(config.read_text().replace("spec: {}\n", BAD))
        reader.types("kubectl apply -f config.yaml")
        until(lambda: "is invalid" in ready(fresh), "it fails", WITHIN)
        for each in shown(reader):
            assert masked(each) in page
        for line in re.findall(r"^# (kubectl delete esc .*)$", section("Uninstalling"), re.MULTILINE):
            reader.types(line)
        until(lambda: "not managed" in str(fresh.get(MANAGER)), "the end is told", WITHIN)
    reader.types("kubectl apply -f config.yaml")
    assert len(installed(fresh)) == 25
    reader.follows("Uninstalling")
    assert not installed(fresh)
    assert not [
        each["metadata"]["name"]
        for place in PLACES
        for each in fresh.request("GET", place).body["items"]
        if OPERATOR in (each["metadata"]["name"], each["metadata"].get("labels", {}).get(PART_OF))
    ]
    assert fresh.get(CONFIG) is None
    assert fresh.get(MANAGER) is None


def ready(api: KubeApi) -> str:
    """The message of the condition Ready."""
    return str(condition(api.get(CONFIG)).get("message", ""))
