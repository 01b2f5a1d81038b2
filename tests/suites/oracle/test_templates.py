"""Go's template language: its grammar, its own functions, printf, other delimiters."""

import json
from collections.abc import Callable
from random import Random

import pytest

from syncret.daemon.core.templating.golang.execution import MissingKey
from tests.suites.oracle import ours
from tests.suites.oracle.cases import formats
from tests.suites.oracle.cases.templates import CONSTANTS, DELIMITERS, DOT, FIELDS, Templates, with_delimiters
from tests.suites.oracle.client import Answer, Oracle, bytes_of
from tests.suites.oracle.conftest import Share
from tests.suites.oracle.tally import Tally

MISSING: tuple[MissingKey, ...] = ("default", "zero", "error")


def _template(chance: Random) -> str:
    return Templates(chance).template()


def _pipeline(chance: Random) -> str:
    return Templates(chance).pipeline()


def _printf(chance: Random) -> str:
    operands = (
        chance.choice((chance.choice(CONSTANTS), chance.choice(FIELDS))) for _ in range(chance.randrange(4))
    )
    return f"{{{{printf {' '.join([formats.verbs(chance), *operands])}}}}}"


@pytest.mark.parametrize(
    ("family", "part", "make"),
    [
        pytest.param("template", 0.16, _template, id="template"),
        pytest.param("pipeline", 0.06, _pipeline, id="pipeline"),
        pytest.param("printf verbs", 0.06, _printf, id="printf"),
    ],
)
def test_templates(
    family: str, part: float, make: Callable[[Random], str], oracle: Oracle, tally: Tally, share: Share
) -> None:
    for chance in share(family, part):
        left, right = chance.choice(DELIMITERS)
        text, missing = with_delimiters(make(chance), left, right), chance.choice(MISSING)
        told = oracle.ask(
            "render", text=text, dot=DOT, plain=True, missingKey=missing, left=left, right=right
        )
        theirs = told if told.failed else Answer(bytes_of(told.result))
        dot = json.loads(json.dumps(DOT))
        mine = ours.plainly_rendered(text, dot, missing, (left, right))
        tally.compare(family, (missing, left, text), theirs, mine)
    tally.check(family)
