import re

import pytest

from syncret.daemon.core.templating.golang.errors import TemplateError
from tests.unit.daemon.core.templating.functions.rendering import render


@pytest.mark.parametrize(
    ("template", "pattern"),
    [
        pytest.param("{{ randAlpha 40 }}", "[A-Za-z]{40}", id="randAlpha"),
        pytest.param("{{ randAlphaNum 40 }}", "[A-Za-z0-9]{40}", id="randAlphaNum"),
        pytest.param("{{ randNumeric 40 }}", "[0-9]{40}", id="randNumeric"),
        pytest.param("{{ randAscii 40 }}", "[ -~]{40}", id="randAscii"),
        pytest.param("{{ randAlpha -1 }}", "", id="a negative count"),
        pytest.param("{{ randBytes 16 }}", "[A-Za-z0-9+/]{22}==", id="randBytes"),
        pytest.param(
            "{{ uuidv4 }}", "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", id="uuid"
        ),
        pytest.param("{{ randInt 5 8 }}", "[567]", id="randInt"),
        pytest.param('{{ htpasswd "u" "p" "bcrypt" }}', r"u:\$2a\$10\$[./A-Za-z0-9]{53}", id="htpasswd"),
    ],
)
def test_shape(template: str, pattern: str) -> None:
    assert re.fullmatch(pattern, render(template))


def test_shuffle_keeps_the_characters() -> None:
    assert sorted(render('{{ shuffle "abcdefgé" }}')) == sorted("abcdefgé")


@pytest.mark.parametrize("template", ["{{ randInt 5 5 }}", "{{ randBytes -1 }}"])
def test_refused(template: str) -> None:
    with pytest.raises(TemplateError):
        render(template)


def test_bcrypt_hash_is_of_the_password() -> None:
    import bcrypt

    assert bcrypt.checkpw("pässword".encode(), render('{{ bcrypt "pässword" }}').encode())
    assert render('{{ bcrypt (repeat 73 "x") }}').endswith("password length exceeds 72 bytes")


def test_encryption_is_undone_with_the_password_alone() -> None:
    assert render('{{ encryptAES "k" "text" | decryptAES "k" }}') == "text"
    with pytest.raises(TemplateError) as caught:
        render('{{ encryptAES "k" "a secret text" | b64dec | trunc 20 | b64enc | decryptAES "k" }}')
    assert "secret" not in str(caught.value)
