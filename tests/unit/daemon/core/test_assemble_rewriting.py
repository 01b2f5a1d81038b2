"""New names for keys, and several values made one."""

from collections.abc import Callable

import pytest

from syncret.config.resources.external_secret import Rewrite, RewriteMerge, RewriteRegexp, RewriteTransform
from syncret.daemon.core.assemble import rewrite
from syncret.providers.errors import Malformed
from tests.support.templates import no_template

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
        operations, {key: value.encode() for key, value in values.items()}, transform=no_template
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
            [Rewrite(), operation], {key: value.encode() for key, value in AB.items()}, transform=no_template
        )


@pytest.mark.parametrize("value", [f'{{"a": "{CANARY}"', f'["{CANARY}"]', f'"{CANARY}"'])
def test_a_value_that_is_no_object_is_named_by_its_key_only(value: str) -> None:
    with pytest.raises(Malformed, match="key 'a': failed to unmarshal JSON") as caught:
        rewrite([Rewrite(merge=RewriteMerge())], {"a": value.encode()}, transform=no_template)

    error: BaseException | None = caught.value
    while error is not None:
        assert CANARY not in f"{error!r} {error} {vars(error)}"
        error = error.__cause__ or error.__context__


def test_transforms_by_the_function_that_is_given() -> None:
    def upper(template: str) -> Callable[[str], str]:
        assert template == "{{ .value | upper }}"
        return str.upper

    operations = [Rewrite(transform=RewriteTransform(template="{{ .value | upper }}"))]

    assert rewrite(operations, {"a": b"1"}, transform=upper) == {"A": b"1"}
