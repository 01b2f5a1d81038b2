"""Expressions of strangers: they run in a worker process, which they may end, and hurt nobody else."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Final, TypeVar

import pytest

from syncret.daemon.core.exports.cel.compiling import MOST_KEPT, Programs
from syncret.daemon.core.exports.cel.messages import Evaluation, Result, Text
from syncret.daemon.core.exports.evaluation import check_all, evaluate_all
from syncret.daemon.core.exports.problems import Failure
from syncret.daemon.engine.work import WorkLimits, WorkThreads
from syncret.providers.errors import OverBudget, Unavailable
from syncret.providers.work import Work

T = TypeVar("T")

GOOD: Final = Text(for_secret=False, source="'fine'")
SLOW: Final = "self.l.map(x, self.l.map(y, self.l.map(z, x))).size() > 0 ? 'a' : 'b'"
DOUBLED: Final = "'a'.replace('', 'abcdefghijklmnopqrstuvwxyz')"


@pytest.fixture(scope="module")
def threads() -> Iterator[WorkThreads]:
    threads = WorkThreads(WorkLimits(call=60.0))
    yield threads
    threads.close()


def evaluation(*sources: str, resource: bytes = b'{"s": "aaaa"}') -> Evaluation:
    return Evaluation(resource, {}, tuple(Text(for_secret=False, source=source) for source in sources))


def kinds(found: list[list[Result] | Failure]) -> list[object]:
    return [
        each.kind if isinstance(each, Failure) else [r.value or (r.failure and r.failure.kind) for r in each]
        for each in found
    ]


LARGE: Final = b'{"s": "' + b"a" * 3000 + b'", "l": [' + b"1, " * 399 + b"1]}"


@pytest.mark.slow
@pytest.mark.parametrize(
    "source",
    [
        pytest.param("string(self.s.replace('a', self.s).replace('a', self.s).size())", id="replace"),
        pytest.param("string([self.s]" + ".map(a, a + a)" * 25 + "[0].size())", id="doubling"),
        pytest.param("[0].map(x, self.l.map(y, self.s)" + ".map(a, a + a)" * 14 + ".join(''))[0]", id="join"),
        pytest.param("string(self.l.all(x, self.l.all(y, self.l.all(z, x + y + z >= 0))))", id="loops"),
        pytest.param(SLOW, id="nested maps"),
    ],
)
def test_what_asks_for_too_much_fails_alone(threads: WorkThreads, source: str) -> None:
    asked = [
        evaluation("'first'"),
        evaluation("'one'", source, "'two'", resource=LARGE),
        evaluation("'last'"),
    ]
    first, middle, last = kinds(evaluate_all(asked, threads.new_work()))
    assert (first, last) == (["first"], ["last"])
    assert middle in ("limit", ["one", "limit", "two"])
    assert kinds(evaluate_all(asked[:1], threads.new_work())) == [["first"]]


@pytest.mark.slow
def test_the_results_before_leave_room(threads: WorkThreads) -> None:
    """The engine keeps what an expression made until the resource is done: this is the memory of three."""
    source = "string(self.l.map(x, x).size())"
    asked = evaluation(*[source] * 8, resource=b'{"l": [' + b"1, " * 2999 + b"1]}")
    assert kinds(evaluate_all([asked], threads.new_work())) == [["3000"] * 8]


@pytest.mark.slow
def test_what_takes_too_long_is_ended() -> None:
    """The engine counts only rounds: one that copies a long list each time takes seconds."""
    threads = WorkThreads(WorkLimits(call=1.0))
    try:
        source = "string(self.l.map(x, x).size())"
        slow = evaluation(*[source] * 50, resource=b'{"l": [' + b"1, " * 3000 + b"1]}")
        found = evaluate_all([slow, evaluation("'fine'")], threads.new_work())
    finally:
        threads.close()
    assert kinds(found) == ["limit", ["fine"]]
    assert isinstance(found[0], Failure)
    assert "templateTimeout" in found[0].message


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "kind"),
    [
        pytest.param("(" * 50_000, "limit", id="open brackets"),
        pytest.param("[" * 40_000 + "]" * 40_000, "limit", id="lists"),
        pytest.param("'" + "a" * 100_001 + "'", "limit", id="too long"),
        pytest.param("a ? b : " * 12_000 + "c", "limit", id="conditions"),
        pytest.param("-" * 99_000 + "1", "output_type", id="signs"),
        pytest.param("!" * 99_000 + "true", "output_type", id="negations"),
        pytest.param("x." * 40_000 + "y", "limit", id="fields"),
        pytest.param("self" + ".a__dash__b" * 9_000, "limit", id="escaped fields"),
        pytest.param("has(" * 20_000, "limit", id="macros"),
        pytest.param("r'''" + "'" * 50_000, "parse", id="quotes"),
    ],
)
def test_texts_that_are_no_use(threads: WorkThreads, source: str, kind: str) -> None:
    found = check_all([[GOOD], [Text(for_secret=False, source=source)]], threads.new_work())
    assert not isinstance(found[0], Failure)
    assert found[0][0].type == "STRING"
    bad = found[1] if isinstance(found[1], Failure) else found[1][0].failure
    assert bad is not None or kind == "output_type"
    assert bad is None or bad.kind in {kind, "parse", "limit", "undeclared"}


def test_one_call_for_many_resources(threads: WorkThreads) -> None:
    asked = [evaluation(f"'{number}'") for number in range(50)]
    assert kinds(evaluate_all(asked, threads.new_work())) == [[str(number)] for number in range(50)]
    assert evaluate_all([], threads.new_work()) == []


def test_a_budget_that_is_spent_is_no_verdict_on_expressions(threads: WorkThreads) -> None:
    work = threads.new_work()
    work.stop()
    with pytest.raises(OverBudget):
        evaluate_all([evaluation("'a'")], work)


@pytest.mark.slow
def test_the_daemon_itself_never_loads_the_engine() -> None:
    code = (
        "import sys; from syncret.daemon.core.exports import export; "
        "from syncret.daemon.engine.work import WorkThreads; threads = WorkThreads(); "
        "entry = {'name': 'o', 'key': 'k', 'value': \"'a'\"}; "
        "resource = {'spec': {'operatorSpec': {'dynamicSecrets': [entry]}}}; "
        "print(export.export(resource, {}, threads.new_work()).made[0].data); threads.close(); "
        "sys.exit(any(name.startswith('cel_expr_python') for name in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (0, "{'k': 'a'}\n")


def test_the_programs_that_are_kept_have_a_limit() -> None:
    programs = Programs()
    texts = [Text(for_secret=False, source=f"'{number}{'a' * 9_000}'") for number in range(60)]
    for text in texts:
        programs.of(text, frozenset())
    assert programs.size <= MOST_KEPT
    kept = programs.size
    assert programs.of(texts[-1], frozenset()) is programs.of(texts[-1], frozenset())
    assert programs.size == kept
    long = Text(for_secret=False, source="'" + "a" * 90_000 + "'")
    assert programs.of(long, frozenset()) is not programs.of(long, frozenset())
    programs.clear()
    assert programs.size == 0


@pytest.mark.slow
def test_many_large_expressions_take_no_memory_from_others(threads: WorkThreads) -> None:
    for number in range(100):
        source = f"('{number}' == self.a" + " && self.b[0]" * 1500 + ") ? 'a' : 'b'"
        check_all([[Text(for_secret=False, source=source)]], threads.new_work())
    source = "string(self.l.map(x, x).size())"
    asked = evaluation(source, resource=b'{"l": [' + b"1, " * 1999 + b"1]}")
    assert kinds(evaluate_all([asked], threads.new_work())) == [["2000"]]


def test_nothing_of_a_call_is_kept_for_the_next(threads: WorkThreads) -> None:
    first = Evaluation(b"{}", {"a": "one"}, (Text(for_secret=True, source="secret.a"),))
    second = Evaluation(b"{}", {}, (Text(for_secret=True, source="secret.a"),))
    assert kinds(evaluate_all([first, second], Work())) == [["one"], ["missing_key"]]


class SlowStart(Work):
    """Work whose processes take so long to start that the first call in each is ended."""

    __slots__ = ("started",)

    def __init__(self) -> None:
        super().__init__()
        self.started = False

    def apart(self, doing: str, function: Callable[..., T], *arguments: object) -> T:
        if not self.started:
            self.started = True
            raise OverBudget(f"{doing} took longer")
        return super().apart(doing, function, *arguments)


def test_the_start_of_a_process_is_no_verdict_on_expressions() -> None:
    assert kinds(evaluate_all([evaluation("'a'"), evaluation("'b'")], SlowStart())) == [["a"], ["b"]]
    with pytest.raises(Unavailable):
        evaluate_all([evaluation("'a'")], SlowStart())
