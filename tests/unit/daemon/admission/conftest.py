"""The webhook's deadlines are those of an API server; a slow machine may take longer."""

import pytest

from syncret.daemon.admission import server


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answer however late: only the test of a deadline sets one."""
    monkeypatch.setattr(server, "ANSWER_WITHIN", 60.0)
    monkeypatch.setattr(server, "READ_WITHIN", 60.0)
