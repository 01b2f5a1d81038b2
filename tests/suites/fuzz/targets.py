"""What is fuzzed: each makes an input and gives it to the product. Only documented errors may come out."""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from random import Random
from typing import Final, TypeAlias

from bench.typical import DATA, GROUPS
from syncret.config.fields import Json
from syncret.config.schema.admission import admit
from syncret.config.text.yaml import parse_text
from syncret.daemon.core.templating import operator
from syncret.daemon.core.templating.functions.contract import Context
from syncret.daemon.core.templating.golang.errors import TemplateError
from syncret.daemon.core.templating.golang.lexer import tokenize
from syncret.providers.errors import Malformed
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.golang.gjson.walk import find
from syncret.providers.registry import Registry
from syncret.providers.work import Work
from tests.suites.fuzz import mutation
from tests.suites.oracle.cases import paths
from tests.suites.oracle.cases.calls import Calls
from tests.suites.oracle.cases.frames import framed
from tests.suites.oracle.cases.templates import DELIMITERS, Templates

Target: TypeAlias = Callable[[Random], None]

_SAMPLES: Final = Path(__file__).parents[3] / "config" / "samples"
_TYPICAL: Final = tuple(text for texts in GROUPS.values() for text in texts)
_NAMES: Final = tuple(sorted(operator.FUNCTIONS.table))
_DELIMITERS: Final = [pair for pair in DELIMITERS if pair[0]] + [("{{", "}}")]
_REGISTRY: Final = Registry()


def _template(chance: Random) -> str:
    name = chance.choice(_NAMES)
    call = framed(name, Calls(operator.FUNCTIONS.table, chance).call(name), chance)
    return mutation.text(chance, (call, Templates(chance).template(), chance.choice(_TYPICAL)))


def _lexer(chance: Random) -> None:
    tokenize(_template(chance), *chance.choice(_DELIMITERS))


def _parser(chance: Random) -> None:
    text = mutation.text(chance, (_template(chance), _template(chance)))
    with suppress(TemplateError):
        operator.parse("t", text, Work())


def _evaluator(chance: Random) -> None:
    with suppress(Malformed):
        operator.render("t", _template(chance), DATA, Context(datetime.now(UTC), os.urandom), Work())


@cache
def _manifests() -> tuple[str, ...]:
    return tuple(file.read_text() for file in sorted(_SAMPLES.rglob("*.yaml")))


@cache
def _documents() -> tuple[Json, ...]:
    return tuple(parsed.value for text in _manifests() for parsed in parse_text(text.encode()))


def _yaml(chance: Random) -> None:
    text = mutation.text(chance, _manifests()).encode("utf-8", "surrogateescape")
    for parsed in parse_text(text, as_json=not chance.randrange(10)):
        if not parsed.problems:
            admit(parsed.value, _REGISTRY)


def _decode(chance: Random) -> None:
    document = mutation.document(chance, _documents())
    admit(document, _REGISTRY)


def _gjson(chance: Random) -> None:
    document = mutation.text(chance, (paths.document(chance), paths.DOCUMENT))
    path = mutation.text(chance, (paths.path(chance), *paths.PATHS))
    with suppress(Malformed):
        find(gojson.text(document.encode("utf-8", "surrogateescape")), path, Work())


TARGETS: Final[Mapping[str, Target]] = {
    "lexer": _lexer,
    "parser": _parser,
    "evaluator": _evaluator,
    "yaml": _yaml,
    "decode": _decode,
    "gjson": _gjson,
}
