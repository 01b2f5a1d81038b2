"""`syncret validate`: checks documents as an API server and the admission webhooks would."""

import os
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple

from syncret.config.errors import Problem, Severity
from syncret.config.manifests.bound_folders import absolute, bounds_of, manifest_outside_bounds
from syncret.config.manifests.loader import LoadedDocument, load
from syncret.config.manifests.references import missing_references
from syncret.config.meta import Document, ObjectRef, member, ref_of
from syncret.config.resources.kinds import Kinds
from syncret.config.schema.admission import AdmissionResult, admit
from syncret.config.settings import BoundFolder, Settings
from syncret.config.visible import printable
from syncret.daemon.cli.exit_codes import INVALID, OK
from syncret.daemon.cli.export_checks import ExportChecks
from syncret.daemon.cli.printing import print_json, print_problems
from syncret.daemon.cli.releasing.checks import release_problems
from syncret.daemon.cli.settings import run_guarded, settings_with_manifests
from syncret.daemon.cli.terminal import print_text
from syncret.daemon.core.lint.check import runtime_warnings
from syncret.daemon.core.lint.given import GivenObject
from syncret.daemon.core.own_identity import verdicts_of
from syncret.daemon.core.redact import redacted
from syncret.providers.kit.ambient.rules import Rules, Verdict
from syncret.providers.registry import Registry

API_VERSION: Final = "syncret.dev/v1alpha1"


class _Item(NamedTuple):
    """One document, its result of admission, all of its problems, and where it sends the own identity."""

    loaded: LoadedDocument
    admission: AdmissionResult
    problems: tuple[Problem, ...]
    receivers: tuple[Verdict, ...] = ()
    is_foreign: bool = False
    """It is none of ours: its only problem is the note that says so."""


def run(options: Namespace) -> int:
    """Print the report; exit 2 if there is an error."""
    return run_guarded(lambda: _run(options))


def _run(options: Namespace) -> int:
    settings = settings_with_manifests(options)
    items = validate_files(load(settings.manifest_paths), settings)
    problems = [problem for item in items for problem in item.problems]
    if options.output == "json":
        print_json(_report(items, show_values=options.show_values), indent=2)
    else:
        _print_text(items)
    return INVALID if any(_counts(problem, strict=options.strict) for problem in problems) else OK


def _counts(problem: Problem, *, strict: bool) -> bool:
    """Whether a problem makes the command fail."""
    return problem.fatal or (strict and problem.severity is Severity.WARNING and not problem.upstream)


def validate_files(loaded: Sequence[LoadedDocument], settings: Settings) -> list[_Item]:
    """The problems of every document; references are looked up among all of them."""
    registry = Registry()
    rules, kinds = Rules.of(settings, os.environ), Kinds(registry)
    bound = absolute(settings.bound_folders)
    results = [
        AdmissionResult() if each.document is None else admit(each.document, registry) for each in loaded
    ]
    dangling = missing_references([each.document for each in results if each.document is not None])
    failing = runtime_warnings(_accepted(loaded, results), registry, settings.template_delimiters.pair)
    releases = release_problems(loaded)
    items: list[_Item] = []
    with closing(ExportChecks(settings)) as exports:
        for place, (each, result) in enumerate(zip(loaded, results, strict=True)):
            note = result.foreign(each.file)
            if place in releases:
                items.append(_Item(each, result, each.located([*each.problems, *releases[place]])))
                continue
            if note is not None:
                exported = each.located(exports.warnings(each.document))
                items.append(_Item(each, result, exported or each.located([note]), is_foreign=not exported))
                continue
            found = [*each.problems, *_not_consequent(result.all_problems, each.problems)]
            receivers: tuple[Verdict, ...] = ()
            if result.kind is not None and result.document is not None and result.accepted:
                ref = ref_of(result.document)
                found += (*dangling.get(ref, ()), *failing.get(ref, ()))
                found += _outside(each, ref, result.document, bound, kinds)
                receivers = tuple(verdicts_of(result.document, registry, rules))
                found += [
                    Problem(path=verdict.receiver.path, message=verdict.reason, hint=verdict.hint)
                    for verdict in receivers
                    if not verdict.allowed
                ]
            items.append(_Item(each, result, each.located(found), receivers))
    return items


def _outside(
    loaded: LoadedDocument, ref: ObjectRef, document: Document, bound: Sequence[BoundFolder], kinds: Kinds
) -> Iterator[Problem]:
    """Why the daemon refuses an object whose folder the settings bind to others."""
    folder = bounds_of(_absolute(loaded.file), bound)
    problem = None if folder is None else manifest_outside_bounds(ref, document, folder, kinds)
    if problem is not None:
        yield problem


def _absolute(path: str) -> str:
    return os.path.normpath(Path(path).absolute())


def _not_consequent(problems: Iterable[Problem], causes: Iterable[Problem]) -> Iterator[Problem]:
    """The problems without those of an object of which a field is written twice: only one was looked at."""
    twice = [problem.path for problem in causes if problem.fatal and problem.path]
    for problem in problems:
        if not any(path != problem.path and path.startswith(problem.path) for path in twice):
            yield problem


def _accepted(
    loaded: Sequence[LoadedDocument], results: Sequence[AdmissionResult]
) -> dict[ObjectRef, GivenObject]:
    """The objects that admission accepts; of two that have one name, the first."""
    given: dict[ObjectRef, GivenObject] = {}
    for each, result in zip(loaded, results, strict=True):
        if result.accepted and result.resource is not None:
            given.setdefault(result.resource.ref, GivenObject(f"{each.file}:{each.line}", result.resource))
    return given


def _report(items: Iterable[_Item], *, show_values: bool) -> Document:
    return {
        "apiVersion": API_VERSION,
        "kind": "ValidationReport",
        "items": [_as_document(item, show_values=show_values) for item in items],
    }


def _as_document(item: _Item, *, show_values: bool) -> Document:
    head = _head(item)
    # which fields of an unknown kind are secret is not known, so it cannot be redacted
    document = item.admission.document if item.admission.kind is not None or show_values else None
    report: Document = {
        "file": item.loaded.file,
        "line": item.loaded.line,
        **head,
        "problems": [] if item.is_foreign else [problem.as_document() for problem in item.problems],
    }
    if item.is_foreign:
        return report
    if item.receivers:
        report["receivers"] = [
            {"line": item.loaded.line_of(verdict.receiver.path), **verdict.as_document()}
            for verdict in item.receivers
        ]
    if document is not None:
        report["object"] = document if show_values else redacted(document)
    return report


def _head(item: _Item) -> Document:
    """The identity that the document states, as far as it does."""
    document = item.admission.document or item.loaded.document or {}
    named = member(document, "metadata")
    texts: Document = {
        "apiVersion": document.get("apiVersion"),
        "kind": document.get("kind"),
        "namespace": named.get("namespace"),
        "name": named.get("name"),
    }
    return {key: text if isinstance(text, str) else "" for key, text in texts.items()}


def _print_text(items: Sequence[_Item]) -> None:
    problems = [
        (item.loaded.file, problem) for item in items for problem in item.problems if not problem.upstream
    ]
    print_problems(sys.stdout, problems)
    for item in items:
        for verdict in item.receivers:
            if verdict.allowed and not verdict.usual:
                path = verdict.receiver.path
                place = f"{item.loaded.file}:{item.loaded.line_of(path)}"
                print_text(sys.stdout, printable(f"{place}: information: {path}: {verdict}"))
    documents = sum(item.loaded.line > 0 for item in items)  # an unreadable file has line 0
    of = Counter(problem.severity for _, problem in problems)
    counts = [(documents, "document"), (of[Severity.ERROR], "error"), (of[Severity.WARNING], "warning")]
    if of[Severity.NOTE]:
        counts.append((of[Severity.NOTE], "note"))
    total, *found = (f"{count} {thing}{'' if count == 1 else 's'}" for count, thing in counts)
    print_text(sys.stderr, f"{total}: {', '.join(found)}")
