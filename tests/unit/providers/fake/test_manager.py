"""The secret manager in memory."""

import pytest

from syncret.providers.errors import Malformed
from syncret.providers.fake.manager import SecretManager, Seed
from syncret.providers.work import Work


def manager(*seeds: Seed) -> SecretManager:
    made = SecretManager()
    made.seed(seeds)
    return made


def test_versions_are_exact() -> None:
    versions = manager(Seed("a", "old", "v1"), Seed("a", "new", "v2"))

    assert versions.get("a", "v1") == b"old"
    assert versions.get("a") is None


def test_find_takes_the_version_that_sorts_last() -> None:
    versions = manager(
        Seed("a", "ten", "v10"), Seed("a", "two", "v2"), Seed("a", "plain"), Seed("b", "other")
    )

    assert versions.find(lambda key: key == "a") == {"a": b"two"}


def test_a_key_of_the_spec_is_never_overwritten_or_removed() -> None:
    seeded = manager(Seed("a", "static"))

    with pytest.raises(Malformed, match=r"^key already exists$"):
        seeded.put("a", b"new", Work())
    assert not seeded.remove("a", Work())
    assert seeded.get("a") == b"static"


def test_a_key_with_versions_only_can_be_pushed_to() -> None:
    seeded = manager(Seed("a", "old", "v1"))

    assert seeded.put("a", b"pushed", Work())
    assert (seeded.get("a"), seeded.get("a", "v1")) == (b"pushed", b"old")


def test_what_was_pushed_outlives_a_new_seed() -> None:
    kept = manager(Seed("a", "1"))
    kept.put("b", b"pushed", Work())
    kept.put("c", b"pushed", Work())
    kept.seed([Seed("c", "from the spec")])

    assert (kept.get("a"), kept.get("b"), kept.get("c")) == (None, b"pushed", b"from the spec")


def test_entries_that_are_not_of_a_spec_can_be_changed() -> None:
    stand_in = SecretManager([Seed("a", "1")])

    assert stand_in.put("a", b"2", Work())
    assert stand_in.get("a") == b"2"
    assert stand_in.remove("a", Work())
    assert not stand_in.has("a", Work())


def test_an_unchanged_value_is_no_write() -> None:
    pushed = SecretManager()

    assert [pushed.put("a", value, Work()) for value in (b"1", b"1", b"2")] == [True, False, True]
    assert [pushed.put("o", b"1", Work(), name) for name in "xxy"] == [True, False, True]


def test_properties_join_an_object_and_leave_the_rest_as_it_was() -> None:
    pushed = SecretManager([Seed("a", '{"z": 1.50, "b": { "c" : 1 }}')])
    pushed.put("a", b'<"\xff>', Work(), "new")

    assert pushed.get("a") == b'{"b":{ "c" : 1 },"new":"<\\"\\ufffd>","z":1.50}'


@pytest.mark.parametrize("value", ["text", "[1]", '"x"'])
def test_only_an_object_has_properties(value: str) -> None:
    pushed = SecretManager([Seed("a", value)])

    with pytest.raises(Malformed, match="a is not a JSON object"):
        pushed.put("a", b"1", Work(), "x")
    assert not pushed.remove("a", Work(), "x")
    assert not pushed.has("a", Work(), "x")


def test_an_entry_goes_with_its_last_property() -> None:
    pushed = SecretManager()
    pushed.put("a", b"1", Work(), "x")
    pushed.put("a", b"2", Work(), "y")

    assert pushed.remove("a", Work(), "x")
    assert (pushed.has("a", Work(), "x"), pushed.has("a", Work(), "y"), pushed.has("a", Work())) == (
        False,
        True,
        True,
    )
    assert pushed.remove("a", Work(), "y")
    assert not pushed.has("a", Work())
    assert not pushed.remove("a", Work(), "y")


def test_it_shows_no_values() -> None:
    assert repr(manager(Seed("a", "canary"))) == "<SecretManager 1 entries, 1 of them seeded>"
