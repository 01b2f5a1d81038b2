"""The pages on dynamic exports: their commands print what they show, their expressions give what they say."""

import re
from base64 import b64decode
from pathlib import Path
from typing import Final

import pytest
import yaml

from syncret.config.meta import Document
from syncret.daemon.cli.commands import evaluate
from syncret.daemon.cli.main import main
from syncret.daemon.core.exports.export import export
from syncret.providers.work import Work
from tests.suites.docs.pages import text_of
from tests.unit.daemon.engine.exports.test_reconciler import HereThreads

GUIDE: Final = text_of("docs/guides/exports.md")
EXAMPLES: Final = text_of("docs/guides/exports-examples.md")
SECTIONS: Final = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", EXAMPLES, re.MULTILINE | re.DOTALL))
_COMMAND: Final = re.compile(r"```console\n\$ syncret (.*?)\n(.*?)```", re.DOTALL)


def files_of(page: str) -> dict[str, str]:
    """The manifests of a page, by name."""
    return dict(re.findall(r"```yaml\n# (\S+)\n(.*?)```", page, re.DOTALL))


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluate, "WorkThreads", HereThreads)
    monkeypatch.chdir(tmp_path)


def shown(page: str, section: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """What the command of a section shows; the page must have the same."""
    for name, text in files_of(page).items():
        Path(name).write_text(f"# {name}\n{text}", encoding="utf-8")
    command, told = _COMMAND.findall(section)[0]
    code = main(command.split())
    out, err = capsys.readouterr()
    assert out + err == told
    return code, out, err


def test_the_guide(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = shown(GUIDE, GUIDE, capsys)
    assert (code, out) == (1, "")


def test_the_guide_without_its_mistake() -> None:
    files = files_of(GUIDE)
    text = files["redis.yaml"].replace(
        "resource.spec.location", "resource.spec.?location.orValue('anywhere')"
    )
    found = export(yaml.safe_load(text), yaml.safe_load(files["keys.yaml"]), Work())
    assert found.hints == ["hostName", "sslPort"]
    assert [made.data for made in found.made] == [
        {"hostPort": "cache.redis.cache.windows.net:6380"},
        {"id": yaml.safe_load(text)["status"]["id"], "region": "anywhere", "port": "6380"},
    ]


EXPECTED: Final = {
    "A connection string": [
        {
            "connectionString": "DefaultEndpointsProtocol=https;AccountName=shopacct;AccountKey=first-key;"
            "EndpointSuffix=core.windows.net"
        }
    ],
    "Host and port": [{"hostPort": "cache.redis.cache.windows.net:6380"}],
    "A field of the status": [
        {"id": "/subscriptions/1/resourceGroups/rg/providers/Microsoft.DocumentDB/databaseAccounts/orders"}
    ],
    "An item of a list by its name": [{"image": "AKSUbuntu-2404-2", "firstPool": "system", "team": "orders"}],
    "All keys at once": [
        {"a": "first-key", "b": "second-key"},
        {"cost-center": "42", "team.name": "orders"},
    ],
}


@pytest.mark.parametrize("title", EXPECTED)
def test_an_example(title: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = shown(EXAMPLES, SECTIONS[title], capsys)
    assert (code, err) == (0, "")
    made: list[Document] = list(yaml.safe_load_all(out))
    assert [held(each) for each in made] == EXPECTED[title]
    for told in re.findall(r"The key stands for `(.*?)`", SECTIONS[title]):
        assert told in held(made[0]).values()


def held(manifest: Document) -> dict[str, str]:
    data: dict[str, str] = manifest["data"]
    if manifest["kind"] == "ConfigMap":
        return data
    return {key: b64decode(text).decode() for key, text in data.items()}


def test_which_credentials_are_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = shown(EXAMPLES, SECTIONS["One of two kinds of credentials"], capsys)
    assert (code, yaml.safe_load(out)["hints"]) == (0, ["userCredentials"])


def test_every_example_is_tried() -> None:
    assert {*EXPECTED, "One of two kinds of credentials"} == {*SECTIONS}


STATUS: Final[Document] = {
    "hostName": "c.example",
    "sslPort": 6380,
    "ipPrefix": "192.0.2.0/28",
    "id": "/subscriptions/1/resourceGroups/rg/providers/Microsoft.Cache/redis/cache",
    "agentPoolProfiles": [{"name": "system", "count": 3}],
}


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("'%s:%d'.format([resource.status.hostName, resource.status.sslPort])", "c.example:6380"),
        ("resource.status.ipPrefix", "192.0.2.0/28"),
        ("aso.parseResourceId(resource.status.id).resourceGroupName", "rg"),
        ("string(resource.status.agentPoolProfiles[0].count)", "3"),
    ],
)
def test_an_expression_in_passing(expression: str, expected: str) -> None:
    assert f"`{expression}`" in EXAMPLES
    entry = {"name": "o", "key": "k", "value": expression}
    (made,) = export(resource_with({"dynamicConfigMaps": [entry]}), {}, Work()).made
    assert made.data == {"k": expected}


def test_all_secrets_in_passing() -> None:
    assert "`valueMap: secret`" in EXAMPLES
    entry = {"name": "o", "valueMap": "secret"}
    found = export(resource_with({"dynamicSecrets": [entry]}), {"a": "1"}, Work())
    assert ([each.data for each in found.made], [*found.hints]) == ([{"a": "1"}], ["*"])


def resource_with(operator_spec: Document) -> Document:
    return {"metadata": {"name": "r"}, "spec": {"operatorSpec": operator_spec}, "status": STATUS}
