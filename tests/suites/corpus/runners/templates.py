"""Cases that render a template: Go's own, with all functions, and onto an output."""

import base64
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from os import urandom
from typing import Literal

from syncret.config.fields import Json
from syncret.config.meta import Document, ObjectRef, is_object
from syncret.config.resources.templates import Template, TemplateFrom, TemplateItem, TemplateSource
from syncret.daemon.core.manifest import ManifestSink
from syncret.daemon.core.rendering import Rendering
from syncret.daemon.core.secret import SecretSink
from syncret.daemon.core.templating import operator
from syncret.daemon.core.templating.golang.template import NO_FUNCTIONS
from syncret.daemon.core.templating.golang.template import Template as Parsed
from syncret.daemon.engine.templates import Templates
from syncret.providers.errors import Malformed
from syncret.providers.work import Work
from tests.suites.corpus.runners.cases import Case
from tests.suites.corpus.runners.comparing import value_in


def template_mismatches(case: Case) -> Iterator[str]:
    """One rendering, or only the parsing."""
    body = case.body
    if body.get("parse_only") is True:
        yield from _parse_mismatches(case)
        return
    try:
        came = _came(case)
    except (operator.TemplateError, Malformed) as error:
        yield from _error_mismatches(body, error)
        return
    if body.get("error") is True:
        yield f"expected an error; came {came!r}"
    elif "want_regex" in body:
        if not re.search(body["want_regex"], came.decode(errors="replace"), re.DOTALL):
            yield f"expected what matches {body['want_regex']!r}; came {came!r}"
    elif came != str(body["want"]).encode():
        yield f"expected {body['want']!r}; came {came!r}"


def _parse_mismatches(case: Case) -> Iterator[str]:
    wanted = case.body.get("want_parse", case.body.get("error") is not True)
    try:
        _parsed(case)
    except operator.TemplateError as error:
        if wanted:
            yield f"expected it to parse; came the error: {error}"
        return
    if not wanted:
        yield "expected an error; the template parses"


def _error_mismatches(body: Mapping[str, Json], error: Exception) -> Iterator[str]:
    if body.get("error") is not True:
        yield f"expected {body.get('want')!r}; came the error: {error}"
    elif body.get("error_hint", "") not in str(error):
        yield f"expected an error with {body['error_hint']!r}; came the error: {error}"


def _came(case: Case) -> bytes:
    body = case.body
    if body.get("env", "eso") == "eso" and "delims" not in body:
        return operator.render(case.id, body["template"], _bytes(case), _context(), Work())
    return _rendered(_parsed(case), _data(case), body.get("missingkey", "default"))


def _parsed(case: Case) -> Parsed:
    functions = NO_FUNCTIONS if case.body.get("env") == "go" else operator.FUNCTIONS
    left, right = case.body.get("delims", ("", ""))
    return Parsed.parse(case.id, case.body["template"], Work(), functions, (left, right))


def _rendered(parsed: Parsed, data: object, missing_key: Literal["default", "zero", "error"]) -> bytes:
    return parsed.render(data, _context(), missing_key=missing_key)


def _context() -> operator.Context:
    return operator.Context(now=datetime.now(UTC), random=urandom)


def _bytes(case: Case) -> dict[str, bytes]:
    if "data_b64" in case.body:
        return {key: base64.b64decode(value) for key, value in case.body["data_b64"].items()}
    return {key: value.encode() for key, value in case.body["data"].items()}


def _data(case: Case) -> object:
    return case.body["data"] if case.body.get("env") == "go" else operator.string_data(_bytes(case))


def engine_mismatches(case: Case) -> Iterator[str]:
    """One call of the engine, which puts what it renders onto an object."""
    body = case.body
    kind = body["object"]["kind"]
    document: Document = {"metadata": {}} if kind == "Secret" else dict(body["object"]["object"])
    values: dict[str, bytes] = {}
    sink = SecretSink(document, values) if kind == "Secret" else ManifestSink(document)
    data = {key: value.encode() for key, value in body["data"].items()}
    try:
        _rendering(body["tpl"]).apply(_template(case), sink, data)
    except Malformed as error:
        yield from _error_mismatches(body, error)
        return
    if body.get("error") is True:
        yield "expected an error; it renders"
        return
    yield from _differences(body["want"], document, values)


def _rendering(texts: dict[str, str]) -> Rendering:
    held = {key: text.encode() for key, text in texts.items()}
    render: Callable[..., bytes] = Templates(lambda: 0.0).of(Work()).render
    return Rendering(render, {ObjectRef("", "ConfigMap", "default", "texts"): held}, "default", Work())


def _template(case: Case) -> Template:
    body = case.body
    items = tuple(TemplateItem(key=key, template_as=body["scope"]) for key in body["tpl"])
    each = TemplateFrom(
        config_map=TemplateSource(name="texts", items=items),
        target=body["target"],
        values_decoding_strategy=body.get("decoding"),
    )
    return Template(template_from=(each,))


def _differences(want: Document, document: Document, values: dict[str, bytes]) -> Iterator[str]:
    came: Json
    for field, wanted in want.items():
        if field == "object_path":
            continue
        if field == "value":
            came = value_in(document, *str(want["object_path"]).split("."))
        elif field == "data":
            came = {key: value.decode() for key, value in values.items()}
        else:
            came = document["metadata"].get(field, {})
        if came != wanted:
            yield f"expected {field} {wanted!r}; came {came!r}"
    if not is_object(want):
        yield "the case expects nothing"
