"""The contract of providers as a suite for pytest: a subclass for each provider, with a fixture `harness`.

class TestAcme(ProviderSuite):
    @pytest.fixture
    def harness(self) -> Harness: ...

A harness that needs something running, such as a server, is opened in the loop of each case: the fixture
returns an async context manager of it. pytest needs neither a plugin nor a setting.
"""

import pytest

# Before they are imported, so that a failed assertion shows its values.
pytest.register_assert_rewrite(
    *(f"{__name__}.{name}" for name in ("calls", "failing", "finding", "pushing", "reading", "running"))
)

from syncret.providers.testing.failing import FailingCases  # noqa: E402
from syncret.providers.testing.finding import FindingCases  # noqa: E402
from syncret.providers.testing.harness import Ability, Entry, Fault, Harness, HoldsText  # noqa: E402
from syncret.providers.testing.opened import NOW, Clock, Given, context  # noqa: E402
from syncret.providers.testing.pushing import PushingCases  # noqa: E402
from syncret.providers.testing.reading import ReadingCases  # noqa: E402

__all__ = [
    "NOW",
    "Ability",
    "Clock",
    "Entry",
    "Fault",
    "Given",
    "Harness",
    "HoldsText",
    "ProviderSuite",
    "context",
]


class ProviderSuite(ReadingCases, FindingCases, PushingCases, FailingCases):
    """The behaviour that the engine counts on."""
