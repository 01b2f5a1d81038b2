import pytest

from syncret.daemon.engine.reconciler import Failure
from syncret.daemon.engine.retry import Backoff
from syncret.daemon.homes.contract import StorageUnavailable
from syncret.providers.errors import Denied, Malformed, SyncError, Throttled, Unavailable


@pytest.mark.parametrize(
    ("failures", "failure", "expected"),
    [
        pytest.param(1, Unavailable("x"), 1, id="first"),
        pytest.param(4, Unavailable("x"), 8, id="doubling"),
        pytest.param(20, Unavailable("x"), 300, id="bounded"),
        pytest.param(10**6, Unavailable("x"), 300, id="bounded after a year"),
        pytest.param(1, SyncError("x"), 1, id="unknown"),
        pytest.param(2, StorageUnavailable("x"), 2, id="the home"),
        pytest.param(1, Denied("x"), 32, id="denied is slow"),
        pytest.param(1, Malformed("x"), 32, id="malformed is slow"),
        pytest.param(9, Denied("x"), 300, id="and bounded"),
        pytest.param(1, Throttled("x"), 1, id="throttled without a word"),
        pytest.param(1, Throttled("x", retry_after=50), 50, id="the server's word"),
        pytest.param(8, Throttled("x", retry_after=50), 128, id="backoff is longer"),
        pytest.param(1, Throttled("x", retry_after=4000), 4000, id="the server may ask for more"),
    ],
)
def test_pauses(failures: int, failure: Failure, expected: float) -> None:
    backoff = Backoff(1, 300)
    assert backoff.pause(failures, failure) == expected
    assert backoff.pause(failures, failure, chance=1.0) == pytest.approx(expected * 1.2)
