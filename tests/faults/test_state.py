"""What a host knows of itself: a full disk under its state, `kill -9`, leftovers that cannot be removed."""

import os
import random
import time
from pathlib import Path
from typing import Final

import pytest

from tests.real.e2e.manifests import written
from tests.real.e2e.process import daemon, until

pytestmark = pytest.mark.slow

KILLS: Final = int(os.environ.get("SYNCRET_KILLS", "6"))
PASSWORDS: Final = 60

GENERATOR: Final = """apiVersion: generators.external-secrets.io/v1alpha1
kind: Password
metadata: {name: pw}
spec: {length: 24}
"""


def generating(name: str, *, policy: str = "", target: str = "{}", interval: str = "1h") -> str:
    """An ExternalSecret whose value is another one each time that it is asked for."""
    return f"""---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {{name: {name}}}
spec:
  refreshInterval: {interval}
  {f"refreshPolicy: {policy}" if policy else ""}
  target: {target}
  dataFrom:
  - sourceRef:
      generatorRef: {{apiVersion: generators.external-secrets.io/v1alpha1, kind: Password, name: pw}}
"""


def given(name: str) -> str:
    """A Secret of a manifest, into which others may merge."""
    return f"""---
apiVersion: v1
kind: Secret
metadata: {{name: {name}}}
stringData: {{user: anna}}
"""


def passwords(out: Path) -> dict[str, str]:
    """Every password that a reader can see, by the name of its Secret."""
    namespace = out / "default"
    found = namespace.iterdir() if namespace.is_dir() else ()
    return {
        each.name: (each / "password").read_text()
        for each in found
        if not each.name.startswith(".") and (each / "password").exists()
    }


@pytest.mark.parametrize("policy", ["Owner", "Orphan", "CreateOrMerge", "Merge"])
def test_a_kill_in_the_first_pass_changes_no_password(
    tmp_path: Path, chance: random.Random, policy: str
) -> None:
    texts = [
        generating(f"p{n}", policy="CreatedOnce", target=f"{{creationPolicy: {policy}}}")
        for n in range(PASSWORDS)
    ]
    if policy == "Merge":
        texts += [given(f"p{n}") for n in range(PASSWORDS)]
    manifests = written(tmp_path / "manifests", all=GENERATOR + "".join(texts))
    seen = 0
    for kill in range(KILLS):
        folder = tmp_path / str(kill)
        folder.mkdir()
        moment = chance.uniform(0, 0.15)
        with daemon(folder, manifests, ready=False) as running:
            until((folder / "out/default").is_dir, "the first Secret begun", every=0.002)
            time.sleep(moment)
            running.process.kill()
            running.process.wait()
        before = passwords(folder / "out")
        seen += len(before)
        with daemon(folder, manifests):
            after = passwords(folder / "out")
        assert len(after) == PASSWORDS
        changed = {name for name in before if after[name] != before[name]}
        assert not changed, f"{len(changed)} of {len(before)} passwords are other ones after the restart"
    assert seen
