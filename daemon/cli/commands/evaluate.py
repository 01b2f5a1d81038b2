"""`syncret evaluate`: shows what a resource's dynamic exports make of it and of its secrets."""

import sys
from argparse import Namespace
from collections.abc import Mapping
from typing import Final

from syncret.config.errors import ConfigError, Problem
from syncret.config.fields import Json
from syncret.config.meta import Document, is_object
from syncret.config.settings import Settings
from syncret.config.text.yaml_lines import Lines
from syncret.daemon.cli.exit_codes import FAILED, INVALID, OK
from syncret.daemon.cli.given_files import (
    bad_file,
    print_file_problems,
    read_document,
    read_value,
    values_of_manifest,
)
from syncret.daemon.cli.printing import print_json, print_problem, print_yaml
from syncret.daemon.cli.settings import settings_of
from syncret.daemon.core.exports.export import Export, export
from syncret.daemon.core.exports.outputs import Made
from syncret.daemon.core.redact import REDACTED, redacted
from syncret.daemon.engine.work import WorkLimits, WorkThreads
from syncret.providers.errors import Malformed

API_VERSION: Final = "syncret.dev/v1alpha1"


def run(options: Namespace) -> int:
    """Print the report; exit 1 for what fails in an evaluation, 2 for what is refused before."""
    try:
        settings = settings_of(options)
        resource, lines = _resource(options.file)
        secrets = {} if options.secrets is None else _secrets(options.secrets)
    except ConfigError as error:
        print_file_problems(error)
        return INVALID
    try:
        found = _exported(resource, secrets, settings)
    except Malformed as error:  # there is no engine
        print_problem(sys.stderr, options.file, Problem(path="", message=str(error), hint=error.hint))
        return INVALID
    items = [_shown(each, resource, show_values=options.show_values) for each in found.made]
    if options.output == "json":
        print_json(_report(found, items), indent=2)
    else:
        for item in items:
            print_yaml(item)
        for problem in found.problems:
            located = Problem(
                path=problem.path,
                message=problem.message,
                hint=problem.hint,
                severity=problem.severity,
                line=lines.of(f"spec.{problem.path}"),
            )
            print_problem(sys.stderr, options.file, located)
    if not found.problems:
        return OK
    return INVALID if any(each.stage == "check" for each in found.problems) else FAILED


def _exported(resource: Document, secrets: Mapping[str, str], settings: Settings) -> Export:
    threads = WorkThreads(WorkLimits.of(settings))
    try:
        return export(resource, secrets, threads.new_work())
    finally:
        threads.close()


def _resource(file: str) -> tuple[Document, Lines]:
    """The manifest, and the lines of its fields. Raises ConfigError."""
    parsed = read_document(file)
    value: Json = None if parsed is None else parsed.value
    spec: Json = value.get("spec") if is_object(value) else None
    if parsed is None or not is_object(value) or not is_object(spec) or "operatorSpec" not in spec:
        raise bad_file(file, "is no resource with a spec.operatorSpec", "give the manifest of one resource")
    return value, parsed.lines


def _secrets(file: str) -> dict[str, str]:
    value = read_value(file)
    values: Json = values_of_manifest(file, value)
    if values is None:
        values = {} if value is None else value
    if not is_object(values) or not all(isinstance(each, str) for each in values.values()):
        raise bad_file(file, "must map names to texts", "quote numbers and booleans, or give a v1 Secret")
    for name, text in values.items():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise bad_file(
                file, f"the value of {name} is not UTF-8", "an expression takes texts alone"
            ) from None
    return values


def _shown(made: Made, resource: Document, *, show_values: bool) -> Document:
    if show_values:
        return made.as_document(resource)
    hidden = {
        name: REDACTED if name in made.secret_marks else text for name, text in made.annotations.items()
    }
    labels = {name: REDACTED if name in made.secret_marks else text for name, text in made.labels.items()}
    return redacted(Made(made.output, made.data, hidden, labels).as_document(resource))


def _report(found: Export, items: list[Document]) -> Document:
    return {
        "apiVersion": API_VERSION,
        "kind": "ExportReport",
        "hints": [*found.hints],
        "items": items,
        "problems": [problem.as_document() for problem in found.problems],
    }
