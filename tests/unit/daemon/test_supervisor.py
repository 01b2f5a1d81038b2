"""The daemon's life: in which order its parts begin."""

import asyncio
import json
import os
import signal
import socket
from collections.abc import AsyncGenerator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from shutil import copyfile, which
from typing import Literal

import msgspec
import pytest

from syncret.config.settings import Settings
from syncret.daemon.core.plan.actions import Verb
from syncret.daemon.delivery.processes import sibling
from syncret.daemon.delivery.processes.finding import processes_of_program
from syncret.daemon.ops.bind_errors import CannotListen
from syncret.daemon.ops.notify import Notifier
from syncret.daemon.ops.view import Serve, Service, View
from syncret.daemon.supervisor import Supervisor
from syncret.providers.registry import Registry
from tests.support.logs import logging_restored
from tests.support.systemd import messages, notify_socket

MANIFEST = """\
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: demo}
spec: {provider: {fake: {data: []}}}
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "manifests.yaml").write_text(MANIFEST)
    return Settings(
        manifests=(str(tmp_path / "manifests.yaml"),),
        output_dir=str(tmp_path / "out"),
        state_file=str(tmp_path / "state.db"),
        listen="",
        socket="",
    )


@pytest.fixture(autouse=True)
def logs() -> Iterator[None]:
    """A life sets up the logging of the whole process."""
    with logging_restored():
        yield


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def live(settings: Settings, *services: Service) -> None:
    supervisor = Supervisor(
        lambda: settings, registry=Registry(), notifier=Notifier.from_environ({}), services=services
    )
    await supervisor.run()


async def test_nothing_is_written_where_nobody_can_listen(settings: Settings, tmp_path: Path) -> None:
    def taken(_: Settings) -> AbstractAsyncContextManager[Serve]:
        raise CannotListen("cannot listen on x", hint="choose another")

    with pytest.raises(CannotListen):
        await live(settings, taken)
    assert names(tmp_path) == ["manifests.yaml"]


async def test_addresses_are_taken_first_and_given_free_last(settings: Settings, tmp_path: Path) -> None:
    seen: list[str] = []

    @asynccontextmanager
    async def service(_: Settings) -> AsyncGenerator[Serve, None]:
        @asynccontextmanager
        async def serve(_: View) -> AsyncGenerator[None, None]:
            seen.append(f"serves, state: {'state.db' in names(tmp_path)}")
            asyncio.get_running_loop().call_soon(os.kill, os.getpid(), signal.SIGTERM)
            yield
            seen.append("serves no more")

        seen.append(f"listens, state: {'state.db' in names(tmp_path)}")
        yield serve
        seen.append("closed")

    await live(settings, service)
    assert seen == ["listens, state: False", "serves, state: True", "serves no more", "closed"]


async def test_a_warning_of_a_manifest_is_logged_once(
    settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "manifests.yaml").write_text(MANIFEST.replace("spec: {", "spec: {refreshIntervall: 5, "))

    @asynccontextmanager
    async def service(_: Settings) -> AsyncGenerator[Serve, None]:
        yield stopping

    await live(settings, service)
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    (warning,) = [line for line in lines if line["level"] == "warning"]
    assert warning["event"] == "unknown field, it is dropped"
    assert warning["path"] == "spec.refreshIntervall"
    assert warning["at"] == f"{tmp_path}/manifests.yaml:4"


@asynccontextmanager
async def stopping(_: View) -> AsyncGenerator[None, None]:
    os.kill(os.getpid(), signal.SIGTERM)
    yield


async def test_the_watchdog_is_fed_while_a_life_ends(settings: Settings, tmp_path: Path) -> None:
    """A drain may take longer than systemd waits for a sign of life."""
    fed: list[int] = []
    with notify_socket(tmp_path / "notify") as systemd:

        @asynccontextmanager
        async def service(_: Settings) -> AsyncGenerator[Serve, None]:
            @asynccontextmanager
            async def serve(view: View) -> AsyncGenerator[None, None]:
                async with stopping(view):
                    yield
                messages(systemd)
                await asyncio.sleep(0.1)
                fed.append(messages(systemd).count("WATCHDOG=1"))

            yield serve

        supervisor = Supervisor(
            lambda: settings,
            registry=Registry(),
            notifier=Notifier(str(tmp_path / "notify"), watchdog=0.02),
            services=[service],
        )
        await supervisor.run()
    assert fed[0] > 1


class Shown:
    """A progress line, as a person sees it."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, int]] = []
        self.visible = False

    def show(self, done: int, total: int) -> None:
        self.seen.append((done, total))
        self.visible = True

    def clear(self) -> None:
        self.visible = False


OBJECTS = MANIFEST.replace("data: []", "data: [{key: k, value: v}]") + "".join(
    f"""\
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {{name: app-{number}}}
spec: {{secretStoreRef: {{name: demo}}, data: [{{secretKey: a, remoteRef: {{key: {key}}}}}]}}
"""
    for number, key in enumerate(["k", "k", "gone"])
)


@pytest.mark.parametrize(
    ("log_format", "created"),
    [pytest.param("console", 0, id="for-a-person"), pytest.param("json", 2, id="for-a-program")],
)
async def test_a_person_sees_progress_and_a_summary_of_the_first_pass(
    log_format: Literal["console", "json"],
    created: int,
    settings: Settings,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "manifests.yaml").write_text(OBJECTS)
    progress = Shown()
    counts: list[tuple[int, bool]] = []

    def announce(view: View) -> None:
        counts.append((view.recorder.counts()[Verb.CREATE], progress.visible))
        os.kill(os.getpid(), signal.SIGTERM)

    supervisor = Supervisor(
        lambda: msgspec.structs.replace(settings, log_format=log_format),
        registry=Registry(),
        notifier=Notifier.from_environ({}),
        announce=announce,
        progress=progress,
    )
    await supervisor.run()
    log = capsys.readouterr().err
    assert log.count("created") == created
    assert log.count("gone does not exist") == 1
    person = log_format == "console"
    assert counts == [(2 if person else 0, False)]
    assert progress.seen[-1:] == ([(4, 4)] if person else [])
    assert not progress.visible


SYNCED = (
    MANIFEST.replace("[]", "[{key: k, value: v}]")
    + """---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: app}
spec: {secretStoreRef: {name: demo}, data: [{secretKey: a, remoteRef: {key: k}}]POLICY}
"""
)


@pytest.mark.parametrize(
    "policy",
    [
        pytest.param("", id="its owner takes it along"),
        pytest.param(", target: {deletionPolicy: Delete}", id="Delete"),
    ],
)
@pytest.mark.parametrize("is_running", [True, False])
async def test_each_deletion_is_logged_once(
    settings: Settings,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    policy: str,
    *,
    is_running: bool,
) -> None:
    """Whether the manifest goes while the daemon runs or before it starts."""
    monkeypatch.setattr("syncret.daemon.homes.filesystem.manifests.events._TICK", 0.05)
    manifests, file = tmp_path / "manifests.yaml", tmp_path / "out/default/app/a"
    manifests.write_text(SYNCED.replace("POLICY", policy))

    @asynccontextmanager
    async def service(_: Settings) -> AsyncGenerator[Serve, None]:
        @asynccontextmanager
        async def serve(view: View) -> AsyncGenerator[None, None]:
            await view.running.engine.first_pass.wait()
            async with stopping(view):
                yield

        @asynccontextmanager
        async def serve_until_deleted(view: View) -> AsyncGenerator[None, None]:
            await view.running.engine.first_pass.wait()
            assert file.read_text() == "v"
            manifests.write_text(MANIFEST)
            waits = asyncio.create_task(gone(file))
            waits.add_done_callback(lambda _: os.kill(os.getpid(), signal.SIGTERM))
            yield
            await waits

        yield serve_until_deleted if is_running else serve

    quick = msgspec.structs.replace(settings, deletion_grace=0)
    await live(quick, service)
    if not is_running:
        manifests.write_text(MANIFEST)
        capsys.readouterr()
        await live(quick, service)
        assert not file.exists()
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    deleted = [(line["event"], line["object"]) for line in lines if "deleted" in line["event"]]
    assert sorted(deleted) == [("deleted", "ExternalSecret/default/app"), ("deleted", "Secret/default/app")]


async def gone(file: Path) -> None:
    """Return once there is no such file."""
    while file.exists():  # noqa: ASYNC110, ASYNC240  # nobody tells of a file that goes
        await asyncio.sleep(0.02)


HANGS = """\
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: hangs}
spec: {provider: {webhook: {url: "http://127.0.0.1:%d/", result: {jsonPath: $}}}}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: late}
spec: {secretStoreRef: {name: hangs}, data: [{secretKey: a, remoteRef: {key: a}}]}
"""
DELIVERED = """\
---
apiVersion: v1
kind: Secret
metadata: {name: known}
stringData: {password: value}
---
apiVersion: syncret.dev/v1alpha1
kind: Delivery
metadata: {name: web}
spec: {sources: [{secret: known}], to: [{directory: {path: %s/web}}]}
"""


async def test_a_boot_waits_for_deliveries_and_for_no_manager(settings: Settings, tmp_path: Path) -> None:
    """The service is ready once each Delivery is live, however long a manager takes to answer."""
    (tmp_path / "srv").mkdir(mode=0o755)
    seen: list[bool] = []
    with notify_socket(tmp_path / "notify") as systemd, socket.create_server(("127.0.0.1", 0)) as silent:
        text = HANGS % silent.getsockname()[1] + DELIVERED % (tmp_path / "srv")
        (tmp_path / "manifests.yaml").write_text(text)

        @asynccontextmanager
        async def service(_: Settings) -> AsyncGenerator[Serve, None]:
            @asynccontextmanager
            async def serve(view: View) -> AsyncGenerator[None, None]:
                def heard() -> None:
                    if any("READY=1" in each for each in messages(systemd)):
                        seen.append((tmp_path / "srv" / "web" / "password").exists())
                        seen.append(view.running.engine.first_pass.is_set())
                        os.kill(os.getpid(), signal.SIGTERM)

                loop = asyncio.get_running_loop()
                loop.add_reader(systemd.fileno(), heard)
                yield
                loop.remove_reader(systemd.fileno())

            yield serve

        supervisor = Supervisor(
            lambda: msgspec.structs.replace(settings, drain_timeout=0.0),
            registry=Registry(),
            notifier=Notifier(str(tmp_path / "notify")),
            services=[service],
        )
        await supervisor.run()
    assert seen == [True, False]


@pytest.mark.slow
async def test_it_ends_with_the_program_that_it_serves(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: asyncio.Queue[list[int]] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def find(path: str) -> list[int]:
        found = processes_of_program(path)
        loop.call_soon_threadsafe(seen.put_nowait, found)
        return found

    monkeypatch.setattr(sibling, "processes_of_program", find)
    monkeypatch.setattr(sibling, "GONE", 0.02)
    program = tmp_path / "main"
    await asyncio.to_thread(copyfile, which("sleep") or "", program)
    await asyncio.to_thread(program.chmod, 0o755)
    begun = asyncio.Event()

    @asynccontextmanager
    async def service(_: Settings) -> AsyncGenerator[Serve, None]:
        @asynccontextmanager
        async def serve(_: View) -> AsyncGenerator[None, None]:
            begun.set()
            yield

        yield serve

    supervisor = Supervisor(
        lambda: settings,
        registry=Registry(),
        notifier=Notifier.from_environ({}),
        services=[service],
    )
    running = asyncio.create_task(supervisor.run(exit_with=str(program)))
    await begun.wait()
    first = await asyncio.create_subprocess_exec(program, "60")
    while await seen.get() != [first.pid]:
        pass
    second = await asyncio.create_subprocess_exec(program, "60")
    first.kill()
    while await seen.get() != [second.pid]:  # one of it is left
        pass
    assert not running.done()
    second.kill()
    await running
    await first.wait()
    await second.wait()
