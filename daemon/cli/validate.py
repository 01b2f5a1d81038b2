"""`syncret validate`: judge every document of some files as an API server and the admission webhooks would."""

import sys
from argparse import Namespace
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from syncret.config.decode import Judged, judge
from syncret.config.errors import Problem
from syncret.config.loader import LoadedDocument, load
from syncret.config.meta import Document
from syncret.config.references import missing_references
from syncret.daemon.cli.main import EXIT_INVALID, EXIT_OK
from syncret.daemon.core.redact import redacted
from syncret.providers.registry import Registry

API_VERSION = "syncret.dev/v1alpha1"


def run(options: Namespace) -> int:
    """Print the report; exit 2 where anything is an error."""
    registry = Registry()
    loaded = load(options.manifests)
    judged = [
        judge(document.document, registry) if document.document is not None else Judged()
        for document in loaded
    ]
    dangling = missing_references([each.document for each in judged if each.document is not None])
    reports = [
        (document, verdict, _problems(document, verdict, dangling))
        for document, verdict in zip(loaded, judged, strict=True)
    ]
    if options.output == "json":
        _print_json(reports, show_values=options.show_values)
    else:
        _print_text(reports)
    return (
        EXIT_INVALID if any(problem.fatal for _, _, problems in reports for problem in problems) else EXIT_OK
    )
