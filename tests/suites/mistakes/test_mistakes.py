"""Wrong manifests as authors write them: `validate` names place, field, cause and remedy of each mistake.

`first_hour` has what newcomers did wrong, `later` what others do. No file has another problem than those
that are listed here: a mistake must not cause a second, false one.
"""

import json
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from syncret.daemon.cli.main import main

HERE: Final = Path(__file__).parent


class Mistake(NamedTuple):
    """The line, the field, a part of the cause and a part of the remedy."""

    line: int
    path: str
    cause: str
    remedy: str


UNKNOWN: Final = "unknown field, it is dropped"
NO_DATA: Final = Mistake(20, "spec", "either data or dataFrom should be specified", "name at least one value")
TEMPLATE: Final = "spec.target.template.data"

FIRST_HOUR: Final = {
    "misspelt_field": [
        Mistake(13, "spec.data[0].remoteref", UNKNOWN, "did you mean remoteRef?"),
        Mistake(12, "spec.data[0].remoteRef", "is required", "remoteRef"),
    ],
    "misspelt_kind_of_store": [
        Mistake(
            10, "spec.secretStoreRef.kind", 'unsupported value "ClusterSecretStor"', "ClusterSecretStore"
        ),
        Mistake(19, "spec.secretStoreRef.name", "is not among the given files", "write kind: SecretStore"),
    ],
    "indentation": [
        Mistake(14, "", "is not valid YAML", "by the same number of spaces"),
        Mistake(22, "data", UNKNOWN, "it belongs under spec"),
        NO_DATA,
    ],
    "key_missing": [Mistake(13, "spec.data[0].remoteRef.key", "is required", "key")],
    "unknown_function": [
        Mistake(16, f"{TEMPLATE}.url", 'line 2, column 20: function "toBase64" not defined', "b64enc?")
    ],
    "duration": [
        Mistake(10, "spec.refreshInterval", 'unknown unit " day"', "no unit for days"),
        Mistake(20, "spec.refreshInterval", 'unknown unit "d"', "no unit for days"),
    ],
    "regular_expression": [
        Mistake(12, "spec.dataFrom[0].find.name.regexp", "missing closing ]: `[`", "close the set"),
        Mistake(
            15,
            "spec.dataFrom[1].rewrite[0].regexp.source",
            "unsupported Perl syntax: `(?<=`",
            "no look-around",
        ),
    ],
    "store_of_another_namespace": [
        Mistake(10, "spec.secretStoreRef.name", "not among the given files", "SecretStore/shared/demo is")
    ],
    "one_target": [
        Mistake(21, "spec.target.name", "is the target of ExternalSecret/default/app, too", "its own")
    ],
    "duplicates": [
        Mistake(14, "spec.data", "the key appears twice", "remove one"),
        Mistake(24, "spec.data[1].secretKey", "duplicate secretKey found: user", "one value"),
        Mistake(29, "metadata.name", "is already defined at", "give it another name"),
    ],
    "no_list": [
        Mistake(11, "spec.data", "must be an array, not a string", "start each entry with '- '"),
        Mistake(18, "spec.data", "must be an array, not an object", "start each entry with '- '"),
    ],
    "tab": [Mistake(12, "", "is not valid YAML", "indent with spaces")],
}

LATER: Final = {
    "key_that_no_entry_makes": [
        Mistake(14, f"{TEMPLATE}.url", 'column 27: the template reads the key "pasword"', "password?"),
        Mistake(15, f"{TEMPLATE}.chain", 'reads the key "tls"', 'write {{ index . "tls.crt" }}'),
    ],
    "unclosed_action_of_a_push": [
        Mistake(19, "spec.template.data.line", "line 1, column 13: unclosed action", "close it with }}"),
        Mistake(28, "spec.data[0].match.secretKey", 'has no key "passwort"', "password?"),
    ],
    "expression_of_a_push": [
        Mistake(
            14, "spec.dataTo[0].match.regexp", "missing argument to repetition operator: `*`", "before it"
        ),
        Mistake(16, "spec.dataTo[0].rewrite[0].transform.template", 'function "uper" not defined', "upper?"),
    ],
    "window": [
        Mistake(17, "spec.syncWindows.windows[0].schedule", "range outside of 0 to 23", "write five fields")
    ],
    "webhook": [
        Mistake(
            13,
            "spec.provider.webhook.headers.Authorization",
            'column 11: the template reads the key "atuh"',
            "auth?",
        ),
        Mistake(
            14, "spec.provider.webhook.result.jsonPath", "cannot be read from column 9 on", "looks like $."
        ),
    ],
    "property": [
        Mistake(13, "spec.data[0].remoteRef.property", "is a JSONPath", "list.0.name"),
        Mistake(15, "spec.data[1].remoteRef.property", "query that is not closed", '#(name=="x")'),
    ],
    "no_base64": [Mistake(4, "data.password", "must be base64", "base64 -w0")],
    "group": [Mistake(1, "apiVersion", 'in group "external-secret.io"', "the group is external-secrets.io")],
    "provider": [
        Mistake(6, "spec.provider.valut", UNKNOWN, "did you mean vault?"),
        Mistake(5, "spec.provider", "must have exactly 1 property, has 0", "known are"),
    ],
    "policy": [
        Mistake(11, "spec.target.creationPolicy", 'unsupported value "owner"', "write one of Owner"),
    ],
    "template_of_a_config_map": [
        Mistake(12, 'data["config.ini"]', 'line 2, column 11: the template reads the key "usr"', "user?"),
        Mistake(
            24,
            "spec.target.template.templateFrom[0].configMap.items[1].key",
            'has no key "config.yaml"',
            "config.ini?",
        ),
    ],
    "text_for_an_object": [
        Mistake(10, "spec.secretStoreRef", "must be an object, not a string", "{name: ...}"),
        Mistake(8, "metadata.name", "is not a DNS name", "lower case letters"),
    ],
}


@pytest.mark.parametrize(
    ("folder", "name", "mistakes"),
    [
        pytest.param(folder, name, mistakes, id=name)
        for folder, files in (("first_hour", FIRST_HOUR), ("later", LATER))
        for name, mistakes in files.items()
    ],
)
def test_each_mistake_is_named_with_its_remedy(
    folder: str, name: str, mistakes: list[Mistake], capsys: pytest.CaptureFixture[str]
) -> None:
    file = HERE / folder / f"{name}.yaml"
    code = main(["validate", "--strict", "-f", str(file), "-o", "json"])
    items = json.loads(capsys.readouterr().out)["items"]
    found = [
        problem
        for item in items
        for problem in item["problems"]
        if "isn't currently maintained" not in problem["message"]  # which is no mistake
    ]
    parts = [(problem["line"], problem["path"]) for problem in found]

    assert code == 2
    assert {item["file"] for item in items} == {str(file)}
    assert parts == [(each.line, each.path) for each in mistakes]
    for problem, mistake in zip(found, mistakes, strict=True):
        assert mistake.cause in problem["message"]
        assert mistake.remedy in problem["hint"]


@pytest.mark.parametrize(("folder", "files"), [("first_hour", FIRST_HOUR), ("later", LATER)])
def test_every_file_is_looked_at(folder: str, files: dict[str, list[Mistake]]) -> None:
    assert sorted(file.stem for file in (HERE / folder).iterdir()) == sorted(files)
    assert len(files) == 12
