"""Which state of a cluster is sent back: the newest that was seen."""

from base64 import b64encode

import pytest

from syncret.providers.kit.vault.wire import Index


def state(local: int, replicated: int = 0, cluster: str = "c") -> str:
    return b64encode(f"v1:{cluster}:{local}:{replicated}:mac".encode()).decode()


@pytest.mark.parametrize(
    ("seen", "kept"),
    [
        pytest.param([state(1), state(3)], state(3), id="newer"),
        pytest.param([state(3), state(1)], state(3), id="a node that lags"),
        pytest.param([state(3), state(4, cluster="d")], state(4, cluster="d"), id="another cluster"),
        pytest.param([state(3, 1), state(2, 2)], state(2, 2), id="neither reaches the other"),
        pytest.param([state(3), "canary", "djE6eA==", None, ""], state(3), id="what is no state"),
    ],
)
def test_the_newest_state_is_kept(seen: list[str | None], kept: str) -> None:
    index = Index()
    for each in seen:
        index.note(each)

    assert index.headers() == {"X-Vault-Index": kept}


def test_before_anything_was_seen_nothing_is_sent() -> None:
    assert Index().headers() == {}
