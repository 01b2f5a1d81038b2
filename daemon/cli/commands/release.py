"""`syncret release`: renders a release; prints the skeleton of its values; finds what looks sensitive."""

import sys
from argparse import Namespace
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from syncret.config.errors import Problem, Severity
from syncret.config.manifests.loader import LoadedDocument, load, unreadable
from syncret.config.meta import Document
from syncret.config.text.yaml_values import Limits
from syncret.config.visible import printable
from syncret.daemon.cli.exit_codes import FAILED, INVALID, OK
from syncret.daemon.cli.printing import print_json, print_problem, print_yaml
from syncret.daemon.cli.terminal import print_text
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
    try:
        return _render(options)
    except _RefusedError as error:
        message, hint = error.args
        print_problem(sys.stderr, "release", Problem(path="", message=message, hint=hint))
        return INVALID


def _render(options: Namespace) -> int:
    if options.encrypt_to and options.output_dir is None:
        raise _RefusedError("--encrypt-to needs --output-dir", "encrypted manifests are files")
    parsed = parse(_loaded(options), strict=options.strict)
    if parsed.tags:
        from syncret.daemon.cli.releasing.tag_sources import answers

        parsed = resolved(parsed, answers(parsed, options.resolve))
    result = rendered(parsed)
    written = _written(options, result.items) if options.output_dir is not None and result.items else []
    if options.output == "json":
        print_json(report(parsed, result, show_values=options.show_values), indent=2)
        return _exit_code(parsed)
    _print_problems(problems_of(parsed))
    for path in written:
        print_text(sys.stdout, printable(path))
    if options.output_dir is None:
        for item in shown(result.items, show_values=options.show_values):
            print_yaml(item)
    return _exit_code(parsed)


class _RefusedError(Exception):
    """The files cannot be written: a message, and a hint."""


def _loaded(options: Namespace) -> list[LoadedDocument]:
    """The documents; those in SOPS's format are decrypted."""
    loaded: list[LoadedDocument] = []
    plain = [path for path in options.file if not _is_cue(path)]
    if len(plain) < len(options.file):
        from syncret.daemon.cli.releasing.cue import exported

        for path in options.file:
            loaded += load([path], LIMITS) if path in plain else exported(path, LIMITS)
    else:
        loaded = load(plain, LIMITS)
    if any(each.document is not None and "sops" in each.document for each in loaded):
        from syncret.daemon.cli.releasing.encrypted_files import decrypted

        return decrypted(loaded, options.identity)
    return loaded


def _is_cue(path: str) -> bool:
    """Whether a path is a file of CUE, or a folder with one."""
    return path.endswith(".cue") or (Path(path).is_dir() and any(Path(path).glob("*.cue")))


def _written(options: Namespace, items: Sequence[Document]) -> list[str]:
    """The paths of the files that were written. Raises _RefusedError."""
    from syncret.daemon.cli.releasing import output_folder
    from syncret.daemon.cli.releasing.age import AgeError

    folder = Path(options.output_dir)
    secrets = output_folder.plain_secrets(items)
    if secrets and not options.encrypt_to and not options.show_values:
        message = f"the Secret {secrets[0]} holds values, which no file gets in plain text unless asked for"
        raise _RefusedError(message, "add --encrypt-to RECIPIENT, or --show-values")
    try:
        files = output_folder.rendered(items, options.encrypt_to)
        gone = output_folder.left_over(folder, items)
        output_folder.write(folder, files, gone)
    except AgeError as error:
        raise _RefusedError(error.message, error.hint) from None
    except (OSError, ValueError) as error:
        problem = unreadable(error)
        message = problem.message.replace("cannot be read", "cannot be written")
        raise _RefusedError(f"--output-dir: {message}", problem.hint) from None
    for path in gone:
        print_text(sys.stderr, printable(f"{path}: removed, the release makes it no more"))
    return [str(folder / name) for name in files]


def _exit_code(parsed: Parsed) -> int:
    if not any(each.problem.fatal for each in problems_of(parsed)):
        return OK
    return FAILED if parsed.findings.undelivered_only else INVALID


def _print_problems(found: Iterable[Reported]) -> None:
    for file, problem in found:
        print_problem(sys.stderr, file, problem)


def _skeleton(options: Namespace) -> int:
    """The values file of a module; its own mistakes refuse it."""
    module = declared(_loaded(options))
    problems = module.problems
    _print_problems(problems)
    if any(each.problem.fatal for each in problems):
        return INVALID
    sys.stdout.write(skeleton(module.documents.name, module.config, module.requires))
    return OK


def _lint(options: Namespace) -> int:
    """Warnings about fields that should be sensitive."""
    module = declared(_loaded(options))
    linter = Linter(module.findings)
    values = spec_of(module.documents.release).get("values")
    linter.check(module.config, values)
    linter.check(module.requires, module.bound)
    problems = module.problems
    if options.output == "json":
        metadata = {"name": module.documents.instance}
        documents = [as_document(each) for each in problems]
        head = {"apiVersion": API_VERSION, "kind": "ReleaseReport", "metadata": metadata}
        print_json({**head, "items": [], "problems": documents, "secrets": []}, indent=2)
    else:
        _print_problems(problems)
    severities = {each.problem.severity for each in problems}
    refused = {Severity.ERROR, Severity.WARNING} if options.strict else {Severity.ERROR}
    return INVALID if severities & refused else OK
