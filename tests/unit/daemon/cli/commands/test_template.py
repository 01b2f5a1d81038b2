"""`syncret template`, in the process of the test."""

from pathlib import Path

import pytest

from syncret.daemon.cli.main import main

SECRET = "apiVersion: v1\nkind: Secret\ndata: {a: /w==, b: aGk=}\nstringData: {c: text}\n"


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("secret.yaml").write_text(SECRET, encoding="utf-8")
    Path("list.json").write_text("[1, 2.0, null]", encoding="utf-8")
    return tmp_path


def template(text: str, *arguments: str) -> int:
    Path("x.tpl").write_text(text, encoding="utf-8")
    return main(["template", "x.tpl", *arguments])


@pytest.mark.parametrize(
    ("text", "arguments", "expected"),
    [
        pytest.param("{{.b | upper}}|{{.c}}|{{.a}}", ["--data", "secret.yaml"], b"HI|text|\xff", id="secret"),
        pytest.param(
            "{{range .}}{{printf `%T ` .}}{{end}}", ["--data", "list.json"], b"int float64 <nil> ", id="list"
        ),
        pytest.param("{{.x}}", ["--missing-key", "default"], b"<no value>", id="missing"),
        pytest.param("<<1>>{{", ["--delims", "<<,>>"], b"1{{", id="delimiters"),
        pytest.param("{{.x}}", ["--check"], b"", id="check"),
    ],
)
def test_renders(
    write: Path, text: str, arguments: list[str], expected: bytes, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert template(text, *arguments) == 0
    assert capfdbinary.readouterr().out == expected


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        pytest.param("out\n  {{.x}}", [], id="render"),
        pytest.param("out\n  {{x}}", ["--check"], id="parse"),
        pytest.param("out\n  {{upper `a`}}", ["--functions", "go"], id="functions"),
    ],
)
def test_refuses_with_line_and_column(
    write: Path, text: str, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert template(text, *arguments) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert "line 2, column 5" in told.err
    assert told.err.count("\n") == 1


@pytest.mark.parametrize(
    ("data", "told"),
    [
        pytest.param("gone.yaml", "there is no such file or folder (correct the path", id="no file"),
        pytest.param("bad.yaml", "is no base64", id="no base64"),
        pytest.param("two.yaml", "one document", id="two documents"),
        pytest.param("broken.json", "is not valid JSON", id="broken"),
    ],
)
def test_data_that_cannot_be_read(
    write: Path, data: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("bad.yaml").write_text("{apiVersion: v1, kind: Secret, data: {a: '!'}}", encoding="utf-8")
    Path("two.yaml").write_text("a: 1\n---\nb: 2\n", encoding="utf-8")
    Path("broken.json").write_text("{", encoding="utf-8")
    assert template("{{.}}", "--data", data) == 2
    assert told in capsys.readouterr().err


def test_data_of_an_unknown_form_are_the_data(write: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    Path("odd.yaml").write_text("apiVersion: v1\nkind: {a: b}\n", encoding="utf-8")

    assert template("{{.kind.a}}", "--data", "odd.yaml") == 0
    assert capfdbinary.readouterr().out == b"b"
