"""The corpus of pure functions: decoding, keys, digests, tokens, windows, rewrites, templates."""

import pytest

from tests.suites.corpus.runners.cases import Case
from tests.suites.corpus.runners.functions import mismatches
from tests.suites.corpus.runners.outcome import settle, wait_or_go_on

pytestmark = pytest.mark.conformance(
    lane="function", files=("decode_convert.json", "rewrite.json", "gotemplate.json", "sprig.json")
)


def test_function(case: Case) -> None:
    wait_or_go_on(case)
    settle(case, mismatches(case))
