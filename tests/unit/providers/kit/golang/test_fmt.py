"""JSON as Go prints it. The expectations were taken from Go itself."""

import pytest

from syncret.config.fields import Json
from syncret.providers.kit.golang.fmt import printed
from syncret.providers.work import Work


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("a b", "a b", id="a string"),
        pytest.param(None, "<nil>", id="null"),
        pytest.param([True, False], "[true false]", id="booleans"),
        pytest.param(1, "1", id="a whole number"),
        pytest.param(1.5, "1.5", id="a fraction"),
        pytest.param(-0.0, "-0", id="less than nothing"),
        pytest.param(123456.0, "123456", id="the last without an exponent"),
        pytest.param(1000000.0, "1e+06", id="the first with one"),
        pytest.param(123456789.0, "1.23456789e+08", id="many digits"),
        pytest.param(1700000000, "1.7e+09", id="a moment"),
        pytest.param(1e21, "1e+21", id="large"),
        pytest.param(0.0001, "0.0001", id="small"),
        pytest.param(0.00001, "1e-05", id="smaller"),
        pytest.param([], "[]", id="an empty list"),
        pytest.param({"b": ["a", 1.0, None, True], "a": {}}, "map[a:map[] b:[a 1 <nil> true]]", id="nested"),
    ],
)
def test_printed(value: Json, expected: str) -> None:
    assert printed(value, Work()) == expected
