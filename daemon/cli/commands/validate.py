"""`syncret validate`: checks documents as an API server and the admission webhooks would."""

import os
import sys
from argparse import Namespace
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from syncret.config.errors import Problem
from syncret.config.manifests.loader import LoadedDocument, load
from syncret.config.manifests.references import missing_references
from syncret.config.meta import Document, member, ref_of
from syncret.config.schema.admission import AdmissionResult, admit
from syncret.config.visible import printable
from syncret.daemon.cli.exit_codes import INVALID, OK
from syncret.daemon.cli.printing import describe_problem, print_json
from syncret.daemon.cli.settings import common_settings, run_guarded
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


def run(options: Namespace) -> int:
    """Print the report; exit 2 if there is an error."""
    return run_guarded(lambda: _run(options))


def _run(options: Namespace) -> int:
    rules = Rules.of(common_settings(options), os.environ)
    items = validate_files(load(options.manifests), rules)
    if options.output == "json":
        print_json(_report(items, show_values=options.show_values), indent=2)
    else:
        _print_text(items)
    return INVALID if any(problem.fatal for item in items for problem in item.problems) else OK


def validate_files(loaded: Sequence[LoadedDocument], rules: Rules) -> list[_Item]:
    """The problems of every document; references are looked up among all of them."""
    registry = Registry()
    results = [
        AdmissionResult() if each.document is None else admit(each.document, registry) for each in loaded
    ]
    dangling = missing_references([each.document for each in results if each.document is not None])
    items: list[_Item] = []
    for each, result in zip(loaded, results, strict=True):
        found = [*each.problems, *result.problems]
        receivers: tuple[Verdict, ...] = ()
        if result.unknown_kind is not None:
            found.append(result.unknown_kind)
        elif result.kind is not None and result.document is not None and result.accepted:
            found += dangling.get(ref_of(result.document), ())
            receivers = tuple(verdicts_of(result.document, registry, rules))
            found += [
                Problem(path=verdict.receiver.path, message=verdict.reason, hint=verdict.hint)
                for verdict in receivers
                if not verdict.allowed
            ]
        items.append(_Item(each, result, each.located(found), receivers))
    return items


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
        "problems": [problem.as_document() for problem in item.problems],
    }
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
    problems = [(item.loaded.file, problem) for item in items for problem in item.problems]
    for file, problem in problems:
        sys.stdout.write(describe_problem(file, problem) + "\n")
    for item in items:
        for verdict in item.receivers:
            if verdict.allowed and not verdict.usual:
                path = verdict.receiver.path
                place = f"{item.loaded.file}:{item.loaded.line_of(path)}"
                sys.stdout.write(printable(f"{place}: information: {path}: {verdict}") + "\n")
    errors = sum(problem.fatal for _, problem in problems)
    documents = sum(item.loaded.line > 0 for item in items)  # an unreadable file has line 0
    counts = (documents, "document"), (errors, "error"), (len(problems) - errors, "warning")
    total, *found = (f"{count} {thing}{'' if count == 1 else 's'}" for count, thing in counts)
    sys.stderr.write(f"{total}: {', '.join(found)}\n")
