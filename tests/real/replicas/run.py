"""Three replicas at work, met by crashes, suspensions, ends, reloads and restarts of the API server."""

import shutil
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from random import Random
from statistics import median
from typing import Final

from msgspec import Struct, field

from tests.real.e2e.process import ROOT, until
from tests.real.replicas import audit
from tests.real.replicas.estate import Estate, Size
from tests.real.replicas.judge import TAKEOVER, Disturbance, Verdict, judged
from tests.real.replicas.replica import LEASE, LEASE_NAMESPACE, NAMES, Replica
from tests.real.replicas.store import PushedVault
from tests.support.servers.kube.crds import install
from tests.support.servers.kube.running import KubeApi
from tests.support.servers.small_vault import served

FOUND: Final = ROOT / "build" / "replicas"
"""Where the logs of a run stay in which something was wrong."""

FIRST_SYNC: Final = 240.0
SETTLED: Final = 60.0
"""Seconds after the last interval in which everything must be right."""

_REST: Final = (2.0, 7.0)
_ACTIVE_WITHIN: Final = 40.0
_CHANGE_EVERY: Final = 0.2
_ACTS: Final = {
    "kill": 6,
    "stop 5": 2,
    "stop 12": 4,
    "stop 60": 1,
    "end": 3,
    "end before late ones": 2,
    "reload": 2,
    "server": 2,
    "server 12": 1,
    "kill another": 1,
}
"""What is done to the active replica or the server, and how often.

Late ones were suspended, and do not know yet what happened meanwhile.
"""

_LATE: Final = 4.0


class Outcome(Struct):
    """What came of a run."""

    seed: int
    seconds: float
    verdict: Verdict
    acts: Counter[str]
    changes: int
    wrong: list[str] = field(default_factory=list[str])

    @property
    def failures(self) -> list[str]:
        return [*self.verdict.violations, *self.wrong]

    def __str__(self) -> str:
        verdict, total = self.verdict, sum(self.acts.values())
        acts = ", ".join(f"{count} {act}" for act, count in sorted(self.acts.items()))
        lines = [
            f"seed {self.seed}, {self.seconds:.0f} s: {total} disturbances ({acts})",
            f"{self.changes} changes by owners, {verdict.writes} writes of replicas in {verdict.terms} terms",
            f"{verdict.late} late writes refused, {verdict.half_way} half way at a stop",
            f"the oldest write {verdict.oldest:.1f} s after a renewal",
        ]
        for act, took in sorted(verdict.takeovers.items()):
            times = f"p50 {median(took):.2f} s, at most {max(took):.2f} s"
            lines.append(f"followed after {act}: {len(took)} times, {times}")
        lines.append(f"violations: {len(self.failures)}")
        return "\n".join([*lines, *(f"  {each}" for each in self.failures[:40])])


class _Run:
    """One run, from the first object to the judgement."""

    def __init__(
        self,
        api: KubeApi,
        vault: PushedVault,
        size: Size,
        seed: int,
        folder: Path,
        say: Callable[[str], object],
    ) -> None:
        self._say = say
        self._api = api
        self._vault = vault
        self._chance = Random(seed)  # noqa: S311  # moments, not keys
        self._estate = Estate(api, vault, size, Random(seed + 1))  # noqa: S311  # as above
        self.replicas = {name: Replica(name, folder, api) for name in NAMES}
        self._acts: list[Disturbance] = []
        self._changes = 0
        self._is_over = threading.Event()
        self._size = size
        self._folder = folder
        self._seed = seed

    def play(self, seconds: float) -> Outcome:
        """All of it."""
        self._api.create("/api/v1/namespaces", {"metadata": {"name": LEASE_NAMESPACE}})
        self._estate.lay_out()
        for each in self.replicas.values():
            each.start()
        wrong = self._estate.settled(FIRST_SYNC)
        assert not wrong, wrong[:10]
        begin = time.monotonic()
        owners = threading.Thread(target=self._change, name="owners")
        owners.start()
        late: list[str] = []
        try:
            while time.monotonic() < begin + seconds:
                self._disturb()
                time.sleep(self._chance.uniform(*_REST))
        except TimeoutError as error:
            late.append(str(error))
        finally:
            self._is_over.set()
            owners.join()
        took = time.monotonic() - begin
        for each in self.replicas.values():
            each.go_on()
        self._restart_those_that_ended()
        wrong = late + self._estate.settled(self._size.interval + SETTLED)
        for each in self.replicas.values():
            wrong += each.tracebacks()
        written = audit.writes(self._api.audit_log)
        verdict = judged(
            written, once=self._estate.once, pushes=tuple(self._vault.pushes), disturbances=self._acts
        )
        acts = Counter(each.what for each in self._acts)
        outcome = Outcome(self._seed, took, verdict, acts, self._changes, wrong)
        if outcome.failures:
            self._keep()
        return outcome

    def _keep(self) -> None:
        """Keep the logs of a run in which something was wrong."""
        kept = FOUND / str(self._seed)
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(self._folder, kept, ignore=shutil.ignore_patterns("*.sock"))
        shutil.copy(self._api.audit_log, kept)

    def _change(self) -> None:
        while not self._is_over.wait(self._chance_pause):
            try:
                self._estate.change_something()
            except (OSError, AssertionError):
                continue  # the API server is away
            self._changes += 1

    _chance_pause = _CHANGE_EVERY

    # ------------------------------------------------------------------------------------------ disturbances
    def _note(self, done: Disturbance) -> None:
        self._acts.append(done)
        self._say(f"{done.moment:.3f} {done.what} {done.user}")

    def _lease(self) -> str:
        """The identity that the Lease names."""
        try:
            found = self._api.get(LEASE)
        except OSError:
            return ""
        return "" if found is None else str(found["spec"].get("holderIdentity") or "")

    def _holder(self) -> str:
        """The replica that the Lease names."""
        return self._lease().partition("_")[0]

    def _restart_those_that_ended(self) -> None:
        for each in self.replicas.values():
            if not each.is_there:
                each.start()

    def _disturb(self) -> None:
        """One disturbance of the active replica or the server, once there is somebody to follow."""
        self._restart_those_that_ended()
        until(self._active_one, "somebody active", _ACTIVE_WITHIN, every=0.2)
        active = self.replicas[self._holder()]
        act = self._chance.choices(list(_ACTS), list(_ACTS.values()))[0]
        others = [each for each in self.replicas.values() if each is not active and not each.is_stopped]
        if not others:
            return
        until(lambda: any(each.is_warm() for each in others), "another one ready", _ACTIVE_WITHIN, every=0.2)
        what, _, number = act.partition(" ")
        does: dict[str, Callable[[], object]] = {
            "kill": active.kill,
            "stop": lambda: active.stop(float(number)),
            "end": active.end,
            "reload": active.reload,
        }
        if act == "kill another":
            self._chance.choice(others).kill()
            self._note(Disturbance(act, "", time.time()))
        elif what == "server":
            self._note(Disturbance(act, "", time.time()))
            self._api.stop_server()
            time.sleep(float(number or 0))
            self._api.start_server()
        else:
            follows = what in {"kill", "end", "reload"} or float(number or 0) > TAKEOVER
            before = self._lease()
            self._note(Disturbance(act, active.name, time.time(), must_be_followed=follows))
            if act == "end before late ones":
                for each in others:
                    each.stop(_LATE)
                time.sleep(_LATE)
            does[what]()
            if follows:  # what is given back may be taken again by who gave it
                until(
                    lambda: self._lease() not in {"", before},
                    f"followed after {act}",
                    _ACTIVE_WITHIN,
                    every=0.2,
                )

    def _active_one(self) -> bool:
        name = self._holder()
        return name in self.replicas and self.replicas[name].is_there and not self.replicas[name].is_stopped


def play(size: Size, seconds: float, seed: int, say: Callable[[str], object] = bool) -> Outcome:
    """Play so many seconds on a cluster and a store of its own."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="syncret-replicas-")))
        vault = stack.enter_context(served(PushedVault()))
        api = KubeApi(audit=audit.POLICY, users=NAMES)
        stack.callback(api.stop)
        install(api)
        run = _Run(api, vault, size, seed, folder, say)
        for each in run.replicas.values():
            stack.callback(each.close)
        return run.play(seconds)
