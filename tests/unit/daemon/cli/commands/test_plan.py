"""What `plan` says besides the changes: where the daemon's own identity would go."""

import json
from pathlib import Path

import pytest

from syncret.daemon.cli.main import main

STORE = """\
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: vault}
spec:
  provider: {vault: {server: "http://127.0.0.1:1", auth: {kubernetes: {role: r, mountPath: kubernetes}}}}
"""


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        pytest.param([], "i SecretStore/default/vault: sends a token of the daemon's own", id="open"),
        pytest.param(
            ["ownIdentity.receivers.vault=http://127.0.0.1:1"],
            "(allowed: ownIdentity.receivers.vault[0])",
            id="written",
        ),
        pytest.param(
            ["ownIdentity.mode=strict"], "must not be sent to http://127.0.0.1:1 (allow it with", id="strict"
        ),
    ],
)
def test_where_the_own_identity_goes(
    settings: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "store.yaml").write_text(STORE)
    flags = [word for setting in settings for word in ("--set", setting)]
    command = ["plan", "-f", str(tmp_path), "--set", "callTimeout=1s", *flags]
    assert main(command) == 1  # there is no server
    assert said in capsys.readouterr().out

    assert main([*command, "-o", "json"]) == 1
    (receiver,) = json.loads(capsys.readouterr().out)["receivers"]
    assert receiver["allowed"] == ("strict" not in "".join(settings))


def test_a_provider_that_is_misspelt_in_the_settings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "store.yaml").write_text(STORE)
    settings = ["--set", "ownIdentity.receivers.valt=a.example", "--set", "ownIdentity.clusterOnly=aws,ibn"]
    assert main(["plan", "-f", str(tmp_path), *settings]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "syncret: ownIdentity.receivers: there is no provider valt (did you mean vault?)",
        "syncret: ownIdentity.clusterOnly: there is no provider ibn (did you mean ibm?)",
    ]


def test_a_failure_names_file_and_line_of_the_manifest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "app.yaml").write_text(
        "apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: app}\n"
        "spec: {secretStoreRef: {name: gone}, data: [{secretKey: a, remoteRef: {key: b}}]}\n"
    )
    assert main(["plan", "-f", str(tmp_path)]) == 1
    assert f"! ExternalSecret/default/app ({tmp_path}/app.yaml:4): " in capsys.readouterr().out


def test_without_an_output_folder_it_says_what_it_compares_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "store.yaml").write_text(
        STORE.split("  provider:", maxsplit=1)[0] + "  provider: {fake: {data: []}}\n"
    )
    command = ["plan", "-f", str(tmp_path / "store.yaml")]
    assert main(command) == 0
    assert capsys.readouterr().err == (
        "compared with no files: there is no output folder (name one with --output-dir DIR, or as "
        "the setting outputDir)\n"
    )
    assert main([*command, "--output-dir", str(tmp_path / "out")]) == 0
    assert capsys.readouterr().err == ""
    assert main([*command, "-o", "json"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("flag", [["-n", "shop"], ["--context", "prod"]])
def test_flags_of_clusters_are_refused(flag: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "-f", "x.yaml", *flag]) == 2
    assert f"{flag[0]} is for a cluster (add --kubernetes)" in capsys.readouterr().err


CONSTRAINED = """\
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: s}
spec: {provider: {fake: {data: [{key: db, value: planted}]}}}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata:
  name: db
  annotations:
    syncret.dev/constraints: '{"keys": {"password": [{"minRunes": 12}]}, "policy": "%s"}'
spec:
  secretStoreRef: {name: s}
  data: [{secretKey: password, remoteRef: {key: db}}]
"""


def test_a_value_that_violates_its_constraint_is_a_failure_and_no_change(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "app.yaml").write_text(CONSTRAINED % "block")
    assert main(["plan", "-f", str(tmp_path)]) == 1
    told = capsys.readouterr().out
    assert "violated: password: minRunes" in told
    assert f"! ExternalSecret/default/db ({tmp_path}/app.yaml:" in told
    assert "planted" not in told
    assert main(["plan", "-f", str(tmp_path), "-o", "json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["changes"] == []
    violation = {"object": "ExternalSecret/default/db", "message": "violated: password: minRunes"}
    assert report["violations"] == [violation]


def test_with_the_policy_warn_it_is_a_change(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "app.yaml").write_text(CONSTRAINED % "warn")
    assert main(["plan", "-f", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert "+ Secret/default/db" in told
    assert "i ExternalSecret/default/db: violated: password: minRunes" in told


def test_a_delivery_says_which_files_change_and_what_follows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "web.yaml").write_text(
        "apiVersion: v1\nkind: Secret\nmetadata: {name: tls}\nstringData: {server.pem: x}\n---\n"
        "apiVersion: syncret.dev/v1alpha1\nkind: Delivery\nmetadata: {name: web}\nspec:\n"
        f"  sources: [{{secret: tls}}]\n  to: [{{directory: {{path: {tmp_path}/tls}}}}]\n"
        "  check: {unit: nginx-check.service}\n  reload: {unit: nginx.service}\n"
    )
    (tmp_path / "web.yaml").chmod(0o644)
    assert main(["plan", "-f", str(tmp_path / "web.yaml"), "--output-dir", str(tmp_path / "out")]) == 0
    assert capsys.readouterr().out.splitlines()[-3:] == [
        "+ Delivery/default/web",
        f"    + {tmp_path}/tls/server.pem",
        "    then check nginx-check.service, reload nginx.service",
    ]
