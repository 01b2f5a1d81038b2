"""The corpus of rewrites, through `syncret simulate`: as an ExternalSecret that extracts the map."""

import json
from collections.abc import Mapping, Sequence

import pytest

from syncret.config.meta import Document
from tests.suites.corpus.runners.cases import Case
from tests.suites.corpus.runners.outcome import ran, settle, wait_or_go_on
from tests.suites.corpus.runners.rewrites import mismatches, rewriting
from tests.suites.corpus.runners.simulations import results

pytestmark = pytest.mark.conformance(lane="syncret simulate", files=("rewrite.json",))


@pytest.fixture(scope="module")
def steps(
    chosen: list[Case], tmp_path_factory: pytest.TempPathFactory
) -> Mapping[Case, Sequence[Document] | str]:
    folder = tmp_path_factory.mktemp("rewrite")
    files = {folder / f"case-{number:04}.json": case for number, case in enumerate(chosen)}
    for path, case in files.items():
        path.write_text(json.dumps(rewriting(case, path.stem)), encoding="utf-8")
    return {files[path]: came for path, came in results(list(files), folder).items()}


def test_rewrite(case: Case, steps: Mapping[Case, Sequence[Document] | str]) -> None:
    wait_or_go_on(case)
    settle(case, mismatches(case, ran(steps[case])))
