"""What a key names."""

import pytest

from syncret.providers.errors import Malformed
from syncret.providers.ibm.refs import Place, place_of

ID = "d5deb37a-7883-4fe2-a5e7-3c15420adc76"


@pytest.mark.parametrize(
    ("key", "expected", "is_id"),
    [
        pytest.param(ID, Place("", "arbitrary", ID), True, id="an id"),
        pytest.param(ID.upper(), Place("", "arbitrary", ID.upper()), True, id="an id in capitals"),
        pytest.param(f"kv/{ID}", Place("", "kv", ID), True, id="a type and an id"),
        pytest.param(f"team/kv/{ID}", Place("team", "kv", ID), True, id="a group, a type and an id"),
        pytest.param("team/kv/db", Place("team", "kv", "db"), False, id="a group, a type and a name"),
    ],
)
def test_keys(key: str, expected: Place, is_id: bool) -> None:  # noqa: FBT001  # a column
    assert place_of(key) == expected
    assert place_of(key).is_id is is_id


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        pytest.param("db", "secret group name is missing", id="a name alone"),
        pytest.param("kv/db", "secret group name is missing", id="a type and a name"),
        pytest.param("/kv/db", "secret group name is missing", id="an empty group"),
        pytest.param("a/b/c/d", "secret group name is missing", id="too many parts"),
        pytest.param(f"KV/{ID}", "unknown secret type KV", id="no type"),
        pytest.param(f"/{ID}", "unknown secret type ", id="an empty type"),
    ],
)
def test_keys_that_name_nothing(key: str, expected: str) -> None:
    with pytest.raises(Malformed, match=expected):
        place_of(key)
