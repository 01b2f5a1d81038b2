"""What is fuzzed: each makes an input and gives it to the product. Only documented errors may come out."""

import os
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from random import Random
from typing import Any, Final, NamedTuple

from bench.typical import DATA
from syncret.config.fields import Json
from syncret.config.schema.admission import admit
from syncret.config.text.yaml import parse_text
from syncret.daemon.core.templating import operator
from syncret.daemon.core.templating.functions.contract import Context
from syncret.daemon.core.templating.golang.errors import TemplateError
from syncret.daemon.core.templating.golang.lexer import tokenize
from syncret.providers.errors import SyncError
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.golang.gjson.walk import find
from syncret.providers.registry import Registry
from syncret.providers.webhook import results
from syncret.providers.work import Work
from tests.suites.fuzz import daemons, expressions, grammar, large, managers, mutation, objects
from tests.suites.oracle.cases import paths
from tests.suites.oracle.cases.templates import DELIMITERS
from tests.support.canary import CANARY, leaks


class Target(NamedTuple):
    """What is fuzzed.

    Attributes:
        make: an input, which can be written as JSON.
        give: hands it to the product.
        seconds: processor time that one case may take.
        apart: whether what is fuzzed runs in processes of its own, whose memory is not limited.
    """

    make: Callable[[Random], Any]
    give: Callable[[Any], None]
    seconds: float = 4.0
    apart: bool = False


_DELIMITERS: Final = [list(pair) for pair in DELIMITERS if pair[0]] + [["{{", "}}"]]
_REGISTRY: Final = Registry()
_SECRETS: Final = {**DATA, "password": CANARY.encode(), "k": CANARY.encode()}


@contextmanager
def _documented(expected: type[Exception] = SyncError) -> Generator[None, None, None]:
    """Such an error may be raised, or a SyncError; it quotes no value."""
    try:
        yield
    except (expected, SyncError) as error:
        found = leaks("error", str(error))
        assert not found, found


def _lexed(chance: Random) -> list[Any]:
    return [grammar.template(chance), chance.choice(_DELIMITERS)]


def _lex(case: list[Any]) -> None:
    text, (left, right) = case
    tokenize(text, left, right)


def _parsed(chance: Random) -> str:
    return mutation.text(chance, (grammar.template(chance), grammar.template(chance)))


def _parse(text: str) -> None:
    with _documented(TemplateError):
        operator.parse("t", text, Work())


def _evaluate(text: str) -> None:
    with _documented():
        operator.render("t", text, _SECRETS, Context(datetime.now(UTC), os.urandom), Work())


def _damaged_text(chance: Random) -> list[Any]:
    return [mutation.text(chance, objects.samples()), not chance.randrange(10)]


def _read(case: list[Any]) -> None:
    text, as_json = case
    for parsed in parse_text(text.encode("utf-8", "surrogateescape"), as_json=as_json):
        if not parsed.problems:
            admit(parsed.value, _REGISTRY)


@cache
def _documents() -> tuple[Json, ...]:
    return tuple(parsed.value for text in objects.samples() for parsed in parse_text(text.encode()))


def _damaged_document(chance: Random) -> Json:
    return mutation.document(chance, _documents())


def _admit(document: Json) -> None:
    admit(document, _REGISTRY)


def _property(chance: Random) -> list[str]:
    known = paths.DOCUMENT.replace("Tom", CANARY)
    document = mutation.text(chance, (paths.document(chance), known, grammar.VALUES[1]))
    return [document, mutation.text(chance, (paths.path(chance), *paths.PATHS))]


def _look_up(case: list[str]) -> None:
    document, path = case
    with _documented():
        find(gojson.text(document.encode("utf-8", "surrogateescape")), path, Work())


def _jsonpath(chance: Random) -> list[str]:
    document = mutation.text(chance, (paths.document(chance), paths.DOCUMENT, *grammar.VALUES))
    path = grammar.jsonpath(chance)
    return [document, mutation.text(chance, (path, path, grammar.jsonpath(chance)))]


def _select(case: list[str]) -> None:
    document, path = case
    body = document.encode("utf-8", "surrogateescape")
    with _documented():
        results.one(body, path, Work())
    with _documented():
        results.members(body, path, Work())


TARGETS: Final[Mapping[str, Target]] = {
    "lexer": Target(_lexed, _lex),
    "parser": Target(_parsed, _parse),
    "evaluator": Target(grammar.template, _evaluate),
    "yaml": Target(_damaged_text, _read),
    "decode": Target(_damaged_document, _admit),
    "gjson": Target(_property, _look_up),
    "jsonpath": Target(_jsonpath, _select),
    "large": Target(large.make, large.give),
    "objects": Target(objects.make, objects.give, seconds=20.0),
    "answers": Target(managers.make, managers.give),
    "exports": Target(expressions.make, expressions.give, apart=True),
    "daemon": Target(daemons.make, daemons.give, apart=True),
}
