"""Fields that should be sensitive, by their name or by what they are set to; and the skeleton of values."""

import pytest

from syncret.config.text.yaml import parse_text
from syncret.daemon.release.compiler import declared
from syncret.daemon.release.documents import spec_of
from syncret.daemon.release.lint import Linter
from syncret.daemon.release.skeleton import skeleton
from tests.unit.daemon.release.support import Compiled, loaded, module


def linted(config: str, values: str = "") -> list[str]:
    documents = loaded("module.yaml", module(f"  config: {config}\n"))
    if values:
        documents += loaded("values.yaml", values)
    found = declared(documents)
    Linter(found.findings).check(found.config, spec_of(found.documents.release).get("values"))
    return [f"{problem.path}: {problem.message} {problem.hint}" for _, problem in found.problems]


@pytest.mark.parametrize(
    "name",
    ["password", "dbPassword", "DB_PASSWD", "api_key", "apiKey", "token", "authToken", "dsn", "tls_pem",
     "client-secret", "privateKey", "databaseUrl", "connectionString", "kubeconfig"],
)  # fmt: skip
def test_a_name_that_looks_sensitive(name: str) -> None:
    (told,) = linted(f"{{{name}: string}}")
    assert told.startswith(f"spec.config.{name}: ")
    assert "$opm: secret" in told


@pytest.mark.parametrize(
    "name",
    ["host", "keyboard", "passenger", "monkey", "tokenizer", "port", "secretary", "compass", "key_count"],
)
def test_a_name_that_does_not(name: str) -> None:
    assert not linted(f"{{{name}: string, password: int}}")


@pytest.mark.parametrize(
    "value",
    [
        "-----BEGIN RSA PRIVATE KEY-----",
        "postgres://app:canary@db:5432/app",
        "Server=db;Password=canary",
        "AKIAABCDEFGHIJKLMNOP",
        "eyJhbGciOiJub25lIn0.eyJzdWIiOiJjYW5hcnkifQ.canary",
    ],
)
def test_a_value_that_looks_sensitive_is_not_quoted(value: str) -> None:
    (told,) = linted("{setting: string}", f"setting: '{value}'\n")
    assert "spec.config.setting" in told
    assert value not in told
    assert "canary" not in told


def test_a_choice_is_no_secret() -> None:
    assert not linted(
        "{token: {$type: string, $oneOf: [jwt, opaque]}, url: string}", "url: 'http://h:80/x@y'\n"
    )


SPEC = """\
  config:
    host: string
    db:
      host: string
      password: {$opm: secret, $secretName: db, $dataKey: password, description: "Of the owner\\nof all"}
    hooks: [{url: string}, {token: {$opm: secret, $secretName: h, $dataKey: t, $optional: true}}]
    'a b': {$opm: secret, $secretName: s, $dataKey: k, $constraints: {minRunes: 3}}
  requires: {pg: {pw: {$opm: secret, $secretName: p, $dataKey: k}}}
"""


def test_a_skeleton_has_exactly_the_sensitive_fields() -> None:
    found = declared(loaded("module.yaml", module(SPEC)))
    text = skeleton("app", found.config, found.requires)
    (document,) = parse_text(text.encode())
    assert document.value == {"db": {"password": {}}, "hooks": [{}, {"token": {}}], "a b": {}}
    for told in ("# Of the owner", "# of all", "requires.pg.pw", "optional", '"minRunes": 3'):
        assert told in text


def test_a_skeleton_as_it_is_fulfils_nothing() -> None:
    found = declared(loaded("module.yaml", module(SPEC)))
    compiled = Compiled(SPEC, skeleton("app", found.config, found.requires))
    unfulfilled = {each.partition(" ")[2] for each in compiled.errors}
    assert {"spec.values.db.password", 'spec.values["a b"]'} <= unfulfilled
    assert "spec.values.hooks[1].token" not in unfulfilled


def test_a_module_without_sensitive_fields_has_an_empty_skeleton() -> None:
    found = declared(loaded("module.yaml", module("  config: {host: string}\n")))
    (document,) = parse_text(skeleton("app", found.config, found.requires).encode())
    assert document.value == {}
