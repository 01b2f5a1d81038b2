"""What is pushed to one store: explicit entries, expanded ones, and every collision found first."""

from typing import Any

import msgspec
import pytest

from syncret.config.fields import Json
from syncret.config.resources.push_secret import PushSecretSpec
from syncret.daemon.core.push_entries import (
    PushEntry,
    Store,
    check_selectors,
    check_store_refs,
    entries,
    payload,
)
from syncret.providers.errors import Malformed
from syncret.providers.pushes import RemoteTarget
from syncret.providers.work import Work
from tests.support.templates import no_template

STORE = Store("SecretStore", "s", frozenset({("push", "yes")}))
SOURCE = {"a": b"1", "b": b"2", "c_U0021_": b"3"}


def spec(*data_to: Json, data: Json = ()) -> PushSecretSpec:
    whole: Json = {
        "secretStoreRefs": [{"name": "s"}],
        "selector": {},
        "dataTo": list(data_to),
        "data": list(data),
    }
    return msgspec.convert(whole, PushSecretSpec)


def to_store(**rest: Json) -> Json:
    return {"storeRef": {"name": "s"}, **rest}


def entry(remote: str, key: str = "a", prop: str = "", **rest: Json) -> Json:
    return {"match": {"secretKey": key, "remoteRef": {"remoteKey": remote, "property": prop}}, **rest}


def pushed(found: tuple[PushEntry, ...]) -> dict[str, str]:
    return {each.status_key: each.secret_key for each in found}


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        pytest.param(spec(data=[entry("r")]), {"r": "a"}, id="one entry"),
        pytest.param(spec(data=[entry("r", "", "p")]), {"r/p": ""}, id="the whole Secret to a property"),
        pytest.param(
            spec(to_store()), {"a": "a", "b": "b", "c_U0021_": "c_U0021_"}, id="every key under its own name"
        ),
        pytest.param(
            spec(to_store(conversionStrategy="ReverseUnicode", match={"regexp": "!"})),
            {"c!": "c_U0021_"},
            id="matched by the converted name, taken by the original one",
        ),
        pytest.param(spec(to_store(match={"regexp": "nothing"})), {}, id="matches nothing"),
        pytest.param(
            spec(to_store(match={"regexp": "nothing"}, remoteKey="r")), {}, id="an empty bundle is none"
        ),
        pytest.param(
            spec(to_store(match={"regexp": "^[ab]$"}, rewrite=[{"regexp": {"source": "^", "target": "x/"}}])),
            {"x/a": "a", "x/b": "b"},
            id="renamed",
        ),
        pytest.param(
            spec(to_store(match={"regexp": "^[ab]$"}), data=[entry("other")]),
            {"b": "b", "other": "a"},
            id="an explicit entry takes its key out of the expanded ones",
        ),
        pytest.param(
            spec(to_store(), data=[entry("r", "c!", conversionStrategy="ReverseUnicode")]),
            {"a": "a", "b": "b", "r": "c!"},
            id="also where it names it as converted",
        ),
        pytest.param(spec({"storeRef": {"name": "t"}}), {}, id="meant for another store"),
        pytest.param(
            spec({"storeRef": {"kind": "ClusterSecretStore", "name": "s"}}), {}, id="meant for another kind"
        ),
        pytest.param(
            spec({"storeRef": {"labelSelector": {"matchLabels": {"push": "yes"}}}, "match": {"regexp": "a"}}),
            {"a": "a"},
            id="meant by labels",
        ),
    ],
)
def test_entries(wanted: PushSecretSpec, found: dict[str, str]) -> None:
    assert pushed(entries(wanted, SOURCE, STORE, Work(), transform=no_template)) == found


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        pytest.param(
            spec(data=[entry("r"), entry("r", "b")]),
            'failed to merge data entries: duplicate remote key "r": '
            'source keys "a" and "b" both map to the same destination',
            id="two entries to one place",
        ),
        pytest.param(
            spec(data=[entry("r", "a", "p"), entry("r", "b", "p")]),
            'failed to merge data entries: duplicate remote key "r" with property "p": '
            'source keys "a" and "b" both map to the same destination',
            id="two entries to one property",
        ),
        pytest.param(
            spec(to_store(match={"regexp": "^a$"}), to_store(match={"regexp": "^a$"})),
            'failed to expand dataTo: dataTo[1]: duplicate remote key "a" from source key "a" '
            "(conflicts with dataTo[0]:a)",
            id="two expansions to one place",
        ),
        pytest.param(
            spec(to_store(remoteKey="r"), to_store(remoteKey="r")),
            'failed to expand dataTo: dataTo[1]: duplicate remote key "r" from source key "(bundle)" '
            "(conflicts with dataTo[0]:(bundle))",
            id="two bundles",
        ),
        pytest.param(
            spec(to_store(match={"regexp": "("})),
            'failed to expand dataTo: dataTo[0]: match failed: failed to compile regexp pattern "(": ',
            id="no expression to match",
        ),
        pytest.param(
            spec(to_store(rewrite=[{"regexp": {"source": "(", "target": ""}}])),
            'failed to expand dataTo: dataTo[0]: rewrite failed: rewrite[0]: invalid regexp "(": ',
            id="no expression to rewrite",
        ),
        pytest.param(
            spec(to_store(rewrite=[{"regexp": {"source": ".*", "target": ""}}])),
            'failed to expand dataTo: dataTo[0]: empty remote key produced for source key "a"',
            id="renamed to nothing",
        ),
    ],
)
def test_refused_before_anything_is_pushed(wanted: PushSecretSpec, message: str) -> None:
    with pytest.raises(Malformed) as refused:
        entries(wanted, SOURCE, STORE, Work(), transform=no_template)
    assert str(refused.value).startswith(message)


def test_keys_that_convert_to_one_are_refused() -> None:
    source = {"a!": b"1", "a_U0021_": b"2"}
    with pytest.raises(Malformed, match=r"conversion failed: secret name collision during conversion: a!$"):
        entries(
            spec(to_store(conversionStrategy="ReverseUnicode")), source, STORE, Work(), transform=no_template
        )
    (one,) = entries(
        spec(data=[entry("r", "a!", conversionStrategy="ReverseUnicode")]),
        source,
        STORE,
        Work(),
        transform=no_template,
    )
    with pytest.raises(Malformed, match=r"^could not apply conversion strategy to keys: "):
        payload(one, source, Work())


@pytest.mark.parametrize(
    ("found", "value"),
    [
        pytest.param(
            entries(spec(data=[entry("r")]), SOURCE, STORE, Work(), transform=no_template), b"1", id="one key"
        ),
        pytest.param(
            entries(
                spec(data=[entry("r", "")]), {"b": b"<2>", "a": b"1"}, STORE, Work(), transform=no_template
            ),
            b'{"a":"1","b":"2","c_U0021_":"3"}',
            id="all keys, in order",
        ),
        pytest.param(
            entries(
                spec(to_store(remoteKey="r", match={"regexp": "^[ab]$"})),
                SOURCE,
                STORE,
                Work(),
                transform=no_template,
            ),
            b'{"a":"1","b":"2"}',
            id="a bundle holds what matched",
        ),
    ],
)
def test_payload(found: tuple[PushEntry, ...], value: bytes) -> None:
    assert payload(found[0], SOURCE, Work()).raw == value


def test_a_key_that_is_missing_is_told_without_a_value() -> None:
    (one,) = entries(spec(data=[entry("r", "none")]), SOURCE, STORE, Work(), transform=no_template)
    with pytest.raises(Malformed, match=r"^secret key none does not exist$"):
        payload(one, {"a": b"planted"}, Work())


def test_the_status_keeps_enough_to_delete_again() -> None:
    kept = PushEntry("a", RemoteTarget("r", "p"), {"x": 1}, "None").as_data()
    assert kept.match.remote_ref.remote_key == "r"
    assert kept.match.remote_ref.property == "p"
    assert kept.metadata == {"x": 1}


CHECKS: list[Any] = [
    pytest.param({}, "dataTo[0]: storeRef is required", id="no store"),
    pytest.param(
        {"storeRef": {}}, "dataTo[0]: storeRef must have name or labelSelector", id="an empty store"
    ),
    pytest.param(
        {"storeRef": {"name": "t"}}, 'dataTo[0]: storeRef "t" not found in secretStoreRefs', id="not listed"
    ),
    pytest.param(
        {"storeRef": {"kind": "ClusterSecretStore", "name": "s"}},
        'dataTo[0]: storeRef "s" not found in secretStoreRefs',
        id="of another kind",
    ),
]


@pytest.mark.parametrize(("data_to", "message"), CHECKS)
def test_store_refs(data_to: Json, message: str) -> None:
    with pytest.raises(Malformed) as refused:
        check_store_refs(spec(data_to))
    assert str(refused.value) == message


def test_a_selector_that_matches_no_store_is_told() -> None:
    selecting = spec({"storeRef": {"labelSelector": {"matchLabels": {"push": "yes"}}}})
    check_store_refs(selecting)
    check_selectors(selecting, [STORE])
    with pytest.raises(Malformed, match="does not match any store"):
        check_selectors(selecting, [Store("SecretStore", "s")])
