"""The modules that work for one ExternalSecret, from YAML to file: what one has to read to follow it.

`python -m bench.path [COMMIT]` lists them by stage. One `sync` of one ExternalSecret is traced. A module
counts if one of its functions ran. What composes the daemon does not count: what runs while a module is
imported, constructors, and what the reconcilers of all kinds are asked before the first run, whether there is
such an object or not.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import FrameType
from typing import Any, Final, Self

from bench.estate import Estate
from bench.figures import Figure
from bench.revisions import ROOT, Unknown, environment, sources_of

GOAL: Final = 95

COMPOSITION: Final = (
    "syncret.daemon.cli.",
    "syncret.daemon.homes.opening",
    "syncret.daemon.homes.filesystem.opening",
    "syncret.config.settings",
)
"""Prefixes of names that are left out, beside those of modules directly in the folder `daemon`."""

ASKED_OF_ALL: Final = frozenset({"FanOutKind.kind"})
"""Names of functions that every reconciler is asked: of which kind it is."""

STAGES: Final[Mapping[str, tuple[str, ...]]] = {
    "1 file to documents": (
        "daemon.homes.filesystem.home",
        "daemon.homes.filesystem.manifests.folders",
        "daemon.homes.filesystem.manifests.reader",
        "config.manifests",
        "config.text",
        "config.meta",
        "config.fields",
        "config.errors",
        "config.visible",
    ),
    "3 stored, journalled, announced": (
        "daemon.homes.memory.object_store",
        "daemon.homes.memory.garbage_collector",
        "daemon.homes.memory.watch",
        "daemon.homes.contract",
        "daemon.homes.filesystem.state",
        "daemon.core.redact",
    ),
    "2 documents to admitted objects": (
        "daemon.homes.filesystem.manifests",
        "daemon.homes.memory",
        "config",
        "providers.registry",
        "providers.fake.spec",
    ),
    "8 Secret to files": ("daemon.homes.filesystem",),
    "6 needs to values": (
        "daemon.engine.reconcilers.fetch",
        "daemon.engine.reconcilers.generators",
        "daemon.engine.sessions",
        "daemon.engine.templates",
        "daemon.engine.work",
        "daemon.core.needs",
        "providers",
    ),
    "5 is it due": (
        "daemon.engine.reconcilers",
        "daemon.core.plan",
        "daemon.core.schedule",
        "daemon.core.conditions",
        "daemon.core.rendering",
        "daemon.core.target",
    ),
    "4 event to run": ("daemon.engine",),
    "7 values to Secret": ("daemon.core",),
}
"""The first of these that begins a module's name is its stage."""

MANIFEST: Final = """\
apiVersion: external-secrets.io/v1
kind: ClusterSecretStore
metadata:
  name: one
spec:
  provider:
    fake:
      data:
        - {key: database, value: '{"user": "app", "password": "secret"}'}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata:
  name: app
spec:
  secretStoreRef: {name: one, kind: ClusterSecretStore}
  data:
    - {secretKey: username, remoteRef: {key: database, property: user}}
    - {secretKey: password, remoteRef: {key: database, property: password}}
"""


def measure(folder: Path, *, smoke: bool) -> Iterator[Figure]:
    """The whole, and the stages."""
    del smoke
    modules = path(ROOT / "src", folder)
    yield Figure(
        "modules that run for one ExternalSecret, YAML to file",
        f"<= {GOAL}",
        f"{len(modules)}",
        len(modules) <= GOAL,
    )
    stages = by_stage(modules)
    listed = ", ".join(f"{stage}: {len(names)}" for stage, names in sorted(stages.items()))
    yield Figure("- of that", "", listed)


def path(sources: Path, parent: Path) -> Mapping[str, list[str]]:
    """The modules that count, each with its functions that ran."""
    folder = Path(tempfile.mkdtemp(prefix="path-", dir=parent))
    host = Estate(folder)
    host.manifests.mkdir()
    (host.manifests / "all.yaml").write_text(MANIFEST)
    found = folder / "found.json"
    subprocess.run(
        [sys.executable, "-m", "bench.path", "--trace", str(found), "sync", *host.arguments],
        env=environment(sources),
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    assert [file for _, _, files in os.walk(host.outputs) for file in files]
    traced: dict[str, list[str]] = json.loads(found.read_text())
    return {name: ran for name, ran in sorted(traced.items()) if _counts(name, ran)}


def by_stage(modules: Mapping[str, list[str]]) -> Mapping[str, list[str]]:
    """The names of the modules, sorted into the stages."""
    stages: dict[str, list[str]] = {}
    for name in modules:
        own = name.removeprefix("syncret.")
        fitting = (
            stage
            for stage, beginnings in STAGES.items()
            if any(f"{own}.".startswith(f"{beginning}.") for beginning in beginnings)
        )
        stages.setdefault(next(fitting, "of no stage"), []).append(own)
    return stages


def _counts(module: str, ran: Iterable[str]) -> bool:
    """Whether more of it ran than composes the daemon."""
    is_composed = module.startswith(COMPOSITION) or ASKED_OF_ALL.issuperset(ran)
    return not is_composed and not (module.startswith("syncret.daemon.") and module.count(".") == 2)  # noqa: PLR2004


class Tracer:
    """Notes the functions of the product that run, in all threads."""

    def __init__(self) -> None:
        self.ran: dict[str, set[str]] = {}
        self._importing: dict[int, int] = {}
        """By thread: how many imports are under way, one because of the other."""

    def __enter__(self) -> Self:
        threading.setprofile(self._trace)
        sys.setprofile(self._trace)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def _trace(self, frame: FrameType, event: str, _: Any) -> None:  # noqa: ANN401  # the interpreter's own
        if event not in ("call", "return"):
            return
        code, thread = frame.f_code, threading.get_ident()
        if code.co_name == "<module>":
            self._importing[thread] = self._importing.get(thread, 0) + (1 if event == "call" else -1)
        elif (
            code.co_flags & CO_OPTIMIZED and code.co_name != "__init__"
        ):  # no body of a class, no constructor
            module: str = frame.f_globals.get("__name__", "")
            if module.startswith("syncret.") and not self._importing.get(thread):
                self.ran.setdefault(module, set()).add(code.co_qualname)


def _trace(found: Path, arguments: list[str]) -> int:
    """Run a command and write down what ran."""
    from syncret.daemon.cli.main import main as command  # of the sources that are traced

    with Tracer() as tracer:
        code = command(arguments)
    found.write_text(json.dumps({module: sorted(ran) for module, ran in tracer.ran.items()}))
    return code


def main() -> int:
    """List the modules of this tree, or of a commit."""
    if sys.argv[1:2] == ["--trace"]:
        return _trace(Path(sys.argv[2]), sys.argv[3:])
    with tempfile.TemporaryDirectory(prefix="path-") as folder:
        try:
            sources = sources_of(sys.argv[1], Path(folder)) if sys.argv[1:] else ROOT / "src"
        except Unknown as error:
            sys.stderr.write(f"{error}\n")
            return 2
        modules = path(sources, Path(folder))
    for stage, names in sorted(by_stage(modules).items()):
        print(f"{stage} ({len(names)})", *names, sep="\n  ")
    print(len(modules), "modules")
    return 0


if __name__ == "__main__":
    sys.exit(main())
