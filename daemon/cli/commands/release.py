"""`syncret release`: renders a release; prints the skeleton of its values; finds what looks sensitive."""

import sys
from argparse import Namespace
from collections.abc import Iterable
from typing import Final

from syncret.config.errors import Severity
from syncret.config.manifests.loader import load
from syncret.config.text.yaml_values import Limits
from syncret.daemon.cli.exit_codes import FAILED, INVALID, OK
from syncret.daemon.cli.printing import print_json, print_problem, print_yaml
from syncret.daemon.release.compiler import declared, parse, rendered, resolved
from syncret.daemon.release.documents import API_VERSION, spec_of
from syncret.daemon.release.findings import Reported
from syncret.daemon.release.lint import Linter
from syncret.daemon.release.parsed import Parsed
from syncret.daemon.release.report import as_document, problems_of, report, shown
from syncret.daemon.release.skeleton import skeleton

LIMITS: Final = Limits(document=16 * 1024 * 1024, values=1_000_000, depth=250)
"""A values file of a large release is larger than any object that an API server accepts."""


def run(options: Namespace) -> int:
    """Print the manifests or the report. Nothing is half rendered."""
    if options.action == "skeleton":
        return _skeleton(options)
    if options.action == "lint":
        return _lint(options)
    parsed = parse(load(options.file, LIMITS), strict=options.strict)
    if parsed.tags:
        from syncret.daemon.cli.releasing.tag_sources import answers

        parsed = resolved(parsed, answers(parsed, options.resolve))
    result = rendered(parsed)
    if options.output == "json":
        print_json(report(parsed, result, show_values=options.show_values), indent=2)
    else:
        _print_problems(problems_of(parsed))
        for item in shown(result.items, show_values=options.show_values):
            print_yaml(item)
    return _exit_code(parsed)


def _exit_code(parsed: Parsed) -> int:
    if not any(each.problem.fatal for each in problems_of(parsed)):
        return OK
    return FAILED if parsed.findings.undelivered_only else INVALID


def _print_problems(found: Iterable[Reported]) -> None:
    for file, problem in found:
        print_problem(sys.stderr, file, problem)


def _skeleton(options: Namespace) -> int:
    """The values file of a module; its own mistakes refuse it."""
    module = declared(load(options.file, LIMITS))
    problems = module.problems
    _print_problems(problems)
    if any(each.problem.fatal for each in problems):
        return INVALID
    sys.stdout.write(skeleton(module.documents.name, module.config, module.requires))
    return OK


def _lint(options: Namespace) -> int:
    """Warnings about fields that should be sensitive."""
    module = declared(load(options.file, LIMITS))
    linter = Linter(module.findings)
    values = spec_of(module.documents.release).get("values")
    linter.check(module.config, values)
    linter.check(module.requires, module.bound)
    problems = module.problems
    if options.output == "json":
        metadata = {"name": module.documents.instance}
        told = [as_document(each) for each in problems]
        head = {"apiVersion": API_VERSION, "kind": "ReleaseReport", "metadata": metadata}
        print_json({**head, "items": [], "problems": told, "secrets": []}, indent=2)
    else:
        _print_problems(problems)
    severities = {each.problem.severity for each in problems}
    refused = {Severity.ERROR, Severity.WARNING} if options.strict else {Severity.ERROR}
    return INVALID if severities & refused else OK
