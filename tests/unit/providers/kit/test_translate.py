import pytest

from syncret.providers.errors import Denied, Malformed, SyncError, Throttled, Unavailable
from syncret.providers.kit.translate import Translation, translated


class SdkError(Exception):
    """The root of an SDK's errors."""


class SdkForbidden(SdkError):
    """A nearer class."""


class SdkBusy(SdkError):
    """Carries what a class cannot say."""

    retry_after = 7.0


def busy(error: SdkBusy) -> SyncError:
    return Throttled("slow down", retry_after=error.retry_after)


TABLE: dict[type[BaseException], Translation] = {
    SdkError: Unavailable,
    SdkForbidden: Denied,
    SdkBusy: busy,
    TimeoutError: Unavailable,
    OSError: Unavailable,
}


@pytest.mark.parametrize(
    ("raised", "expected", "message"),
    [
        pytest.param(SdkError("body"), Unavailable, "reading a failed: SdkError", id="listed"),
        pytest.param(SdkForbidden("body"), Denied, "reading a failed: SdkForbidden", id="the nearest counts"),
        pytest.param(SdkBusy("body"), Throttled, "slow down", id="a function"),
        pytest.param(TimeoutError(), Unavailable, "reading a had no answer in time", id="time is up"),
        pytest.param(ConnectionResetError("x"), Unavailable, "failed: ConnectionResetError", id="inherited"),
    ],
)
def test_errors_are_translated_without_their_text(
    raised: Exception, expected: type[SyncError], message: str
) -> None:
    with pytest.raises(expected, match=message) as caught, translated(TABLE, doing="reading a"):
        raise raised
    assert "body" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("raised", [Malformed("ours"), KeyError("a bug")])
def test_ours_and_what_is_not_listed_pass(raised: Exception) -> None:
    with pytest.raises(type(raised)) as caught, translated(TABLE):
        raise raised
    assert caught.value is raised


def test_what_a_function_knows_is_kept() -> None:
    with pytest.raises(Throttled) as caught, translated(TABLE):
        raise SdkBusy
    assert caught.value.retry_after == 7
