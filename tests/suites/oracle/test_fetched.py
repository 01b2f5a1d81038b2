"""What happens to fetched values: rewrites of keys and their expressions, conversions, decoding."""

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import TypeAlias, cast

import pytest

from tests.suites.oracle import ours
from tests.suites.oracle.cases import fetched, words
from tests.suites.oracle.client import Answer, Oracle, bytes_of, map_of
from tests.suites.oracle.conftest import Share
from tests.suites.oracle.listed import KEYS_MEET
from tests.suites.oracle.tally import Tally

Operation: TypeAlias = Mapping[str, object]


def test_rewrites(oracle: Oracle, tally: Tally, share: Share) -> None:
    for chance in share("rewrite", 0.05):
        held = chance.choice((fetched.objects, fetched.values))(chance)
        operations, meet = _until_keys_meet(fetched.operations(chance), held)
        theirs = _map(oracle.ask("rewrite", operations=operations, values=held))
        question = (operations, held, KEYS_MEET if meet else "")
        tally.compare("rewrite", question, theirs, ours.rewritten(operations, held))
    tally.check("rewrite")


def _until_keys_meet(
    operations: Sequence[Operation], held: Mapping[str, bytes]
) -> tuple[Sequence[Operation], bool]:
    """Without what follows where two keys become one, if they do: Go leaves to chance whose value goes on."""
    for index, operation in enumerate(operations):
        made = ours.rewritten([operation], held).result
        if not isinstance(made, dict):
            break
        before, held = held, cast("dict[str, bytes]", made)
        if "merge" not in operation and len(held) < len(before):
            return operations[: index + 1], True
    return operations, False


@pytest.mark.parametrize(
    ("operation", "part", "make", "ask"),
    [
        ("decode", 0.03, fetched.encoded, ours.decoded),
        ("convert", 0.02, fetched.values, ours.converted),
        ("reverse", 0.02, fetched.values, ours.reversed_),
    ],
)
def test_strategies(
    operation: str,
    part: float,
    make: Callable[[Random], dict[str, bytes]],
    ask: Callable[[str, Mapping[str, bytes]], Answer],
    oracle: Oracle,
    tally: Tally,
    share: Share,
) -> None:
    for chance in share(operation, part):
        strategy, held = chance.choice(fetched.STRATEGIES[operation]), make(chance)
        theirs = _map(oracle.ask(operation, strategy=strategy, values=held))
        tally.compare(operation, (strategy, held), theirs, ask(strategy, held))
    tally.check(operation)


def test_expressions(oracle: Oracle, tally: Tally, share: Share) -> None:
    for chance in share("regexp", 0.03):
        pattern = words.joined(chance, words.PATTERNS, 1, 3)
        text, template = (words.text(chance).encode("utf-8", "surrogateescape") for _ in range(2))
        template = chance.choice((template, chance.choice(words.EXPANSIONS).encode()))
        told = oracle.ask("replace", pattern=pattern, text=text, template=template)
        theirs = Answer(failed="failed", why=told.why) if told.failed else Answer(bytes_of(told.result))
        tally.compare("regexp", (pattern, text, template), theirs, ours.replaced(pattern, text, template))
    tally.check("regexp")


def _map(told: Answer) -> Answer:
    return told if told.failed else Answer(map_of(told.result))
