"""What syncret says to the questions that the oracle is asked."""

import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

import msgspec

from syncret.config.resources.external_secret import Rewrite
from syncret.daemon.core import assemble, conversion
from syncret.daemon.core.templating import operator
from syncret.daemon.core.templating.functions.contract import Context
from syncret.daemon.core.templating.golang import values
from syncret.daemon.core.templating.golang.budget import Budget
from syncret.daemon.core.templating.golang.errors import TemplateError
from syncret.daemon.core.templating.golang.execution import MissingKey
from syncret.daemon.core.templating.golang.template import NO_FUNCTIONS, Functions, Template
from syncret.daemon.engine.templates import Templates
from syncret.providers.errors import Malformed
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.golang import regexp
from syncret.providers.kit.golang.gjson.walk import find
from syncret.providers.work import Work
from tests.suites.oracle.client import Answer

LIMIT: Final = re.compile("template(Time|Memory|Keys) allows")
"""In the message of every bound: such a refusal is no difference, the bounds are documented."""


_TEMPLATES: Final = Templates(time.time)


def context() -> Context:
    return Context(datetime.now(UTC), os.urandom, Budget(seconds=3))


def rendered(
    text: str,
    data: Mapping[str, bytes] | None = None,
    *,
    dot: object = None,
    delimiters: tuple[str, str] = ("", ""),
    missing_key: MissingKey = "error",
    functions: Functions = operator.FUNCTIONS,
) -> Answer:
    """A template with strings for its dot, as the operator gives them, or with any JSON."""
    try:
        parsed = Template.parse("t", text, Work(), functions, delimiters)
    except TemplateError as error:
        return Answer(failed="parse", why=str(error))
    try:
        made = parsed.render(
            operator.string_data(data or {}) if dot is None else dot, context(), missing_key=missing_key
        )
    except TemplateError as error:
        return Answer(failed="execute", why=str(error), bounded=LIMIT.search(str(error)) is not None)
    return Answer(made)


def plainly_rendered(text: str, dot: object, missing_key: MissingKey, delimiters: tuple[str, str]) -> Answer:
    """A template with Go's own functions only."""
    return rendered(text, dot=dot, missing_key=missing_key, delimiters=delimiters, functions=NO_FUNCTIONS)


def rewritten(operations: Sequence[Mapping[str, object]], held: Mapping[str, bytes]) -> Answer:
    def run() -> dict[str, bytes]:
        return assemble.rewrite(
            msgspec.convert(operations, list[Rewrite]),
            held,
            Work(),
            transform=_TEMPLATES.of(Work()).transform,
        )

    return _asked(run)


def decoded(strategy: str, held: Mapping[str, bytes]) -> Answer:
    return _asked(lambda: conversion.decode_map(strategy, held, Work()))


def converted(strategy: str, held: Mapping[str, bytes]) -> Answer:
    return _asked(lambda: conversion.convert_keys(strategy, held, Work()))


def reversed_(strategy: str, held: Mapping[str, bytes]) -> Answer:
    return _asked(lambda: conversion.reverse_keys(strategy, held, Work()))


def found(document: str, path: str) -> Answer:
    """What gjson's Get and String give."""

    def run() -> tuple[bool, bytes]:
        result = find(gojson.text(document.encode()), path, Work())
        return result.exists, values.bytes_of(result.text)

    return _asked(run)


def replaced(pattern: str, text: bytes, template: bytes) -> Answer:
    def run() -> bytes:
        made = regexp.compile(pattern, Work()).replace_all(
            values.text_of(text), values.text_of(template), Work()
        )
        return values.bytes_of(made)

    return _asked(run)


def _asked(run: Callable[[], object]) -> Answer:
    try:
        return Answer(run())
    except Malformed as error:
        return Answer(failed="failed", why=error.message, bounded=LIMIT.search(error.message) is not None)
