"""Templates that render to a map: how its scalars become text."""

import msgspec
import pytest

from syncret.config.resources.templates import Template
from syncret.daemon.core.rendering import Rendering
from syncret.daemon.core.secret import SecretSink
from syncret.providers.errors import Malformed


def rendered(text: str) -> dict[str, bytes]:
    template = msgspec.convert({"templateFrom": [{"literal": text}]}, Template)
    values: dict[str, bytes] = {}
    rendering = Rendering(lambda _name, literal, _data: literal.encode(), {}, "default")
    rendering.apply(template, SecretSink({"metadata": {}}, values), {})
    return values


@pytest.mark.parametrize(
    ("written", "text"),
    [
        pytest.param("1.0", "1", id="whole"),
        pytest.param("1.5", "1.5", id="a fraction"),
        pytest.param("100000.0", "100000", id="just without an exponent"),
        pytest.param("1000000.0", "1e+06", id="just with one"),
        pytest.param("1E8", "1e+08", id="an exponent"),
        pytest.param("1234567.25", "1.2345672e+06", id="32 bits"),
        pytest.param("16777217.0", "1.6777216e+07", id="rounded to 32 bits"),
        pytest.param("18446744073709551616", "1.8446744e+19", id="beyond 64 bits"),
        pytest.param("0.0001", "0.0001", id="small"),
        pytest.param("0.00001", "1e-05", id="smaller"),
        pytest.param("-1.0e+40", "-Inf", id="beyond 32 bits"),
        pytest.param("1234567", "1234567", id="an integer"),
        pytest.param("true", "true", id="a boolean"),
        pytest.param("null", "", id="nothing"),
        pytest.param("'1E8'", "1E8", id="a text"),
    ],
)
def test_scalars_are_what_go_makes_of_them(written: str, text: str) -> None:
    assert rendered(f"a: {written}") == {"a": text.encode()}


@pytest.mark.parametrize("written", ["[1]", "a: [canary]", "canary"])
def test_what_is_no_map_of_scalars(written: str) -> None:
    with pytest.raises(Malformed) as caught:
        rendered(written)
    assert "canary" not in f"{caught.value}{caught.value.hint}"
