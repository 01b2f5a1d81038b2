"""What manifests ask for without bound ends within the budget of one sync, with the entry and the limit.

Counted in steps, not timed. `tests/faults/hostile` tries the same on a real daemon.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import pytest
from msgspec import convert

from syncret.config.resources.external_secret import ExternalSecret, ExternalSecretSpec
from syncret.config.resources.push_secret import PushSecretSpec
from syncret.daemon.core.assemble import assemble
from syncret.daemon.core.needs import Answer, needs
from syncret.daemon.core.plan.actions import condition_message
from syncret.daemon.core.plan.external_secret.decide import decide
from syncret.daemon.core.plan.external_secret.next_step import Observed
from syncret.daemon.core.push_entries import Source, Store, store_entries
from syncret.daemon.engine.templates import Templates
from syncret.providers.errors import OverBudget, SyncError
from syncret.providers.generators.password import PasswordSpec, make_password
from syncret.providers.kit import extract
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.golang import jsonpath
from syncret.providers.values import SecretBytes
from syncret.providers.work import Work

TIME: Final = "workTime"
MEMORY: Final = "workMemory"
NUMBERS: Final = b"[" + b",".join([b"1"] * 100_000) + b"]"
NESTED: Final = b'{"a":' * 10 + b"1" + b"}" * 10
NAMES: Final = {f"key-{number}": b"1" for number in range(40_000)}


LIST_OF_KEYS: Final = "[" + ",".join(["0"] * 100) + "]"
OBJECTS: Final = "[" + ",".join(['{"a":[1,2,3]}'] * 5000) + "]"
GROWS: Final = [{"regexp": {"source": f"\\pL{{{50 + number}}}", "target": "y"}} for number in range(100)]


def ended(function: Callable[[Work], object], seconds: float = 0.2) -> str:
    """How it ends with the memory of the default settings, and a fifth of their steps."""
    with pytest.raises(OverBudget) as caught:
        function(Work(seconds=seconds))
    return str(caught.value)


@pytest.mark.parametrize(
    ("document", "path"),
    [
        pytest.param(b'{"' + b"a" * 4000 + b'":1}', "*a" * 1000 + "*b*", id="a star between all characters"),
        pytest.param(NUMBERS, "@this" + "|@reverse" * 40, id="reversed again and again"),
        pytest.param(NUMBERS, "@this" + "|@pretty|@ugly" * 30, id="formatted again and again"),
        pytest.param(b'{"a":1}', "[" + ",".join(["a"] * 90_000) + "]", id="90,000 selectors"),
        pytest.param(NUMBERS, "[@this,@this]." * 40 + "0", id="doubled"),
        pytest.param(NESTED, "@dig:" * 60 + "a", id="digging for what was dug"),
        pytest.param(NUMBERS, "@tostr|" * 60 + "@this", id="quoted again and again"),
        pytest.param(NUMBERS, "#(%" + '"*1*1*"' + ")#|" * 60 + "#", id="queries"),
    ],
)
def test_a_property(document: bytes, path: str) -> None:
    message = ended(lambda work: [extract.value(document, path, work) for _ in range(50)])
    assert TIME in message or MEMORY in message


def test_properties_share_one_budget() -> None:
    document = b'{"' + b"a" * 900 + b'":1}'
    path = "*" + "a" * 450 + "b*"
    alone = Work()
    extract.value(document, path, alone)
    count = 2 * Work().steps // (Work().steps - alone.steps)
    message = ended(lambda work: [extract.value(document, path, work) for _ in range(count)])
    assert TIME in message


@pytest.mark.parametrize(
    ("path", "document"),
    [
        pytest.param("$" + LIST_OF_KEYS * 10, "[[[[[[[[[[[1]]]]]]]]]]]", id="lists of keys"),
        pytest.param("$[?($ == $)]", OBJECTS, id="all compared with all"),
        pytest.param("$" + "..*" * 12, "[" * 150 + "1" + "]" * 150, id="everything below everything"),
    ],
)
def test_a_json_path(path: str, document: str) -> None:
    def find(work: Work) -> object:
        return jsonpath.parse(path, work).get(gojson.unmarshal(document, work), work)

    message = ended(find)
    assert TIME in message


def test_json_is_paid_for_before_it_is_read() -> None:
    lists = "[" + "[]," * 2_000_000 + "1]"
    assert TIME in ended(lambda work: gojson.unmarshal(lists, work))
    members = "{" + '"a":{},' * 400_000 + '"b":1}'
    assert MEMORY in ended(lambda work: gojson.to_secret_map(members, work), seconds=1.0)


def rewrites(*operations: Mapping[str, Any]) -> ExternalSecretSpec:
    entry = {"extract": {"key": "k"}, "rewrite": list(operations)}
    return convert({"secretStoreRef": {"name": "s"}, "dataFrom": [entry]}, ExternalSecretSpec)


def regexp(source: str, target: str) -> dict[str, Any]:
    return {"regexp": {"source": source, "target": target}}


def assembled(spec: ExternalSecretSpec, values: Mapping[str, bytes]) -> Callable[[Work], object]:
    answer: Answer = {key: SecretBytes(value) for key, value in values.items()}

    def run(work: Work) -> object:
        transform = Templates(lambda: 0.0).of(work).transform
        return assemble(spec, dict.fromkeys(needs(spec), answer), work, transform=transform)

    return run


@pytest.mark.parametrize(
    ("operations", "values", "place"),
    [
        pytest.param(
            [regexp(".+", "${0}${0}")] * 34, {"a": b"1"}, "failed rewrite operation[", id="doubled 34 times"
        ),
        pytest.param(
            [regexp(".", "x" * 100_000)],
            {"a" * 100_000: b"1"},
            "failed rewrite operation[",
            id="a long target",
        ),
        pytest.param(GROWS, {"a": b"1"}, "failed rewrite operation[", id="expressions that grow"),
        pytest.param(
            [regexp("a", "b")] * 20, NAMES, "failed rewrite operation[", id="many keys, again and again"
        ),
        pytest.param(
            [{"transform": {"template": "{{ range until 1000 }}{{ $.value }}{{ end }}"}}],
            NAMES,
            "failed rewrite operation[",
            id="a template for each key",
        ),
        pytest.param(
            [{"merge": {"strategy": "Extract", "conflictPolicy": "Ignore"}}],
            {f"k{number}": b'{"a%d":1}' % number for number in range(120_000)},
            "",
            id="a merge",
        ),
        pytest.param([], {f"k/{number}": b"1" for number in range(150_000)}, "", id="converted keys"),
    ],
)
def test_a_map(operations: list[dict[str, Any]], values: Mapping[str, bytes], place: str) -> None:
    with pytest.raises(SyncError) as caught:
        assembled(rewrites(*operations), values)(Work(seconds=0.2))
    message = str(caught.value)
    assert message.startswith(f"spec.dataFrom[0]: {place}")
    assert TIME in message or MEMORY in message or "templateTime" in message


def test_the_entry_that_uses_up_the_budget_is_named() -> None:
    spec = convert(
        {
            "secretStoreRef": {"name": "s"},
            "data": [
                {"secretKey": f"k{number}", "remoteRef": {"key": "k", "decodingStrategy": "Base64"}}
                for number in range(5)
            ],
        },
        ExternalSecretSpec,
    )
    value = b"QUJD" * 2_000_000
    message = ended(
        lambda work: assemble(
            spec, dict.fromkeys(needs(spec), SecretBytes(value)), work, transform=lambda _: str
        ),
        seconds=1.0,
    )
    assert message == "spec.data[4]: the object makes more data than workMemory allows"


@pytest.mark.parametrize(
    "rewrite",
    [
        pytest.param([regexp(".+", "${0}${0}")] * 34, id="doubled 34 times"),
        pytest.param([regexp(".", "x" * 1_000_000)] * 2, id="a long target"),
    ],
)
def test_a_push(rewrite: Iterable[Mapping[str, Any]]) -> None:
    spec = convert(
        {
            "secretStoreRefs": [{"name": "s"}],
            "selector": {"secret": {"name": "src"}},
            "dataTo": [{"storeRef": {"name": "s"}, "rewrite": list(rewrite)}],
        },
        PushSecretSpec,
    )
    source = Source({"metadata": {"name": "src"}}, {"a": b"1"})
    found = store_entries(spec, [source], Store("SecretStore", "s"), Work(), transform=lambda _: str)
    assert isinstance(found.error, OverBudget)
    assert str(found.error).startswith("failed to expand dataTo: dataTo[0]: rewrite failed: rewrite[")
    assert found.error.field.startswith("spec.dataTo[0].rewrite[")
    assert len(str(found.error)) < 1200


@pytest.mark.parametrize(
    ("entry", "work"),
    [
        pytest.param(
            {"conversionStrategy": "ReverseUnicode"}, Work(seconds=0.0005), id="to look for its key"
        ),
        pytest.param(
            {"match": {"remoteRef": {"remoteKey": "r"}}}, Work(memory=400_000), id="the whole Secret"
        ),
    ],
)
def test_the_entry_of_a_push_that_asks_for_too_much_is_named(entry: Mapping[str, Any], work: Work) -> None:
    first = {"match": {"secretKey": "a", "remoteRef": {"remoteKey": "first"}}}
    spec = convert(
        {
            "secretStoreRefs": [{"name": "s"}],
            "selector": {"secret": {"name": "src"}},
            "data": [first, {**first, **entry}],
        },
        PushSecretSpec,
    )
    values = {"a": b"1"} | {f"k{number}": b"v" * 100 for number in range(900)}
    source = Source({"metadata": {"name": "src"}}, values)
    found = store_entries(spec, [source], Store("SecretStore", "s"), work, transform=lambda _: str)
    assert isinstance(found.error, OverBudget)
    assert found.error.field == "spec.data[1]"


def test_a_secret_that_is_too_much_is_named_as_a_whole() -> None:
    spec = {"secretStoreRef": {"name": "s"}, "data": [{"secretKey": "k", "remoteRef": {"key": "k"}}]}
    resource = convert(
        {
            "metadata": {"name": "x", "namespace": "default"},
            "spec": spec,
            "apiVersion": "v1",
            "kind": "ExternalSecret",
        },
        ExternalSecret,
    )
    answers = dict.fromkeys(needs(resource.spec), SecretBytes(b"v" * 2000))
    plan = decide(resource, Observed(), answers, Work(memory=5000), render=None, transform=lambda _: str)
    assert condition_message(plan.verdict).endswith(
        ": spec.target: the object makes more data than workMemory allows"
    )


def test_passwords() -> None:
    spec = PasswordSpec(length=65_536, allow_repeat=True)
    message = ended(lambda work: [make_password(spec, work) for _ in range(2000)])
    assert TIME in message


def test_an_honest_object_uses_a_thousandth() -> None:
    """A document of twenty members, read by property and as a whole, converted, and rewritten."""
    document = gojson.marshal({f"member-{number}": f"value {number}" * 5 for number in range(20)}, Work())
    work = Work()
    for number in range(20):
        assert extract.value(document.encode(), f"member-{number}", work)
    members = {key: SecretBytes(value) for key, value in gojson.to_secret_map(document, work).items()}
    spec = rewrites(regexp("^member-(.*)$", "m_$1"))
    assemble(spec, dict.fromkeys(needs(spec), members), work, transform=lambda _: str)
    assert Work().steps - work.steps < Work().steps / 100
    assert Work().memory - work.memory < Work().memory / 100
