"""The page on dynamic exports: its manifest, and its expressions, are evaluated as they stand there."""

import re
from pathlib import Path
from typing import Final

import pytest
import yaml

from syncret.config.meta import Document
from syncret.daemon.cli.main import main
from syncret.daemon.core.exports.export import export
from syncret.providers.work import Work

PAGE: Final = (Path(__file__).parents[3] / "docs/guides/exports.md").read_text(encoding="utf-8")
FILES: Final = dict(re.findall(r"```yaml\n# (\S+)\n(.*?)```", PAGE, re.DOTALL))
EXPRESSIONS: Final = re.findall(r"```cel\n(.*?)\n```", PAGE, re.DOTALL)
RESOURCE: Final[Document] = {
    "metadata": {"name": "r", "annotations": {"team/a": "yes"}},
    "spec": {"azureName": "acct"},
    "slice": [{"name": "foo", "value": "F"}, {"name": "bar", "value": "B"}],
}


def test_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(f"# {name}\n{text}", encoding="utf-8")
    command, told = re.findall(r"```console\n\$ syncret (.*?)\n(.*?)```", PAGE, re.DOTALL)[0]
    assert main(command.split()) == 1
    assert capsys.readouterr().err == told


def test_the_manifest() -> None:
    text = FILES["redis.yaml"].replace(
        "resource.spec.location", "resource.spec.?location.orValue('anywhere')"
    )
    found = export(yaml.safe_load(text), yaml.safe_load(FILES["keys.yaml"]), Work())
    assert found.hints == ["hostName", "sslPort"]
    assert [made.data for made in found.made] == [
        {"hostPort": "cache.redis.cache.windows.net:6380"},
        {"id": yaml.safe_load(text)["status"]["id"], "region": "anywhere", "port": "6380"},
    ]


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0, "DefaultEndpointsProtocol=https;AccountName=acct;AccountKey=K;EndpointSuffix=core.windows.net"),
        (1, "F"),
        (2, {"team.a": "yes"}),
    ],
)
def test_examples(number: int, expected: str | dict[str, str]) -> None:
    entry: Document = {"name": "o", "value": EXPRESSIONS[number]}
    if isinstance(expected, str):
        entry["key"] = "k"
    spec = {**RESOURCE["spec"], "operatorSpec": {"secretExpressions": [entry]}}
    (made,) = export({**RESOURCE, "spec": spec}, {"key1": "K"}, Work()).made
    assert made.data == (expected if isinstance(expected, dict) else {"k": expected})


def test_every_expression_of_the_page_is_tried() -> None:
    assert len(EXPRESSIONS) == 3
