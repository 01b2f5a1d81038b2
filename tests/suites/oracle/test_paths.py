"""gjson's paths."""

from collections.abc import Mapping
from typing import cast

from tests.suites.oracle import ours
from tests.suites.oracle.cases import paths
from tests.suites.oracle.client import Answer, Oracle, bytes_of
from tests.suites.oracle.conftest import Share
from tests.suites.oracle.tally import Tally


def test_paths(oracle: Oracle, tally: Tally, share: Share) -> None:
    for chance in share("gjson path", 0.1):
        document, path = paths.document(chance), paths.path(chance)
        told = oracle.ask("path", document=document, path=path)
        theirs = told
        if not told.failed:
            found = cast("Mapping[str, object]", told.result)
            theirs = Answer((found["exists"], bytes_of(found["text"])))
        tally.compare("gjson path", (document, path), theirs, ours.found(document, path))
    tally.check("gjson path")
