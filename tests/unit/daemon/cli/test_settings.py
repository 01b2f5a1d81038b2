"""One set of settings for all commands: defaults < file < environment < flags."""

import json
from pathlib import Path

import pytest

from syncret.config.errors import ConfigError
from syncret.daemon.cli.main import main
from syncret.daemon.cli.parser.arguments import parser
from syncret.daemon.cli.settings import settings_of_daemon
from tests.support.manifests import SYNCED


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with manifests."""
    (tmp_path / "manifests").mkdir()
    (tmp_path / "manifests" / "app.yaml").write_text(SYNCED)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ran(capsys: pytest.CaptureFixture[str], *command: str) -> tuple[int, str, str]:
    code = main(list(command))
    told = capsys.readouterr()
    return code, told.out, told.err


def test_a_settings_file_is_enough(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("syncret.yaml").write_text("manifests: [manifests]\noutputDir: out\nstateFile: state.db\n")

    code, out, err = ran(capsys, "sync", "--config", "syncret.yaml")
    assert (code, (folder / "out/default/app/k").read_text()) == (0, "b")
    assert "out/default/app/" in out
    assert err.startswith("1 created, ")
    assert ran(capsys, "plan", "--config", "syncret.yaml")[:2] == (0, "nothing would change\n")
    assert ran(capsys, "validate", "--config", "syncret.yaml")[2] == "2 documents: 0 errors, 0 warnings\n"


def test_the_environment_is_enough(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SYNCRET_MANIFESTS", "manifests")
    monkeypatch.setenv("SYNCRET_OUTPUT_DIR", "out")
    monkeypatch.setenv("SYNCRET_STATE_FILE", "state.db")

    assert ran(capsys, "sync")[0] == 0
    assert (folder / "out/default/app/k").read_text() == "b"
    assert (folder / "state.db").exists()
    assert ran(capsys, "plan")[:2] == (0, "nothing would change\n")
    assert ran(capsys, "validate")[0] == 0


@pytest.mark.parametrize(
    ("file", "variable", "flags", "written"),
    [
        pytest.param("", "", [], None, id="default"),
        pytest.param("outputDir: of-file", "", [], "of-file", id="file"),
        pytest.param("outputDir: of-file", "of-environment", [], "of-environment", id="environment"),
        pytest.param(
            "outputDir: of-file", "of-environment", ["--set", "outputDir=of-set"], "of-set", id="set"
        ),
        pytest.param(
            "outputDir: of-file", "of-environment", ["--output-dir", "of-flag"], "of-flag", id="flag"
        ),
    ],
)
def test_the_later_layer_says_where_sync_writes(
    file: str,
    variable: str,
    flags: list[str],
    written: str | None,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path("syncret.yaml").write_text(f"manifests: [manifests]\n{file}\n")
    if variable:
        monkeypatch.setenv("SYNCRET_OUTPUT_DIR", variable)
    assert ran(capsys, "sync", "--config", "syncret.yaml", *flags)[0] == 0
    others = {path.name for path in folder.iterdir()} - {"manifests", "syncret.yaml"}
    assert others == ({written} if written else set())


@pytest.mark.parametrize("command", ["validate", "plan", "sync", "run"])
def test_without_manifests_each_command_names_the_ways_to_give_them(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = ran(capsys, command)
    assert code == 2
    assert err == (
        "syncret: manifests: there are none (name them with -f PATH, in SYNCRET_MANIFESTS, or as `manifests` "
        "in a settings file (--config FILE))\n"
    )


@pytest.mark.parametrize(
    "command",
    [
        ["validate", "-f", "manifests"],
        ["plan", "-f", "manifests"],
        ["sync", "-f", "manifests"],
        ["run", "-f", "manifests"],
        ["demo"],
        ["status"],
        ["status", "--socket", "control.sock"],
        ["explain", "es/app"],
        ["refresh", "es/app"],
        ["template", "manifests/app.yaml"],
    ],
    ids=" ".join,
)
def test_a_misspelt_variable_ends_each_command(
    command: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SYNCRET_OUTPUTDIR", "out")
    code, out, err = ran(capsys, *command)
    assert (code, out) == (2, "")
    assert "SYNCRET_OUTPUTDIR: " in err
    assert err.endswith("there is no such setting (did you mean SYNCRET_OUTPUT_DIR?)\n")


def test_templates_have_the_limits_of_the_settings(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("key.tpl").write_text('{{ genPrivateKey "ed25519" }}')
    Path("syncret.yaml").write_text("templateKeys: 0\n")
    refused = ran(capsys, "template", "--config", "syncret.yaml", "key.tpl")
    assert refused[0] == 1
    assert "more keys than templateKeys allows" in refused[2]
    monkeypatch.setenv("SYNCRET_TEMPLATE_KEYS", "1")
    assert ran(capsys, "template", "--config", "syncret.yaml", "key.tpl")[0] == 0
    assert ran(capsys, "template", "--set", "templateKeys=0", "key.tpl")[0] == 1


@pytest.mark.parametrize("command", ["sync", "plan"])
def test_flags_name_other_manifests_than_the_settings(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("syncret.yaml").write_text("manifests: [elsewhere]\n")
    code, out, _ = ran(capsys, command, "--config", "syncret.yaml", "-f", "manifests", "-o", "json")
    assert code == 0
    assert "app" in json.dumps(json.loads(out))


@pytest.mark.parametrize("command", ["validate", "plan", "sync"])
def test_folders_of_the_settings_are_held_to_their_bounds(
    command: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("syncret.yaml").write_text("manifests: [{path: manifests, namespaces: [team-a]}]\n")
    code, out, err = ran(capsys, command, "--config", "syncret.yaml")
    assert code == 2
    told = out + err
    problem = f"error: metadata.namespace: default is not a namespace of {folder}/manifests (the setting"
    assert told.count(problem) == 2
    assert f"manifests/app.yaml:3: {problem}" in told
    assert f"manifests/app.yaml:8: {problem}" in told
    assert ran(capsys, command, "--config", "syncret.yaml", "-f", "manifests")[0] == 0, "-f is not bound"


def test_only_a_daemon_in_a_cluster_can_observe(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = ran(capsys, "run", "-f", "manifests", "--set", "observe=true")
    assert code == 2
    assert "observe: has a meaning in a cluster alone" in err


def test_a_part_is_chosen_in_a_cluster_alone() -> None:
    options = parser().parse_args(["run", "-f", "x", "--only", "webhook"])
    with pytest.raises(ConfigError) as refused:
        settings_of_daemon(options)
    assert "add --kubernetes" in str(refused.value)


def test_the_controller_alone_serves_no_webhook(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text("webhook: {enabled: true, tlsMinVersion: 1.3}\n")
    for more, enabled in ((), True), (("--only", "controller"), False):
        options = parser().parse_args(["run", "--kubernetes", "--config", str(file), *more])
        webhook = settings_of_daemon(options).webhook
        assert (webhook.enabled, webhook.tls_min_version) == (enabled, "1.3")
