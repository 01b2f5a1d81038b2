import json
import tracemalloc
from pathlib import Path

import pytest

from syncret.config.fields import Json
from syncret.config.meta import is_object
from syncret.config.text.yaml import ParsedDocument, parse_text
from syncret.config.text.yaml_lines import Lines
from syncret.config.text.yaml_scalars import YAML_V3
from syncret.config.text.yaml_values import Limits

BOMB = 'a: &a ["x","x","x","x","x","x","x","x","x"]\n' + "".join(
    f"{here}: &{here} [{','.join([f'*{before}'] * 9)}]\n"
    for before, here in zip("abcdefg", "bcdefgh", strict=True)
)
NONE: list[str] = []
MANY = [(1, {"a": 1}, NONE), (2, {"b": 2}, NONE), (5, [3], NONE)]


def parsed(text: str | bytes, *, as_json: bool = False, limits: Limits | None = None) -> list[ParsedDocument]:
    data = text.encode() if isinstance(text, str) else text
    return list(parse_text(data, as_json=as_json, limits=limits or Limits()))


def value(text: str) -> Json:
    (one,) = parsed(text)
    assert one.problems == ()
    return one.value


@pytest.mark.parametrize(
    ("scalar", "expected"),
    [
        ("yes", True),
        ("On", True),
        ("n", False),
        ("~", None),
        ("", None),
        ("Null", None),
        ("5", 5),
        ("+5", 5),
        ("1_000", 1000),
        ("010", 8),
        ("0o17", 15),
        ("0x1F", 31),
        ("0b101", 5),
        ("08", 8.0),
        ("-0", 0),
        ("9223372036854775808", 9223372036854775808.0),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("1.", 1.0),
        ("1e400", "1e400"),
        ("1:30", "1:30"),
        ("2001-01-01", "2001-01-01"),
        ("2001-12-14t21:59:43.10-05:00", "2001-12-14t21:59:43.10-05:00"),
        ("=", "="),
        ("1h", "1h"),
        ("'5'", "5"),
        ('"yes"', "yes"),
        ("!!str 5", "5"),
        ('!!int "5"', 5),
        ("!!float 1", 1.0),
        ('!!bool "no"', False),
        ("!!binary aGk=", "hi"),
        ("9223372036854775808", float(2**63)),
        ("18446744073709551616", float(2**64)),
        (f"0x{'f' * 290}", f"0x{'f' * 290}"),
        ("!own text", "text"),
        ("!own {a: 1}", {"a": 1}),
    ],
)
def test_scalars_mean_what_they_mean_to_kubernetes(scalar: str, expected: object) -> None:
    found = value(f"v: {scalar}\n")["v"]
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("scalar", "expected"),
    [
        ("NO", "NO"),
        ("y", "y"),
        ("on", "on"),
        ("Off", "Off"),
        ("True", True),
        ("FALSE", False),
        ("~", None),
        ("010", 8),
        ("1e3", 1000.0),
        ("2001-01-01", "2001-01-01"),
        (".inf", ".inf"),
        ("'true'", "true"),
        ("!!binary aGk=", "hi"),
        ("9223372036854775808", 2**63),
        ("18446744073709551615", 2**64 - 1),
        ("0xffff_ffff_ffff_ffff", 2**64 - 1),
        ("!!int 18446744073709551615", 2**64 - 1),
        ("18446744073709551616", float(2**64)),
        ("-9223372036854775809", float(-(2**63) - 1)),
        ("0x10000000000000000", "0x10000000000000000"),
        ("[on, *yes]", ["on", "yes"]),
    ],
)
def test_scalars_mean_what_they_mean_to_yaml_v3(scalar: str, expected: object) -> None:
    """As gopkg.in/yaml.v3 3.0.1 itself reads them, but a date, which is a time there."""
    [document] = parse_text(f"a: &yes yes\nv: {scalar}\n".encode(), reading=YAML_V3)
    assert document.problems == ()
    assert document.value == {"a": "yes", "v": expected}
    assert is_object(document.value)
    assert type(document.value["v"]) is type(expected)


def test_keys_are_as_they_are_written_to_yaml_v3() -> None:
    text = b"{on: 1, y: 2, true: 3, 010: 4, 1.0: 5, <<: {no: 6}}"
    [document] = parse_text(text, reading=YAML_V3)
    assert document.value == {"on": 1, "y": 2, "true": 3, "010": 4, "1.0": 5, "no": 6}
    assert document.problems == ()


@pytest.mark.parametrize(
    ("mapping", "expected"),
    [
        pytest.param("{a: own, <<: *one}", {"a": "own", "b": 1}, id="before"),
        pytest.param("{<<: *one, a: own}", {"a": "own", "b": 1}, id="after"),
        pytest.param("{a: ~, <<: *one}", {"a": None, "b": 1}, id="null"),
        pytest.param("{c: own, <<: [*one, *two]}", {"a": 1, "b": 1, "c": "own"}, id="several"),
        pytest.param("{<<: {<<: *one, a: 9}}", {"a": 9, "b": 1}, id="of what is merged"),
    ],
)
def test_own_keys_win_wherever_yaml_v3_merges(mapping: str, expected: object) -> None:
    text = f"one: &one {{a: 1, b: 1}}\ntwo: &two {{a: 2, c: 2}}\nv: {mapping}\n"
    [document] = parse_text(text.encode(), reading=YAML_V3)
    assert is_object(document.value)
    assert (document.value["v"], document.problems) == (expected, ())


def test_yaml_v3_merges_once() -> None:
    [document] = parse_text(b"v:\n  <<: {a: 1}\n  <<: {b: 1}\n", reading=YAML_V3)
    assert [(each.path, each.line) for each in document.problems] == [('v["<<"]', 3)]


def test_keys_become_strings() -> None:
    assert value("on: a\n1: b\n1.5: c\n'x': d\nno: e\n") == {
        "true": "a",
        "1": "b",
        "1.5": "c",
        "x": "d",
        "false": "e",
    }


@pytest.mark.parametrize(
    ("written", "key"),
    [
        pytest.param("1e3", "1000", id="written out"),
        pytest.param("123456.75", "123456.75", id="more than six digits"),
        pytest.param("1.0000001", "1.0000001", id="near another key"),
        pytest.param("1234567.5", "1.2345675e+06", id="an exponent"),
        pytest.param("0.00001234", "1.234e-05", id="small"),
        pytest.param("-1e300", "-.inf", id="beyond 32 bits"),
    ],
)
def test_float_keys_are_written_as_go_writes_them(written: str, key: str) -> None:
    assert value(f"{written}: a\n1.0: b\n") == {key: "a", "1": "b"}


def test_merge_keys_merge_and_own_keys_win() -> None:
    text = "base: &base {a: 1, b: 2}\none: {<<: *base, b: 3}\ntwo:\n  <<: [{a: 9}, *base]\n"
    assert value(text) == {"base": {"a": 1, "b": 2}, "one": {"a": 1, "b": 3}, "two": {"a": 9, "b": 2}}


def test_a_merge_wins_over_what_stands_before_it_as_an_api_server_reads_it() -> None:
    text = "one: {b: 2, <<: {b: 1, c: 3}}\ntwo: {<<: {b: 1}, b: 2, <<: {c: 4}}\n"
    assert value(text) == {"one": {"b": 1, "c": 3}, "two": {"b": 2, "c": 4}}


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        pytest.param(
            "a: 1\nb: [", 3, "is not valid YAML: did not find expected node content", id="unfinished"
        ),
        pytest.param(
            "a: b: c", 1, "is not valid YAML: mapping values are not allowed in this context", id="colon"
        ),
        pytest.param("\ta: 1", 1, "is not valid YAML: found character that cannot start any token", id="tab"),
        pytest.param("a: *x", 1, "is not valid YAML: found undefined alias", id="alias"),
        pytest.param("a: 1\nb: \x01", 2, "has a character that YAML does not allow (#x01)", id="control"),
        pytest.param(b"a: 1\nb: \xff", 2, "is not UTF-8 text", id="latin"),
        pytest.param("a: 1\nb: .nan", 2, "JSON cannot represent this number", id="nan"),
        pytest.param("a: -.inf", 1, "JSON cannot represent this number", id="infinite"),
        pytest.param("? [a]\n: b", 1, "a key must be a string, not a mapping or a list", id="complex key"),
        pytest.param("~: b", 1, "a key must not be null", id="null key"),
        pytest.param("a: !!int x", 1, "the value is not a valid int", id="wrong tag"),
        pytest.param("a: !!binary é", 1, "!!binary takes text in base64", id="wrong binary"),
        pytest.param("a: {<<: 5}", 1, "a merge key takes a mapping, or a list of mappings", id="wrong merge"),
        pytest.param("? *x\n: 1", 1, "is not valid YAML: found undefined alias", id="alias as a key"),
        pytest.param(
            "a: &x {b: 1}\n? *x\n: 1", 2, "a key must be a string, not a mapping or a list", id="key"
        ),
        pytest.param("a: 1\r---\rb: 2", 2, "is not valid YAML: but found another document", id="two"),
        pytest.param("a: &x [*x]", 1, "an alias refers to a value that contains it", id="recursive alias"),
        pytest.param(BOMB, 6, "aliases repeat too many values", id="alias bomb"),
        pytest.param(
            "a: &a " + "x" * 10_000 + "\nb: [" + "*a, " * 1_000 + "]",
            2,
            "aliases repeat too many values",
            id="long",
        ),
        pytest.param("[" * 101 + "]" * 101, 1, "is nested deeper than 100 levels", id="deep"),
        pytest.param("[" * 300_000, 1, "is nested deeper than 100 levels", id="very deep"),
        pytest.param("- " * 300_000 + "a", 1, "is nested deeper than 100 levels", id="very deep in blocks"),
    ],
)
def test_what_cannot_be_read_is_one_problem_with_its_line(text: str | bytes, line: int, message: str) -> None:
    (one,) = parsed(text)
    assert one.value is None
    assert [(each.message, each.line) for each in one.problems] == [(message, line)]


def test_a_repeated_key_is_reported_with_its_path() -> None:
    (one,) = parsed("a: 1\nb:\n  c: 1\n  c: 2\na: 3\n")
    assert [(each.path, each.line, each.fatal) for each in one.problems] == [("b.c", 4, True), ("a", 5, True)]


def test_a_bad_document_does_not_stop_the_others() -> None:
    first, second, third = parsed("a: 1\n---\nb: [\n--- # third\nc: 3\n")
    assert (first.line, first.value, first.problems) == (1, {"a": 1}, ())
    assert second.value is None
    assert (third.line, third.value, third.problems) == (5, {"c": 3}, ())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", [], id="nothing"),
        pytest.param("---\n---\n# only a remark\n---\n...\n", [], id="markers"),
        pytest.param("%YAML 1.1\n---\na: 1\n", [(3, {"a": 1})], id="directive"),
        pytest.param("\ufeff# bom\na: 1\n", [(2, {"a": 1})], id="byte order mark"),
        pytest.param("--- {a: 1}\n--- text\n", [(1, {"a": 1}), (2, "text")], id="on the marker's line"),
        pytest.param("a: |\n  ---\n  x\n", [(1, {"a": "---\nx\n"})], id="marker inside a text"),
        pytest.param("a: 1\r\n---\r\nb: 2\r\n", [(1, {"a": 1}), (3, {"b": 2})], id="line ends of Windows"),
    ],
)
def test_documents_are_split(text: str, expected: list[tuple[int, object]]) -> None:
    assert [(each.line, each.value) for each in parsed(text)] == expected


def test_blanks_and_remarks_take_no_time() -> None:
    for filler in (" ", "\n", "#", "# \n", "%", "---\n", "...\n"):
        text = filler * 100_000
        assert all(each.value != 1 for each in parsed(f"{text}\n@"))


def test_sizes_are_bounded() -> None:
    limits = Limits(file=60, document=20)
    (whole,) = parsed("a: 1\n" * 20, limits=limits)
    assert whole.problems[0].message == "is larger than 60 bytes"
    first, second = parsed("a: " + "x" * 30 + "\n---\nb: 1\n", limits=limits)
    assert first.problems[0].message == "a document is larger than 20 bytes"
    assert second.value == {"b": 1}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a: [" + "a," * 20 + "a]", id="in brackets"),
        pytest.param("a:\n" + "    - - a\n" * 20, id="in blocks"),
        pytest.param("a: {" + ",".join(f"k{n}" for n in range(20)) + "}", id="keys alone"),
        pytest.param("".join(f"k{n}: v\n" for n in range(20)), id="fields"),
        pytest.param("".join(f"k{n}:\r" for n in range(20)), id="fields without values"),
        pytest.param("a: &a b\nc: [" + "*a , " * 20 + "]", id="aliases"),
    ],
)
def test_values_are_bounded(text: str) -> None:
    """Each takes memory, however short it is."""
    (one,) = parsed(text, limits=Limits(values=20))
    assert one.value is None
    assert one.problems[0].message == "has too many values: more than 20"
    assert parsed(text, limits=Limits(values=80))[0].value is not None


def test_a_file_that_is_too_large_is_reported_as_such() -> None:
    (one,) = parsed("éé".encode()[:3], limits=Limits(file=2))
    assert one.problems[0].message == "is larger than 2 bytes"


def test_many_json_values_take_no_time() -> None:
    assert sum(1 for _ in parsed("{}\n" * 100_000, as_json=True)) == 100_000


def test_json_documents_hold_a_limited_number_of_values() -> None:
    text = '{"a": "}]", "b": 1}\n[1, 2, 3, 4, 5, 6, "[{,"]\n\n{"c": [\n7]}\n8'
    limits = Limits(values=6)
    found = [(one.line, one.value, one.problems[:1]) for one in parsed(text, as_json=True, limits=limits)]
    assert [(line, value) for line, value, _ in found] == [
        (1, {"a": "}]", "b": 1}),
        (2, None),
        (4, {"c": [7]}),
        (6, 8),
    ]
    [problem] = found[1][2]
    assert (problem.message, problem.line) == ("has too many values: more than 6", 2)
    [endless] = parsed("[" * 100 + "1," * 100, as_json=True, limits=Limits(values=50))
    assert endless.problems[0].message == "has too many values: more than 50"


def test_nothing_is_parsed_of_a_json_document_that_is_too_long() -> None:
    limits = Limits(values=10, document=100)
    (one,) = parsed("[" + "1," * 1000 + "1]", as_json=True, limits=limits)
    assert one.value is None
    assert one.problems[0].message == "a document is larger than 100 bytes"


@pytest.mark.parametrize("nested", ["[" * 100 + "]" * 100, '{"a":' * 100 + "1" + "}" * 100])
def test_json_is_nested_as_deep_as_yaml(nested: str) -> None:
    for as_json in (True, False):
        (one,) = parsed(nested, as_json=as_json)
        assert one.problems == ()
        (deeper,) = parsed(f'\n{{"a": {nested}}}', as_json=as_json)
        assert [(each.message, each.line) for each in deeper.problems] == [
            ("is nested deeper than 100 levels", 2)
        ]
        assert deeper.value is None


def test_lines_are_found_by_path() -> None:
    data = "spec:\n  data:\n  - secretKey: a\n  - secretKey: b\n    tls.crt: 1\n"
    text = f'# a\n---\n{data}  flow: {{x: 1,\n    "y": 2}}\n'
    (one,) = parsed(text)
    found = {
        path: one.lines.of(path)
        for path in (
            "",
            "spec.data",
            "spec.data[1]",
            'spec.data[1]["tls.crt"]',
            "spec.flow.y",
            "spec.data[0].gone",
        )
    }
    assert found == {
        "": 3,
        "spec.data": 4,
        "spec.data[1]": 6,
        'spec.data[1]["tls.crt"]': 7,
        "spec.flow.y": 9,
        "spec.data[0].gone": 5,
    }


@pytest.mark.parametrize(
    ("written", "line"),
    [
        pytest.param("|\n  one\n  two\n", 3, id="a literal block"),
        pytest.param("|2- # as it is\n  one\n  two\n", 3, id="with an indicator and a remark"),
        pytest.param("|\n\n  two\n", 3, id="that begins with an empty line"),
        pytest.param("\n  |\n  one\n  two\n", 4, id="that begins on a line of its own"),
        pytest.param('"one\\ntwo"\n', 1, id="in quotes on one line"),
        pytest.param('\n  "one\\ntwo"\n', 2, id="in quotes on the next line"),
        pytest.param("'one\n\n  two'\n", 1, id="in quotes over several lines"),
        pytest.param(">\n  one\n\n  two\n", 1, id="a folded block"),
    ],
)
def test_the_second_line_of_a_text_is_found_where_it_surely_is(written: str, line: int) -> None:
    (one,) = parsed(f"text: {written}")
    assert one.lines.of("text", 2) == line


def test_many_lines_are_found_in_one_pass() -> None:
    """A key in front of which others stand, that of a mapping, one that comes twice, one with an escape."""
    text = 'a:\n  ? {b: c}\n  : d\n  "e\\x66": 1\n  ef: 2\n  1: 3\n? x\n: - !!str y\n  - [z]\n'
    found = Lines(text, 1).of_all([("a.ef", 0), ('a["1"]', 0), ("x[1][0]", 0), ("a.b", 0), ("x[7]", 0)])
    assert found == [4, 6, 9, 1, 7]


def test_what_is_below_an_alias_is_found_at_the_alias() -> None:
    (one,) = parsed("a: &a\n  b: 1\nc:\n  d: *a\n")
    assert [one.lines.of(path) for path in ("a.b", "c.d.b", "c.e")] == [2, 4, 3]


def test_lines_are_found_up_to_where_a_text_is_no_yaml() -> None:
    lines = Lines("a: 1\nb: 2\n}\nc: 3\n", 10)
    assert lines.of_all([("b", 0), ("c", 0)]) == [11, 10]
    assert [each.line for each, _ in zip(lines.of_items("b"), range(2), strict=False)] == [10, 10]


def test_nothing_is_kept_of_a_text_whose_lines_were_looked_up() -> None:
    """A tree of it takes forty times the size of the text."""
    items = [{"metadata": {"name": f"e{n}"}, "spec": {"x": n}} for n in range(5_000)]
    (one,) = parsed(json.dumps({"items": items}), as_json=True)
    tracemalloc.start()
    try:
        lines = [each for each, _ in zip(one.lines.of_items("items"), items, strict=False)]
        assert {each.of("spec.x") for each in lines} == {1}
        assert one.lines.of("items[4999].spec.x") == 1
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2_000_000


def test_one_document_is_parsed_alone() -> None:
    text = "# a\n---\na: 1\nb: 2\n---\n{c: [\n---\nd: 3\n"
    found = [[each.value for each in parse_text(text.encode(), at_line=line)] for line in (3, 4, 6, 8, 9, 10)]
    assert found == [[{"a": 1, "b": 2}], [{"a": 1, "b": 2}], [None], [{"d": 3}], [{"d": 3}], []]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param('{"a": 1}', [(1, {"a": 1}, NONE)], id="one"),
        pytest.param(' {"a": 1}\n{"b":\n 2}\n\n[3]', MANY, id="many"),
        pytest.param('"\\ud83d\\ude00 \\ud83d"', [(1, "😀 \ufffd", NONE)], id="surrogates"),
        pytest.param("18446744073709551616", [(1, 2.0**64, NONE)], id="beyond 64 bits"),
        pytest.param('{"a":\n}', [(1, None, ["is not valid JSON: Expecting value"])], id="malformed"),
        pytest.param(
            '{"a": 1, "a": 2, "b": {"c": 1, "c": 2}}',
            [
                (
                    1,
                    {"a": 2, "b": {"c": 2}},
                    ['the key "c" appears twice in one object', 'the key "a" appears twice in one object'],
                )
            ],
            id="twice",
        ),
    ],
)
def test_json_is_read_strictly(text: str, expected: list[tuple[int, object, list[str]]]) -> None:
    found = parsed(text, as_json=True)
    assert [(each.line, each.value, [one.message for one in each.problems]) for each in found] == expected


@pytest.mark.parametrize("text", ["NaN", "[1e999]", "9" * 5000, "[" * 100_000, '{"a":' * 100_000])
def test_json_that_no_document_can_hold(text: str) -> None:
    (one,) = parsed(text, as_json=True)
    assert one.value is None
    assert one.problems[0].message.startswith("is not valid JSON")


def test_samples_are_read(request: pytest.FixtureRequest) -> None:
    samples = Path(request.config.rootpath, "config", "samples").rglob("*.yaml")
    for sample in samples:
        assert all(each.problems == () for each in parsed(sample.read_bytes()))


def test_an_anchor_may_be_set_again_as_for_kubernetes() -> None:
    (one,) = parsed("a: &x 1\nb: *x\nc: &x [2]\nd: *x\n? &k key\n: *k")
    assert (one.value, one.problems) == ({"a": 1, "b": 1, "c": [2], "d": [2], "key": "key"}, ())


def test_what_aliases_repeat_is_not_shared() -> None:
    (one,) = parsed("a: &x {b: [1]}\nc: *x")
    assert is_object(one.value)
    assert one.value["a"] == one.value["c"]
    assert one.value["a"] is not one.value["c"]
