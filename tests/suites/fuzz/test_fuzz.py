"""A short run of each target; `make fuzz` takes ten minutes."""

import pytest

from tests.suites.fuzz.run import fuzzed
from tests.suites.fuzz.targets import TARGETS

pytestmark = pytest.mark.slow


LONG = {"large", "daemon"}
"""Need minutes to find anything."""


@pytest.mark.parametrize("target", [name for name in TARGETS if name not in LONG])
def test_nothing_but_documented_errors(target: str) -> None:
    result = fuzzed(target, "1", 10 / len(TARGETS))
    assert not result.failed, str(result)
    assert result.cases > 10
