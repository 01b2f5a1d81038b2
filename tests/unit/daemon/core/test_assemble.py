"""From answers to data: order, absence, failure, new names for keys."""

from collections.abc import Callable

import msgspec
import pytest

from syncret.config.fields import Json
from syncret.config.resources.external_secret import (
    ExternalSecretSpec,
    Rewrite,
    RewriteMerge,
    RewriteRegexp,
    RewriteTransform,
)
from syncret.daemon.core.assemble import assemble, rewrite
from syncret.daemon.core.needs import Answer, Extract, Generate, Need, Read, Search, generators, needs, stores
from syncret.providers.errors import Malformed, SyncError, Unavailable
from syncret.providers.values import SecretBytes, SecretMap
from syncret.providers.work import Work
from tests.support.templates import no_template

TWO: SecretMap = {"a": SecretBytes(b"map"), "b": SecretBytes(b"map")}
DATA = {"secretKey": "a", "remoteRef": {"key": "k"}}
EXTRACT = {"extract": {"key": "m"}}
FIND = {"find": {"name": {"regexp": "x"}}}


def spec(*, policy: str = "Retain", data: Json = (), data_from: Json = ()) -> ExternalSecretSpec:
    whole = {
        "secretStoreRef": {"name": "s"},
        "target": {"deletionPolicy": policy},
        "data": list(data),
        "dataFrom": list(data_from),
    }
    return msgspec.convert(whole, ExternalSecretSpec)


def answered(wanted: ExternalSecretSpec, *answers: Answer) -> dict[Need, Answer]:
    return dict(zip(needs(wanted), answers, strict=True))


def test_later_entries_are_laid_over_earlier_ones_and_data_on_top() -> None:
    wanted = spec(data=[DATA], data_from=[EXTRACT, {"extract": {"key": "n"}}])
    found = assemble(
        wanted,
        answered(wanted, TWO, {"b": SecretBytes(b"2")}, SecretBytes(b"one")),
        Work(),
        transform=no_template,
    )
    assert found.data == {"a": b"one", "b": b"2"}
    assert found.origins == {"a": "spec.data[0]", "b": "spec.dataFrom[1]"}


@pytest.mark.parametrize("policy", ["Delete", "Merge"])
def test_absence_is_data(policy: str) -> None:
    wanted = spec(policy=policy, data=[DATA], data_from=[EXTRACT])
    found = assemble(wanted, answered(wanted, None, SecretBytes(b"1")), Work(), transform=no_template)
    assert found.data == {"a": b"1"}
    assert found.missing == ["spec.dataFrom[0]"]


@pytest.mark.parametrize(
    ("data", "data_from", "place"),
    [
        pytest.param([DATA], [], "spec.data[0]", id="a value"),
        pytest.param([], [EXTRACT], "spec.dataFrom[0]", id="a map"),
        pytest.param([], [FIND], "spec.dataFrom[0]", id="a path"),
    ],
)
def test_absence_is_a_failure_for_who_retains(data: Json, data_from: Json, place: str) -> None:
    wanted = spec(data=data, data_from=data_from)
    with pytest.raises(Malformed) as failed:
        assemble(wanted, answered(wanted, None), Work(), transform=no_template)
    assert failed.value.place == place


@pytest.mark.parametrize("policy", ["Delete", "Merge", "Retain"])
@pytest.mark.parametrize("wanted", [{"data": [DATA]}, {"data_from": [EXTRACT]}])
def test_failure_is_not_absence(policy: str, wanted: Json) -> None:
    asked = spec(policy=policy, **wanted)
    error = Unavailable("away")
    with pytest.raises(Unavailable, match="away") as failed:
        assemble(asked, answered(asked, error), Work(), transform=no_template)
    assert failed.value.place
    assert not error.place, "one failed call may answer many"


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param(DATA | {"remoteRef": {"key": "k", "decodingStrategy": "Base64"}}, id="decoding"),
        pytest.param(DATA | {"remoteRef": {"key": "k", "nullBytePolicy": "Fail"}}, id="null bytes"),
    ],
)
def test_what_cannot_be_used_is_told_without_its_value(entry: Json) -> None:
    wanted = spec(data=[entry])
    with pytest.raises(SyncError) as failed:
        assemble(wanted, answered(wanted, SecretBytes(b"planted\0!")), Work(), transform=no_template)
    assert "planted" not in str(failed.value)
    assert failed.value.place == "spec.data[0]"


def test_a_value_and_a_map_of_one_place_are_two_needs() -> None:
    wanted = spec(data=[DATA], data_from=[{"extract": {"key": "k"}}])
    assert [type(need) for need in needs(wanted)] == [Extract, Read]
    found = assemble(wanted, answered(wanted, TWO, SecretBytes(b"whole")), Work(), transform=no_template)
    assert found.data == {"a": b"whole", "b": b"map"}


def test_a_generator_in_data_leaves_no_store_to_read() -> None:
    generator = {"generatorRef": {"kind": "UUID", "name": "g"}}
    (need,) = needs(spec(data=[DATA | {"sourceRef": generator}]))
    assert isinstance(need, Read)
    assert need.store == ("SecretStore", "")


def test_needs_are_asked_once_and_before_anything_is_known() -> None:
    find = {"find": {"name": {"regexp": "."}}, "sourceRef": {"storeRef": {"name": "t"}}}
    generator = {"sourceRef": {"generatorRef": {"kind": "UUID", "name": "g"}}}
    wanted = spec(
        data=[DATA, DATA | {"secretKey": "b"}], data_from=[find, EXTRACT, EXTRACT, generator, generator, {}]
    )
    assert [type(need) for need in needs(wanted)] == [Search, Extract, Generate, Generate, Read]
    assert list(map(str, stores(wanted))) == ["SecretStore/s", "SecretStore/t"]
    assert [ref.name for ref in generators(wanted)] == ["g"]


CANARY = "canary-7f3a"


def regexp(source: str, target: str) -> Rewrite:
    return Rewrite(regexp=RewriteRegexp(source=source, target=target))


A = {"a": '{"u":"1","n":1.50}'}
AB = {"b": '{"u":"from-b"}', "a": '{"u":"from-a","x":null}'}


@pytest.mark.parametrize(
    ("operations", "values", "expected"),
    [
        pytest.param([], {"a": "1"}, {"a": "1"}, id="nothing to do"),
        pytest.param([Rewrite()], {"a": "1"}, {"a": "1"}, id="an empty operation"),
        pytest.param([regexp("^db/", "")], {"db/user": "1", "x": "2"}, {"user": "1", "x": "2"}, id="regexp"),
        pytest.param([regexp(".*", "same")], {"a": "1", "b": "2"}, {"same": "2"}, id="the last key wins"),
        pytest.param([regexp("a", "b"), regexp("b", "c")], {"a": "1"}, {"c": "1"}, id="one upon the other"),
        pytest.param([Rewrite(merge=RewriteMerge())], A, {"u": "1", "n": "1.5"}, id="extract"),
        pytest.param([Rewrite(merge=RewriteMerge())], {"a": "null"}, {}, id="null is an empty object"),
        pytest.param([Rewrite(merge=RewriteMerge())], {}, {}, id="nothing to merge"),
        pytest.param(
            [Rewrite(merge=RewriteMerge(conflict_policy="Ignore"))],
            AB,
            {"u": "from-b", "x": ""},
            id="alphabetical order",
        ),
        pytest.param(
            [Rewrite(merge=RewriteMerge(conflict_policy="Ignore", priority=("a",)))],
            AB,
            {"u": "from-a", "x": ""},
            id="priority comes last and wins",
        ),
        pytest.param(
            [Rewrite(merge=RewriteMerge(priority=("nope", "a"), priority_policy="IgnoreNotFound"))],
            A,
            {"u": "1", "n": "1.5"},
            id="missing priority ignored",
        ),
        pytest.param(
            [Rewrite(merge=RewriteMerge(strategy="JSON", into="m"))],
            {"a": '{"n":1.50,"k":"<&>"}', "b": '{"z":null}'},
            {"a": '{"n":1.50,"k":"<&>"}', "b": '{"z":null}', "m": '{"k":"<&>","n":1.5,"z":null}'},
            id="json into a new key",
        ),
    ],
)
def test_rewrites(operations: list[Rewrite], values: dict[str, str], expected: dict[str, str]) -> None:
    rewritten = rewrite(
        operations, {key: value.encode() for key, value in values.items()}, Work(), transform=no_template
    )

    assert {key: value.decode() for key, value in rewritten.items()} == expected


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        pytest.param(regexp("(", "x"), "failed to compile", id="broken expression"),
        pytest.param(regexp("a(?=b)", "x"), "failed to compile", id="expression that RE2 does not have"),
        pytest.param(Rewrite(merge=RewriteMerge()), "merge failed with conflicts: u", id="conflict"),
        pytest.param(
            Rewrite(merge=RewriteMerge(priority=("a",))), "conflicts: u", id="priority settles no conflict"
        ),
        pytest.param(
            Rewrite(merge=RewriteMerge(priority=("x",))), '"x" not found in input map', id="priority missing"
        ),
        pytest.param(
            Rewrite(merge=RewriteMerge(strategy="JSON", conflict_policy="Ignore")),
            "missing 'into' field",
            id="no target",
        ),
    ],
)
def test_refuses(operation: Rewrite, message: str) -> None:
    with pytest.raises(Malformed, match=f"^failed rewrite operation\\[1\\]: .*{message}"):
        rewrite(
            [Rewrite(), operation],
            {key: value.encode() for key, value in AB.items()},
            Work(),
            transform=no_template,
        )


@pytest.mark.parametrize("value", [f'{{"a": "{CANARY}"', f'["{CANARY}"]', f'"{CANARY}"'])
def test_a_value_that_is_no_object_is_named_by_its_key_only(value: str) -> None:
    with pytest.raises(Malformed, match="key 'a': failed to unmarshal JSON") as caught:
        rewrite([Rewrite(merge=RewriteMerge())], {"a": value.encode()}, Work(), transform=no_template)

    error: BaseException | None = caught.value
    while error is not None:
        assert CANARY not in f"{error!r} {error} {vars(error)}"
        error = error.__cause__ or error.__context__


def test_transforms_by_the_function_that_is_given() -> None:
    def upper(template: str) -> Callable[[str], str]:
        assert template == "{{ .value | upper }}"
        return str.upper

    operations = [Rewrite(transform=RewriteTransform(template="{{ .value | upper }}"))]

    assert rewrite(operations, {"a": b"1"}, Work(), transform=upper) == {"A": b"1"}
