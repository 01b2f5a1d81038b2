"""`syncret release`: exit codes, what is printed where, tags and what they may read; values stay unseen."""

import json
import os
from pathlib import Path

import pytest

from syncret.config.meta import Document
from syncret.config.text.yaml import parse_text
from syncret.daemon.cli.main import main
from tests.support.canary import CANARY, leaks

HEAD = "apiVersion: syncret.dev/v1alpha1\nkind: "
MODULE = (
    HEAD
    + """Module
metadata: {name: app}
spec:
  config:
    host: string
    password: {$opm: secret, $secretName: db, $dataKey: password}
  containers: {main: {image: x, env: {PASSWORD: {from: config.password}}}}
"""
)
PLATFORM = HEAD + "Platform\nspec: {secretStoreRef: {name: platform, kind: ClusterSecretStore}}\n"
STORE = """\
apiVersion: external-secrets.io/v1
kind: %s
metadata: {name: %s}
spec: {provider: {fake: {data: [{key: db, value: '{"password": "%s"}'}]}}}
"""


class Ran:
    """The command, run in a folder with these files."""

    def __init__(self, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self._folder = folder
        self._capfd = capfd
        self.err = ""
        self.out = ""

    def __call__(self, *arguments: str, **files: str) -> int:
        (self._folder / "module.yaml").write_text(MODULE)
        given = ["-f", str(self._folder / "module.yaml")]
        for name, text in files.items():
            (self._folder / f"{name}.yaml").write_text(text)
            given += ["-f", str(self._folder / f"{name}.yaml")]
        code = main(["release", *given, *arguments])
        self.out, self.err = self._capfd.readouterr()
        return code

    def read(self) -> tuple[str, str]:
        """What was printed since, on stdout and stderr."""
        return self._capfd.readouterr()

    @property
    def report(self) -> Document:
        """The document of `-o json`."""
        document: Document = json.loads(self.out)
        return document

    def password(self) -> str:
        """The value that was resolved, in base64."""
        (secret,) = [item for item in self.report["items"] if item["kind"] == "Secret"]
        return str(secret["data"]["password"])


@pytest.fixture
def ran(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Ran:
    return Ran(tmp_path, capfd)


def values(password: str) -> str:
    return f"host: h\npassword: {password}\n"


def test_manifests_are_redacted_unless_values_are_asked_for(ran: Ran) -> None:
    assert ran(values=values(f"{{value: '{CANARY}'}}")) == 0
    assert not leaks("stdout", ran.out)
    secret, deployment = (each.value for each in parse_text(ran.out.encode()))
    assert secret["data"] == {"password": "<redacted>"}
    assert deployment["kind"] == "Deployment"
    assert ran("--show-values", values=values(f"{{value: '{CANARY}'}}")) == 0
    assert leaks("stdout", ran.out)


def test_the_report_says_what_became_of_each_field(ran: Ran) -> None:
    assert ran("-o", "json", values=values("{path: other, remoteKey: pw}")) == 0
    assert ran.report["kind"] == "ReleaseReport"
    assert ran.report["secrets"] == [
        {
            "path": "spec.config.password",
            "variant": "k8s",
            "origin": "written",
            "ref": {"name": "other", "key": "pw"},
            "constraints": "none",
        }
    ]


def test_nothing_is_half_rendered(ran: Ran, tmp_path: Path) -> None:
    assert ran(values=values("{valeu: x}")) == 2
    assert ran.out == ""
    assert ran.err == (
        f"{tmp_path}/values.yaml:2: error: spec.values.password.valeu: there is no such member "
        "(did you mean value?)\n"
    )
    assert ran("-o", "json", values=values("{valeu: x}")) == 2
    assert ran.report["items"] == []
    assert [problem["line"] for problem in ran.report["problems"]] == [2]


@pytest.mark.parametrize(
    "text",
    [
        f'{{value: "{CANARY}\n  x: y',
        f"{{value: *{CANARY}}}",
        f"{{value: {CANARY}: x}}",
        f"{{value: !!int {CANARY}}}",
        f'{{value: "{CANARY}\\q"}}',
        f"{{value: {CANARY}}}\npassword: x",
        f"{CANARY}",
        f"[{CANARY}]",
        f"{{value: [{CANARY}]}}",
        f"{{value: {CANARY}, path: p}}",
        f"{{valeu: {CANARY}}}",
        f"{{path: {CANARY}, remoteKey: k}}",
        f"{{source: {CANARY}, path: p, remoteKey: k}}",
        f"{{$secretName: {CANARY}, value: v}}",
        f"'@env({CANARY}'",
        f"'@file(x, trim={CANARY})'",
        f"'@secret(source={CANARY}, path=p, key=k)'",
        f"'@env(A, {CANARY})'",
    ],
)
@pytest.mark.parametrize("form", ["yaml", "json"])
def test_no_message_tells_what_was_written(text: str, form: str, ran: Ran) -> None:
    assert ran("-o", form, "--show-values", "--resolve", "env,file,secret", values=values(text)) == 2
    assert not leaks("stdout", ran.out)
    assert not leaks("stderr", ran.err)


def test_a_plain_field_does_not_tell_either(ran: Ran) -> None:
    wrong = f"host: [{CANARY}]\npassword: {{value: x}}\n"
    assert ran(values=wrong) == 2
    assert not leaks("stderr", ran.err)


@pytest.mark.parametrize("kind", ["env", "file", "secret"])
def test_a_tag_is_resolved_only_if_its_kind_is_allowed(kind: str, ran: Ran) -> None:
    tag = {"env": "@env(HOME)", "file": "@file(x)", "secret": "@secret(source=eso, path=p, key=k)"}[kind]
    others = ",".join({"env", "file", "secret"} - {kind})
    assert ran("--resolve", others, values=values(f"'{tag}'")) == 2
    assert f"add --resolve {kind}" in ran.err


def test_the_environment(ran: Ran, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYNCRET_TEST_A", "canary")
    monkeypatch.setenv("SYNCRET_TEST_B", "")
    arguments = ("--resolve", "env", "-o", "json", "--show-values")
    assert ran(*arguments, values=values("'@env(SYNCRET_TEST_A)'")) == 0
    assert ran.password() == "Y2FuYXJ5"
    assert ran.report["secrets"][0]["origin"] == "env"
    assert ran(*arguments, values=values("'@env(SYNCRET_TEST_B)'")) == 0
    assert ran.password() == ""
    assert ran(*arguments, values=values("'@env(SYNCRET_TEST_C)'")) == 1
    assert "SYNCRET_TEST_C is not set" in ran.out


def test_a_document_at_fault_outranks_a_tag(ran: Ran) -> None:
    assert ran("--resolve", "env", values="password: '@env(SYNCRET_TEST_C)'\n") == 2


def test_a_file_is_read_beside_the_values_as_it_is(ran: Ran, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "pw").write_bytes(b"\xffa\r\n\n")
    arguments = ("--resolve", "file", "-o", "json", "--show-values")
    assert ran(*arguments, values=values("'@file(sub/pw)'")) == 0
    assert ran.password() == "/2ENCgo="
    assert ran(*arguments, values=values("'@file(sub/pw, trim=true)'")) == 0
    assert ran.password() == "/2E="


@pytest.mark.parametrize("path", ["/proc/self/environ", "/dev/zero", "link", "fifo", ".", "nothing", "large"])
def test_a_file_that_is_none_is_refused_at_once(path: str, ran: Ran, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("/proc/self/environ")
    (tmp_path / "large").write_bytes(b"x" * (1024 * 1024 + 1))
    assert ran("--resolve", "file", values=values(f"'@file({path})'")) == 1
    assert ran.out == ""
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(
    ("tag", "value"),
    [
        pytest.param("source=eso, path=db, key=password", "cGxhdGZvcm0=", id="the platform's store"),
        pytest.param("store=team, path=db, key=password", "dGVhbQ==", id="another store"),
        pytest.param("source=k8s, path=there, key=a", "Y2FuYXJ5", id="a Secret's data"),
        pytest.param("source=k8s, path=there, key=b", "cGxhaW4=", id="a Secret's text"),
    ],
)
def test_a_secret_is_read_with_our_own_providers(tag: str, value: str, ran: Ran) -> None:
    code = ran(
        *("--resolve", "secret", "-o", "json", "--show-values"),
        values=values(f"'@secret({tag})'"),
        platform=PLATFORM,
        stores=STORE % ("ClusterSecretStore", "platform", "platform")
        + "---\n"
        + STORE % ("SecretStore", "team", "team"),
        secret="apiVersion: v1\nkind: Secret\nmetadata: {name: there}\n"
        "data: {a: Y2FuYXJ5}\nstringData: {b: plain}\n",
    )
    assert (code, ran.password()) == (0, value)
    assert ran.report["secrets"][0]["origin"] == "secret"


@pytest.mark.parametrize(
    ("tag", "code", "told"),
    [
        pytest.param("source=eso, path=nothing, key=k", 1, "nothing", id="no entry"),
        pytest.param("source=eso, path=db, key=nothing", 1, "db", id="no property"),
        pytest.param("store=other, path=db, key=k", 2, "there is no store other", id="no store"),
        pytest.param("store=broken, path=db, key=k", 1, "SecretStore/broken is not valid", id="broken store"),
        pytest.param("source=k8s, path=nothing, key=k", 2, "no Secret nothing", id="no Secret"),
    ],
)
def test_a_source_that_does_not_deliver(tag: str, code: int, told: str, ran: Ran) -> None:
    came = ran(
        *("--resolve", "secret"),
        values=values(f"'@secret({tag})'"),
        platform=PLATFORM,
        stores=STORE % ("ClusterSecretStore", "platform", CANARY)
        + "---\napiVersion: external-secrets.io/v1\nkind: SecretStore\nmetadata: {name: broken}\nspec: {}\n",
    )
    assert (came, ran.out) == (code, "")
    assert told in ran.err
    assert not leaks("stderr", ran.err)


def test_without_a_platform_a_store_must_be_named(ran: Ran) -> None:
    assert ran("--resolve", "secret", values=values("'@secret(source=eso, path=a, key=b)'")) == 2
    assert "store=NAME" in ran.err


def test_strict_refuses_literals(ran: Ran) -> None:
    assert ran("--strict", values=values("{value: x}")) == 2


def test_skeleton_and_lint(ran: Ran, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert ran("skeleton") == 0
    assert ran.out.endswith("# key password of db\npassword: {}\n")
    file = tmp_path / "plain.yaml"
    file.write_text(MODULE.replace("host: string", "api_token: string"))
    assert main(["release", "lint", "-f", str(file)]) == 0
    assert f"{file}:6: warning: spec.config.api_token: " in capfd.readouterr().err
    assert main(["release", "lint", "--strict", "-f", str(file), "-o", "json"]) == 2
    (problem,) = json.loads(capfd.readouterr().out)["problems"]
    assert problem["severity"] == "warning"


def test_skeleton_of_a_broken_module_is_none(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "module.yaml"
    file.write_text(MODULE.replace("$opm: secret, ", ""))
    assert main(["release", "skeleton", "-f", str(file)]) == 2
    out, err = capfd.readouterr()
    assert not out
    assert "spec.config.password.$opm" in err


@pytest.mark.parametrize("arguments", [[], ["-f", "x.yaml", "--resolve", "vault"], ["-f", "x", "render"]])
def test_wrong_usage(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        main(["release", *arguments])
    assert raised.value.code == 2


def test_a_file_that_is_not_there(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["release", "-f", str(tmp_path / "nothing.yaml")]) == 2
    assert "there is no such file or folder" in capfd.readouterr().err


def test_many_fields_and_much_nesting_are_bounded(ran: Ran) -> None:
    deep = "{a: " * 300 + "x" + "}" * 300
    assert ran(values=f"host: h\npassword: {deep}\n") == 2
    assert "nested deeper than 250 levels" in ran.err
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)
    )
    assert ran(values=bomb) == 2
    assert "aliases repeat too many values" in ran.err


@pytest.mark.parametrize(
    ("size", "path", "said"),
    [
        pytest.param(10_000_000, "spec.values.password", "larger than 1 MiB", id="ten megabytes"),
        pytest.param(1_000_000, "spec.values.password.value", "takes too long to be checked", id="much work"),
    ],
)
def test_a_huge_value_is_one_problem(size: int, path: str, said: str, ran: Ran, tmp_path: Path) -> None:
    costly = "$dataKey: password, $constraints: {pattern: [x, xx, xxx, xxxx, xxxxx]}"
    (tmp_path / "huge.yaml").write_text(values("{value: " + "x" * size + "}"))
    (tmp_path / "costly.yaml").write_text(MODULE.replace("$dataKey: password", costly))
    given = ["-f", str(tmp_path / "costly.yaml"), "-f", str(tmp_path / "huge.yaml")]
    assert main(["release", *given, "-o", "json"]) == 2
    ran.out, ran.err = ran.read()
    (problem,) = ran.report["problems"]
    assert problem["path"] == path
    assert said in problem["message"]


def test_many_mistakes_are_told_in_time(ran: Ran) -> None:
    unknown = "".join(f"hots{number}: h\n" for number in range(3_000))
    assert ran(values=f"{unknown}{values('{value: x}')}") == 2
    assert ran.err.count("\n") == 3_000


def test_many_fields_of_one_slot_are_told_briefly(ran: Ran, tmp_path: Path) -> None:
    leaf = "{$opm: secret, $secretName: s, $dataKey: k}"
    config = ", ".join(f"f{number}: {leaf}" for number in range(2_000))
    spec = f"{{config: {{{config}}}, containers: {{a: {{image: x}}}}}}"
    (tmp_path / "many.yaml").write_text(f"{HEAD}Module\nmetadata: {{name: a}}\nspec: {spec}\n")
    (tmp_path / "v.yaml").write_text("".join(f"f{n}: {{value: v{n}}}\n" for n in range(2_000)))
    assert main(["release", "-f", str(tmp_path / "many.yaml"), "-f", str(tmp_path / "v.yaml")]) == 2
