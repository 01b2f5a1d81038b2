"""`syncret template`: renders one Go template, and writes exactly what it rendered."""

import base64
import os
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final

from syncret.config.errors import ConfigError, Problem
from syncret.config.fields import Json
from syncret.config.manifests.loader import read_bounded, unreadable
from syncret.config.meta import Document, is_object
from syncret.config.text.yaml import LIMITS, parse_text
from syncret.config.visible import printable
from syncret.daemon.cli.exit_codes import FAILED, INVALID, OK
from syncret.daemon.cli.printing import print_problem
from syncret.daemon.cli.settings import settings_of
from syncret.daemon.cli.terminal import print_text
from syncret.daemon.core.templating.functions.contract import Context
from syncret.daemon.core.templating.golang.budget import Budget
from syncret.daemon.core.templating.golang.errors import TemplateError
from syncret.daemon.core.templating.golang.template import NO_FUNCTIONS, Functions, Template
from syncret.daemon.core.templating.golang.values import Value, string_map, text_of
from syncret.providers.errors import OverBudget
from syncret.providers.work import Work

_STDIN: Final = "-"
_FIELDS: Final = {"Secret": (("data", True), ("stringData", False)),
                  "ConfigMap": (("binaryData", True), ("data", False))}  # fmt: skip
"""The fields of a manifest that hold values, and whether these are in base64. The last one wins."""


def run(options: Namespace) -> int:
    """Render the template, or only parse it. Nothing is written if it fails."""
    try:
        text = text_of(_read(options.file))
        data: Value = {} if options.data is None else _data(options.data)
        budget = _budget(options)
    except ConfigError as error:
        for problem in error.problems:
            told = Problem(path="", message=problem.message, hint=problem.hint)
            print_problem(sys.stderr, problem.path, told)
        return INVALID
    try:
        template = Template.parse(options.file, text, Work(), _functions(options.functions), options.delims)
        if not options.check:
            context = Context(now=datetime.now().astimezone(), random=os.urandom, budget=budget)
            sys.stdout.buffer.write(template.render(data, context, missing_key=options.missing_key))
            sys.stdout.buffer.flush()
    except (TemplateError, OverBudget) as error:
        message = f"error: {error}" + (f" ({error.hint})" if error.hint else "")
        print_text(sys.stderr, printable(message))
        return FAILED
    return OK


def _budget(options: Namespace) -> Budget:
    """The limits of the rendering, by the settings. Raises ConfigError."""
    settings = settings_of(options)
    return Budget(
        seconds=settings.template_time, memory=settings.template_memory, keys=settings.template_keys
    )


def _functions(which: str) -> Functions:
    if which == "go":
        return NO_FUNCTIONS
    from syncret.daemon.core.templating.operator import FUNCTIONS

    return FUNCTIONS


def _bad(file: str, message: str, hint: str) -> ConfigError:
    return ConfigError([Problem(path=file, message=message, hint=hint)])


def _read(file: str) -> bytes:
    limit = LIMITS.file + 1
    try:
        return sys.stdin.buffer.read(limit) if file == _STDIN else read_bounded(file, limit)
    except (OSError, ValueError) as error:
        problem = unreadable(error)
        raise _bad(file, problem.message, problem.hint) from error


def _data(file: str) -> Value:
    """The value of `.` in the template. Raises ConfigError."""
    documents = list(parse_text(_read(file), as_json=file.endswith(".json")))
    problems = [problem for each in documents for problem in each.problems]
    if problems:
        raise ConfigError(
            Problem(path=f"{file}:{each.line}", message=each.message, hint=each.hint) for each in problems
        )
    if len(documents) > 1:
        raise _bad(file, "must hold one document", "give each document a file of its own")
    value: Json = documents[0].value if documents else None
    if is_object(value) and value.get("apiVersion") == "v1" and value.get("kind") in _FIELDS:
        return string_map(dict(_values(file, value, str(value["kind"]))))
    return value


def _values(file: str, manifest: Document, kind: str) -> Iterator[tuple[str, str]]:
    for field, encoded in _FIELDS[kind]:
        values: Json = manifest.get(field)
        for name, value in _entries(file, field, values).items():
            try:
                text = text_of(base64.b64decode(value, validate=True)) if encoded else value
            except ValueError as error:
                raise _bad(file, f"{field}.{name} is no base64", "encode it, or use stringData") from error
            yield name, text


def _entries(file: str, field: str, values: Json) -> Mapping[str, str]:
    if values is None:
        return {}
    if not is_object(values) or not all(isinstance(value, str) for value in values.values()):
        raise _bad(file, f"{field} must map names to strings", "quote numbers and booleans")
    return values
