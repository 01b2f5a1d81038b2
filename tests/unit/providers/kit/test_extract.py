"""Properties by gjson paths. The expectations were taken from gjson itself."""

import time

import pytest

from syncret.providers.errors import Malformed, OverBudget
from syncret.providers.kit import extract
from syncret.providers.work import Work

DOCUMENT = """{"name": {"first": "Tom", "last": "Anderson"}, "age":37, "children": ["Sara","Alex","Jack"],
  "fav.movie": "Deer Hunter", "friends": [
    {"first": "Dale", "last": "Murphy", "age": 44, "nets": ["ig", "fb"]},
    {"first": "Roger", "last": "Craig", "age": 68, "nets": ["fb"]},
    {"first": "Jane", "last": "Murphy", "age": 47, "nets": ["ig"]}],
  "n":1.50, "big":12345678901234567890, "exp":1e21, "neg":-5, "t":true, "f":false, "z":null,
  "esc":"a\\"b\\\\c\\u00e9\\ud83d\\ude00\\ud800x", "arr":[1,[2],[3,4],[5,[6,7]]],
  "vals":[{"a":1,"b":"data"},{"a":2,"b":true},{"a":4,"b":"0"},{"a":6,"b":"1"},{"a":9,"b":false},{"a":11}],
  "inner":"{\\"id\\":1}", "g":{"id":["1","2"],"val":[1,2]}, "o":[{"p":1,"q":2},{"p":3}],
  "a*b":7, "a|b":"pipe"}"""


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        pytest.param("name.last", "Anderson", id="member of a member"),
        pytest.param("name", '{"first": "Tom", "last": "Anderson"}', id="an object as written"),
        pytest.param(r"fav\.movie", "Deer Hunter", id="escaped dot"),
        pytest.param("fav.movie", None, id="dot"),
        pytest.param("nope", None, id="no such member"),
        pytest.param("age.x", None, id="member of a number"),
        pytest.param("children.1", "Alex", id="index"),
        pytest.param("children.9", None, id="index out of range"),
        pytest.param("children.#", "3", id="length"),
        pytest.param("friends.#.age", "[44,68,47]", id="of every element"),
        pytest.param("friends.#.nets.#", "[2,1,1]", id="length in every element"),
        pytest.param('friends.#(last=="Murphy").first', "Dale", id="first that matches"),
        pytest.param('friends.#(last=="Murphy")#.first', '["Dale","Jane"]', id="all that match"),
        pytest.param("friends.#(age>45)#.last", '["Craig","Murphy"]', id="greater"),
        pytest.param('friends.#(first%"D*").last', "Murphy", id="like"),
        pytest.param('children.#(!%"*a*")', "Alex", id="not like, of plain elements"),
        pytest.param('friends.#(nets.#(=="fb"))#.first', '["Dale","Roger"]', id="query in a query"),
        pytest.param("friends.#(age>99)#", "[]", id="none of all match"),
        pytest.param("friends.#(age>99)", None, id="none matches"),
        pytest.param("vals.#(b==~true)#.a", "[2,6]", id="what counts as true"),
        pytest.param("vals.#(b==~false)#.a", "[4,9,11]", id="what counts as false"),
        pytest.param("vals.#(b!=~*)#.a", "[11]", id="what is not there"),
        pytest.param('friends.#(last="Murphy")#|0.first', "Dale", id="pipe after a query"),
        pytest.param('friends.#(last="Murphy")#|first', None, id="a pipe looks at the result"),
        pytest.param("friends|0|first", "Dale", id="pipes"),
        pytest.param(r"a\|b", "pipe", id="escaped pipe"),
        pytest.param("child*.2", "Jack", id="star"),
        pytest.param("c?ildren.0", "Sara", id="question mark"),
        pytest.param(r"a\*b", "7", id="escaped star"),
        pytest.param("n", "1.5", id="a fraction loses its zeros"),
        pytest.param("big", "12345678901234567890", id="whole numbers stay as written"),
        pytest.param("exp", "1000000000000000000000", id="no exponent"),
        pytest.param("neg", "-5", id="negative"),
        pytest.param("t", "true", id="true"),
        pytest.param("f", "false", id="false"),
        pytest.param("z", "", id="null is there, and empty"),
        pytest.param("esc", 'a"b\\cé😀\ufffdx', id="escapes"),
        pytest.param("children.@reverse", '["Jack","Alex","Sara"]', id="reverse"),
        pytest.param("children.@reverse.0", "Jack", id="after a modifier"),
        pytest.param("arr.@flatten", "[1,2,3,4,5,[6,7]]", id="flatten"),
        pytest.param('arr.@flatten:{"deep":true}', "[1,2,3,4,5,6,7]", id="flatten deep"),
        pytest.param("name.@keys", '["first","last"]', id="keys"),
        pytest.param("name.@values|1", "Anderson", id="values"),
        pytest.param("@this.age", "37", id="this"),
        pytest.param("inner.@fromstr.id", "1", id="from a string"),
        pytest.param("age.@tostr", "37", id="to a string"),
        pytest.param("o.@join", '{"p":3,"q":2}', id="join"),
        pytest.param("g.@group", '[{"id":"1","val":1},{"id":"2","val":2}]', id="group"),
        pytest.param("@dig:last", '["Anderson","Murphy","Craig","Murphy"]', id="dig"),
        pytest.param("name.@ugly", '{"first":"Tom","last":"Anderson"}', id="ugly"),
        pytest.param("name.@pretty", '{\n  "first": "Tom",\n  "last": "Anderson"\n}\n', id="pretty"),
        pytest.param("@nope", None, id="no such modifier"),
        pytest.param('{name.first,age,"x":nope}', '{"first":"Tom","age":37}', id="an object of paths"),
        pytest.param("[name.first,age]", '["Tom",37]', id="an array of paths"),
        pytest.param('{"c":!"x","t":!true}', '{"c":"x","t":true}', id="literals"),
        pytest.param("friends.#.{first,age}|0.age", "44", id="paths in every element"),
    ],
)
def test_value(path: str, expected: str | None) -> None:
    found = extract.value(DOCUMENT.encode(), path, Work())

    assert (None if found is None else found.decode()) == expected


@pytest.mark.parametrize(
    ("document", "path", "expected"),
    [
        pytest.param(b"static", "a", None, id="no JSON at all"),
        pytest.param(b"", "a", None, id="nothing"),
        pytest.param(b'{"a":1', "a", b"1", id="broken, and found nevertheless"),
        pytest.param(b"[[1], [2", "#", b"2", id="broken off, and counted nevertheless"),
        pytest.param(b'[[1], ["2]', "#", None, id="broken off within a string"),
        pytest.param(b'{"a":1,"a":2}', "a", b"1", id="the first of two counts"),
        pytest.param(b'{"a":1e400}', "@valid", b'{"a":1e400}', id="valid, with a number out of range"),
        pytest.param(b'{"a":1e400}', "@fromstr", b'{"a":1e400}', id="a number out of range from a string"),
        pytest.param(b'{"a":1', "@valid", None, id="not valid"),
        pytest.param(b'{"a":"x\xff"}', "a", b"x\xff", id="bytes that are no UTF-8"),
        pytest.param(b'{"a":1}\n{"a":2}\n', "..#.a", b"[1,2]", id="lines"),
    ],
)
def test_other_documents(document: bytes, path: str, expected: bytes | None) -> None:
    assert extract.value(document, path, Work()) == expected


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("[@this,@this]." * 40 + "0", id="doubling"),
        pytest.param(".".join(["a"] * 5000), id="deep"),
        pytest.param("@dig:" * 60 + "a", id="digging for what was dug"),
        pytest.param("{" * 500 + "a" + "}" * 500, id="nested multipaths"),
    ],
)
def test_a_path_has_a_bound(path: str) -> None:
    document = b'{"a":' * 3000 + b"1" + b"}" * 3000

    with pytest.raises((Malformed, OverBudget), match=r"leads too deep|the object (asks|makes)"):
        extract.value(document, path, Work())


def test_a_long_number_that_is_none_is_read_once() -> None:
    begin = time.process_time()
    assert extract.value(b'{"a":' + b"9" * 500_000 + b"x}", "a", Work()) == b"0"
    assert time.process_time() - begin < 1


def test_an_index_may_have_any_number_of_digits() -> None:
    assert extract.value(b"[1,2]", "0" * 5000 + "1", Work()) == b"2"
    assert extract.value(b"[1,2]", "9" * 5000, Work()) is None


def test_an_escaped_name_is_one_member() -> None:
    assert extract.value(DOCUMENT.encode(), extract.escaped("fav.movie"), Work()) == b"Deer Hunter"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        pytest.param("fav.movie", b"Deer Hunter", id="a name with a dot"),
        pytest.param("name.last", b"Anderson", id="a member of a member"),
        pytest.param("age", b"37", id="a name"),
        pytest.param("fav.none", None, id="neither"),
    ],
)
def test_named(path: str, expected: bytes | None) -> None:
    assert extract.member_or_path(DOCUMENT.encode(), path, Work()) == expected


def test_members() -> None:
    found = extract.members(b'{"user": "ada", "port": 5432}', "reading db", Work())
    assert {name: value.raw for name, value in found.items()} == {"user": b"ada", "port": b"5432"}


@pytest.mark.parametrize("document", [b"canary-5d", b'["canary-5d"]'])
def test_what_has_no_members(document: bytes) -> None:
    with pytest.raises(Malformed, match=r"^reading db: ") as caught:
        extract.members(document, "reading db", Work())
    assert caught.value.hint == "extract takes a value that is a JSON object"
    assert caught.value.__context__ is None
    assert "canary" not in repr(caught.value)
