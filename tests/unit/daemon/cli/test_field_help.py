"""`explain --field`: finds fields as people write them, and shows them as kubectl explain does."""

import json

import pytest

from syncret.config.catalog import BrokenEntry
from syncret.daemon.cli.field_help import find
from syncret.daemon.cli.main import main
from syncret.providers.registry import Offer, Registry


def explain(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["explain", "--field", *arguments])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def document(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    code, out, err = explain(capsys, *arguments, "-o", "json")
    assert (code, err) == (0, "")
    found: dict[str, object] = json.loads(out)
    return found


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("externalsecret.spec.data.remoteRef.key", id="as-kubectl"),
        pytest.param("ExternalSecret.spec.data[].remoteRef.key", id="as-the-reference"),
        pytest.param("es.spec.data[3].remoteRef.key", id="as-a-problem"),
        pytest.param("externalsecrets.spec.data.remoteRef.key", id="plural"),
    ],
)
def test_a_field_is_found_however_it_is_written(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, name)
    assert (found["kind"], found["name"], found["required"]) == ("ExternalSecret", "key", True)


def test_a_field_has_its_type_and_its_default(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, "externalsecret.spec.refreshInterval")
    assert (found["apiVersion"], found["type"]) == ("external-secrets.io/v1", "duration")
    assert found["default"] == "1h0m0s"


def test_specs_of_providers_and_generators_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert document(capsys, "clustersecretstore.spec.provider.vault.version")["choices"] == ["v1", "v2"]
    assert document(capsys, "password.spec.length")["default"] == 24
    assert document(capsys, "clustergenerator.spec.generator.passwordSpec.length")["default"] == 24


def test_a_broken_provider_of_another_package_is_no_obstacle_to_the_others() -> None:
    def installed(group: str) -> list[Offer]:
        return [Offer("acme", "acme_nowhere:PROVIDER")] if group == "syncret.providers" else []

    registry = Registry(entry_points=installed)
    assert find("secretstore.spec.provider.vault.server", registry).field.required
    with pytest.raises(BrokenEntry, match="acme"):
        find("secretstore.spec.provider.acme", registry)


def test_maps_are_passed_through(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, "pushsecret.status.syncedPushSecrets.<key>.<key>.match.secretKey")
    assert found["path"] == "pushsecret.status.syncedPushSecrets.match.secretKey"


def test_the_text_lists_the_fields_below_with_their_descriptions(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = explain(capsys, "es.spec")
    lines = out.splitlines()
    assert code == 0
    assert lines[:2] == ["ExternalSecret external-secrets.io/v1", "es.spec  <object>"]
    assert "  refreshInterval  <duration>  default 1h0m0s" in lines
    place = lines.index("  target  <object>")
    assert lines[place + 1].startswith("      ")


def test_recursive_names_every_field_below(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = explain(capsys, "es.spec.dataFrom", "--recursive")
    assert code == 0
    assert "  rewrite  <list of objects>\n    merge  <object>\n      into  <string>  default ''\n" in out


def test_the_text_fits_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    _, out, _ = explain(capsys, "secretstore.spec.provider.vault")
    prose = [line for line in out.splitlines() if "<" not in line]
    assert max(map(len, prose)) <= 60


@pytest.mark.parametrize(
    ("name", "message"),
    [
        pytest.param(
            "externalsecrt.spec", "there is no kind externalsecrt (did you mean externalsecret?)", id="kind"
        ),
        pytest.param(
            "es.spec.refreshIntervall",
            "es.spec has no field refreshIntervall (did you mean refreshInterval?)",
            id="field",
        ),
        pytest.param(
            "es.spec.refreshInterval.seconds",
            "es.spec.refreshInterval has no field seconds (there are no fields below it)",
            id="below-a-leaf",
        ),
    ],
)
def test_what_there_is_none_of(name: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert explain(capsys, name) == (2, "", f"syncret: {message}\n")
