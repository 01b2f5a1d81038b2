"""CUE as the front end of a release, evaluated by the real cue with the types that we ship."""

import json
import shutil
from pathlib import Path

import pytest

from syncret.config.meta import Document
from syncret.daemon import release
from syncret.daemon.cli.main import main
from tests.support.servers.cue.running import program

pytestmark = pytest.mark.slow

RELEASE = """\
package syncret

import "strings"

#config: {
	log_level: *"info" | "debug"
	db: {
		host: string
		password: #Secret & {$secretName: "db-creds", $dataKey: "password", value?: strings.MinRunes(12)}
		user: #Secret & {$secretName: "db-creds", $dataKey: "user"}
	}
}

values: #config & {
	db: {
		host: "db.internal"
		password: {source: "k8s-eso", path: "secret/data/prod/db", remoteKey: "password"}
		user: {value: "app"}
	}
}

release: {
	apiVersion: "syncret.dev/v1alpha1"
	kind:       "ResolvedRelease"
	metadata: name: "user-api"
	spec: {
		config: values
		container: {
			image: "registry.example/user-api:1"
			env: {
				LOG_LEVEL: value: values.log_level
				DB_PASSWORD: from: values.db.password
				DB_USER: from: "config.db.user"
			}
		}
	}
}
"""
PLATFORM = """\
apiVersion: syncret.dev/v1alpha1
kind: Platform
spec: {secretStoreRef: {name: platform}}
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SYNCRET_CUE", str(program()))
    Path("app").mkdir()
    shutil.copy(Path(release.__file__).parent / "secret.cue", "app")
    Path("app/release.cue").write_text(RELEASE)
    Path("platform.yaml").write_text(PLATFORM)


def ran(code: int, capfd: pytest.CaptureFixture[str]) -> Document:
    """The report of the release."""
    assert main(["release", "-f", "app", "-f", "platform.yaml", "-o", "json", "--show-values"]) == code
    out, err = capfd.readouterr()
    assert "hunter2" not in out + err
    document: Document = json.loads(out)
    return document


def test_a_folder_of_cue_is_a_release(capfd: pytest.CaptureFixture[str]) -> None:
    items = ran(0, capfd)["items"]
    assert [item["kind"] for item in items] == ["Secret", "ExternalSecret", "Deployment"]
    assert items[0]["data"] == {"user": "YXBw"}
    (entry,) = items[1]["spec"]["data"]
    assert entry == {
        "secretKey": "password",
        "remoteRef": {"key": "secret/data/prod/db", "property": "password"},
    }
    env = items[2]["spec"]["template"]["spec"]["containers"][0]["env"]
    assert env[1]["valueFrom"] == {"secretKeyRef": {"name": "db-creds", "key": "password"}}


@pytest.mark.parametrize(
    ("written", "instead"),
    [
        pytest.param('value: "app"', 'value: "hunter2", path: "x"', id="both variants"),
        pytest.param('value: "app"', "value: hunter2", id="no string"),
        pytest.param('{source: "k8s-eso", path: "secret/data/prod/db", remoteKey: "password"}',
                     '{value: "hunter2"}', id="a constraint of CUE"),
        pytest.param('user: {value: "app"}', "", id="unfulfilled"),
        pytest.param("release: {", "release: {{", id="no CUE"),
    ],
)  # fmt: skip
def test_a_failure_tells_places_and_no_values(
    written: str, instead: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert written in RELEASE
    Path("app/release.cue").write_text(RELEASE.replace(written, instead))
    (problem, *_) = ran(2, capfd)["problems"]
    assert problem["file"] == "app"
    assert problem["message"].startswith("cannot be evaluated: see ./")
