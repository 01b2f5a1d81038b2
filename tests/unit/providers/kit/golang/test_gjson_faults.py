import pytest

from syncret.providers.kit.golang.gjson.faults import fault


@pytest.mark.parametrize(
    "path",
    [
        *("", "a", "a.b", "a.0.c", "tls.crt", r"a\.b.c", "#", "list.#", "list.#.name", "..a", "a*", "@foo"),
        *(
            'list.#(name=="x")',
            'list.#(name=="x")#.y',
            "@reverse",
            "@this|a",
            '@pretty:{"indent":""}',
            "a|@ugly",
        ),
        *("[a,b]", "{a,b}", '{"x":a}.x', "a.[b,c]", "$", "a(b", "#(a)|#(b)"),
    ],
)
def test_paths_that_may_find_something(path: str) -> None:
    assert fault(path) is None


@pytest.mark.parametrize(
    ("path", "message", "hint"),
    [
        ("$.a", "is a JSONPath", "list.0.name"),
        ("$['a']", "is a JSONPath", "list.0.name"),
        ("items[0].name", "is a JSONPath", "list.0.name"),
        ("items[*].name", "is a JSONPath", "list.#.name"),
        ('list.#(name=="x"', "query that is not closed", '#(name=="x")'),
        ("#[a", "query that is not closed", '#(name=="x")'),
        ("{a,b", "a { that is not closed", "close it with }"),
        ("a|[b", "a [ that is not closed", "close it with ]"),
        ("@revers", "no modifier @revers", "did you mean @reverse?"),
        ("a|@prety", "no modifier @prety", "did you mean @pretty?"),
        ("a.@flaten.b", "no modifier @flaten", "did you mean @flatten?"),
    ],
)
def test_paths_that_find_nothing(path: str, message: str, hint: str) -> None:
    found = fault(path)

    assert found is not None
    assert message in found.message
    assert hint in found.hint
