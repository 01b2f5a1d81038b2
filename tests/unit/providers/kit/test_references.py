"""Bytes that must be text."""

import pytest

from syncret.config.fields import SecretKeySelector
from syncret.providers.errors import Malformed
from syncret.providers.kit import references
from tests.support.opened import Given, context


async def test_a_text_of_a_secret() -> None:
    around = context(Given(secrets={"login": {"password": "grün".encode(), "binary": b"\xffcanary"}}))
    selector = SecretKeySelector(name="login", key="password")
    assert await references.read_text(around, selector, "auth.password") == "grün"
    with pytest.raises(Malformed, match=r"auth\.password is missing"):
        await references.read_text(around, None, "auth.password")
    with pytest.raises(Malformed, match=r'auth\.password: Secret "login" holds no text') as caught:
        await references.read_text(around, SecretKeySelector(name="login", key="binary"), "auth.password")
    assert caught.value.__context__ is None


def test_a_value_that_is_pushed_as_text() -> None:
    assert references.as_text("grün".encode(), "hint") == "grün"
    with pytest.raises(Malformed, match="binary") as caught:
        references.as_text(b"\xffcanary", "push it in base64")
    assert (caught.value.hint, caught.value.__context__) == ("push it in base64", None)
    assert "canary" not in repr(caught.value)
