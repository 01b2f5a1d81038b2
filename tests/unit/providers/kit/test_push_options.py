"""The mark of pushed entries, and the error for entries without it."""

from collections.abc import Mapping

import pytest

from syncret.providers.errors import Malformed
from syncret.providers.kit.push_options import MARK, check_tags, is_ours, not_ours


@pytest.mark.parametrize(
    ("tags", "ours"),
    [
        pytest.param(MARK, True, id="marked"),
        pytest.param({"team": "a", **MARK}, True, id="marked among others"),
        pytest.param({"managed-by": "terraform"}, False, id="another's"),
        pytest.param({"managed-by": None}, False, id="empty"),
        pytest.param({}, False, id="none"),
        pytest.param(None, False, id="unknown"),
    ],
)
def test_whose_it_is(tags: Mapping[str, str | None] | None, *, ours: bool) -> None:
    assert is_ours(tags) is ours


def test_the_remedy_names_the_entry_and_the_mark() -> None:
    assert not_ours("not ours", "db", "label").hint == (
        "push to another remoteKey, or hand db over with the label managed-by=external-secrets"
    )


def test_an_author_does_not_set_the_mark() -> None:
    check_tags({"team": "a"})
    with pytest.raises(Malformed, match="Cannot specify a 'managed-by' tag"):
        check_tags({"managed-by": "me"})
