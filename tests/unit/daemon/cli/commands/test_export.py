"""Exports: each is fit for what it is made for."""

import json
import re
import shutil
import subprocess
from functools import reduce
from pathlib import Path

import pytest
import yaml

from syncret.config.meta import Document
from syncret.config.settings import Group, Settings
from syncret.config.settings_layers import load_group, load_settings
from syncret.config.settings_table import describe
from syncret.daemon.cli.commands.export import settings_lines
from syncret.daemon.cli.main import main
from syncret.daemon.cli.parser.arguments import parser
from syncret.daemon.cli.parser.completion import SHELLS, commands_of, zsh
from syncret.daemon.cli.parser.man import man
from tests.suites.docs.pages import blocks
from tests.support.shells import completed


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["export", *arguments])
    told = capsys.readouterr()
    return code, told.out, told.err


def test_settings_are_a_file_that_changes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, text, _ = run(capsys, "settings")
    assert code == 0
    file = tmp_path / "syncret.yaml"
    file.write_text(text)
    assert load_settings(file, {}, []) == Settings()
    assert all(
        setting.meaning in text and setting.variable in text and f"# Example: {setting.example}\n" in text
        for setting in describe()
    )


IMAGE = ("--image", "registry.example/syncret:0.1.0")


class Port(Group, frozen=True):
    number: int = 443
    """The port. Example: 8443"""


class Webhook(Group, frozen=True):
    port: Port = Port()
    names: tuple[str, ...] = ("a", "*.b")
    """The names."""


class Nested(Group, frozen=True):
    workers: int = 1
    """The workers."""
    webhook: Webhook = Webhook()


@pytest.mark.parametrize("group", [Settings, Nested])
def test_settings_can_be_uncommented(tmp_path: Path, group: type[Group]) -> None:
    """Without the `#` of its settings and groups the file says what the defaults are."""
    text = "".join(settings_lines(group))
    file = tmp_path / "syncret.yaml"
    file.write_text(re.sub(r"^( *)#(?! )", r"\1", text, flags=re.MULTILINE))
    assert load_group(group(), file, {}, []) == group()
    written = yaml.load(file.read_text(), yaml.CSafeLoader)
    for setting in describe(group):
        reduce(lambda mapping, key: mapping[key], setting.name.split("."), written)


def test_schema(capsys: pytest.CaptureFixture[str]) -> None:
    code, text, _ = run(capsys, "schema", "ExternalSecret")
    assert code == 0
    assert "remoteRef" in json.dumps(json.loads(text))


def test_crds_of_all_our_kinds(capsys: pytest.CaptureFixture[str]) -> None:
    code, text, _ = run(capsys, "crds")
    documents = {each["metadata"]["name"]: each for each in yaml.load_all(text, yaml.CSafeLoader)}
    assert code == 0
    assert {"externalsecrets.external-secrets.io", "uuids.generators.external-secrets.io"} <= documents.keys()
    spec = documents["clustersecretstores.external-secrets.io"]["spec"]
    assert (spec["scope"], spec["versions"][0]["name"]) == ("Cluster", "v1")
    assert spec["versions"][0]["schema"]["openAPIV3Schema"]["type"] == "object"
    assert spec["names"]["shortNames"] == ["css"]
    assert "shortNames" not in documents["uuids.generators.external-secrets.io"]["spec"]["names"]
    assert "x-kubernetes-validations" in text


def test_crds_of_the_operator(capsys: pytest.CaptureFixture[str]) -> None:
    code, text, _ = run(capsys, "crds", "--operator")
    assert code == 0
    assert re.findall(r"^  name: (.*)$", text, re.MULTILINE) == [
        "externalsecretsconfigs.operator.openshift.io",
        "externalsecretsmanagers.operator.openshift.io",
    ]


def test_the_operators_own_objects(capsys: pytest.CaptureFixture[str]) -> None:
    code, text, _ = run(capsys, "operator", *IMAGE, "--namespace", "ops")
    assert code == 0
    assert re.findall(r"^kind: (.*)$", text, re.MULTILINE) == [
        *("Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"),
        "Deployment",
    ]
    assert "part-of" not in text  # of what it installs, nothing more may be taken for that
    assert run(capsys, "operator")[0] == 2
    assert run(capsys, "operator", *IMAGE, "--replicas", "2")[0] == 2


CONFIGURED = """\
apiVersion: operator.openshift.io/v1alpha1
kind: ExternalSecretsConfig
metadata: {name: cluster}
spec:
  controllerConfig: {namespace: secrets, labels: {team: platform}}
---
apiVersion: operator.openshift.io/v1alpha1
kind: ExternalSecretsManager
metadata: {name: cluster}
spec:
  globalConfig: {logLevel: 4}
"""


def test_what_the_operator_installs_for_a_configuration(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Defaults of the schema and of the manager count; what gives rights to the operator is left out."""
    file = tmp_path / "config.yaml"
    file.write_text(CONFIGURED)
    code, text, _ = run(capsys, "manifests", "-f", str(file), *IMAGE)
    documents = {
        (each["kind"], each["metadata"]["name"]): each for each in yaml.load_all(text, yaml.CSafeLoader)
    }
    assert code == 0
    core = documents["Deployment", "external-secrets"]
    assert core["metadata"]["namespace"] == "secrets"
    assert core["metadata"]["labels"]["team"] == "platform"
    assert "logLevel=debug" in core["spec"]["template"]["spec"]["containers"][0]["args"]
    assert ("Namespace", "secrets") in documents
    assert ("Role", "external-secrets-operator") not in documents


@pytest.mark.parametrize(
    ("text", "more", "message"),
    [
        pytest.param("spec: {}", IMAGE, "kind", id="no-kind"),
        pytest.param(
            CONFIGURED.partition("---")[2], IMAGE, "has no ExternalSecretsConfig", id="no-configuration"
        ),
        pytest.param(
            CONFIGURED.replace("name: cluster", "name: other"), IMAGE, "config.yaml:3: ", id="another-name"
        ),
        pytest.param(
            CONFIGURED.replace("spec:", "spec:\n  appConfig: {operatingNamespace: A_B}", 1),
            IMAGE,
            "cannot be the name of a namespace",
            id="found-at-run-time",
        ),
        pytest.param(
            "kind: Secret\napiVersion: v1\nmetadata: {name: a}", IMAGE, "Secret is not", id="other-kind"
        ),
        pytest.param(CONFIGURED, (), "--image: is missing", id="no-image"),
        pytest.param(CONFIGURED, (*IMAGE, "--replicas", "2"), "--replicas", id="other-flag"),
    ],
)
def test_a_configuration_that_cannot_be_installed_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, more: tuple[str, ...], message: str
) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(text)
    code, out, err = run(capsys, "manifests", "-f", str(file), *more)
    assert (code, out) == (2, "")
    assert message in err


def test_a_bundle_is_written_into_an_empty_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "a" / "bundle"
    code, out, _ = run(capsys, "operator", *IMAGE, "--bundle", str(folder))
    assert (code, out) == (0, "")
    annotations = yaml.load((folder / "metadata" / "annotations.yaml").read_text(), yaml.CSafeLoader)[
        "annotations"
    ]
    assert annotations["operators.operatorframework.io.bundle.package.v1"] == "syncret-operator"
    code, _, err = run(capsys, "operator", *IMAGE, "--bundle", str(folder))
    assert code == 2
    assert "is not empty" in err
    assert run(capsys, "operator", *IMAGE, "--bundle", str(folder / "metadata" / "annotations.yaml"))[0] == 2
    assert run(capsys, "crds", "--bundle", str(tmp_path / "b"))[0] == 2


def test_crds_with_flags(capsys: pytest.CaptureFixture[str]) -> None:
    code, text, _ = run(capsys, "crds", "--serve-v1beta1", "--compat")
    documents = {each["metadata"]["name"]: each for each in yaml.load_all(text, yaml.CSafeLoader)}
    assert (code, "x-kubernetes-validations" in text) == (0, False)
    versions = documents["externalsecrets.external-secrets.io"]["spec"]["versions"]
    assert [(each["name"], each["served"]) for each in versions] == [("v1", True), ("v1beta1", True)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["schema", "ExternalSecrte"], "did you mean ExternalSecret?", id="kind"),
        pytest.param(["schema"], "there is no kind", id="no-kind"),
        pytest.param(["completion", "csh"], "write one of bash, zsh, fish", id="shell"),
        pytest.param(["completion"], "write one of bash, zsh, fish", id="no-shell"),
        pytest.param(["man", "zsh"], "man takes no zsh", id="too-much"),
        pytest.param(["crds", "ExternalSecret"], "crds takes no ExternalSecret", id="all-or-nothing"),
        pytest.param(["man", "--compat"], "write: syncret export crds --compat", id="flag"),
        pytest.param(["schema", "--serve-v1beta1"], "schema takes no --serve-v1beta1", id="other-flag"),
    ],
)
def test_what_there_is_none_of(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert message in err


GUIDE = Path(__file__).parents[5] / "docs" / "guides" / "delivery.md"


def guide(title: str) -> str:
    """A file of the guide to Deliveries."""
    [shown] = [block.text for block in blocks(GUIDE) if block.title == title]
    return shown


def test_the_rule_of_polkit_is_that_of_the_guide(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "web.yaml").write_text(guide("web.yaml"))
    code, text, _ = run(capsys, "polkit", "-f", str(tmp_path))
    assert (code, text) == (0, guide("/etc/polkit-1/rules.d/50-syncret.rules"))


def test_manifests_of_a_rule_are_named_by_settings_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "web.yaml").write_text(guide("web.yaml"))
    (tmp_path / "settings.yaml").write_text(f"manifests: [{tmp_path / 'web.yaml'}]\n")
    code, text, _ = run(capsys, "polkit", "--config", str(tmp_path / "settings.yaml"), "--user", "deliverer")
    assert code == 0
    assert 'subject.user == "deliverer"' in text
    assert '"nginx.service reload"' in text


def test_what_a_tenant_may_not_ask_for_is_told_and_is_no_part_of_the_rule(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "web.yaml").write_text(guide("web.yaml"))
    (tmp_path / "team-a").mkdir()
    theirs = guide("web.yaml").replace("name: web", "name: theirs, namespace: team-a")
    (tmp_path / "team-a" / "theirs.yaml").write_text(theirs.replace("nginx.service", "sshd.service"))
    (tmp_path / "settings.yaml").write_text(
        f"manifests: [{tmp_path / 'web.yaml'}, {{path: {tmp_path / 'team-a'}, namespaces: [team-a], "
        "kinds: [Delivery], deliverTo: [/srv/syncret], units: [nginx-check.service]}]\n"
    )
    code, text, error = run(capsys, "polkit", "--config", str(tmp_path / "settings.yaml"))
    assert (code, text) == (0, guide("/etc/polkit-1/rules.d/50-syncret.rules"))
    assert "theirs.yaml:8: error: spec.reload.unit: sshd.service is not a unit of" in error


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        pytest.param([], "manifests: there are none", id="no manifests"),
        pytest.param(["-f", "{tmp}"], "web.yaml:5: spec.reload.unit", id="a Delivery that is wrong"),
        pytest.param(["-f", "{tmp}", "--image", "a:b"], "polkit takes no --image", id="a flag of others"),
    ],
)
def test_a_rule_that_cannot_be_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    (tmp_path / "web.yaml").write_text(
        "apiVersion: syncret.dev/v1alpha1\nkind: Delivery\nmetadata: {name: web}\n"
        "spec:\n  reload: {unit: nginx}\n  sources: [{secret: tls}]\n  to: [{file: {path: /srv/a, key: a}}]\n"
    )
    code, text, error = run(capsys, "polkit", *(each.format(tmp=tmp_path) for each in arguments))
    assert (code, text) == (2, "")
    assert told in error


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_is_a_script_that_its_shell_reads(tmp_path: Path, shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"needs {shell}")
    script = tmp_path / f"syncret.{shell}"
    script.write_text(SHELLS[shell](parser()))
    checked = subprocess.run([shell, "-n", str(script)], capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_knows_every_command_and_flag(shell: str) -> None:
    script = SHELLS[shell](parser())
    for command in commands_of(parser()):
        assert command.name in script
        for flag in command.flags:
            assert flag.spellings[-1].lstrip("-") in script


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param('syncret "ex"', {"exec", "explain", "export"}, id="command"),
        pytest.param('syncret export "s"', {"schema", "settings"}, id="choice"),
        pytest.param('syncret export schema "Pass"', {"Password"}, id="kind-of-a-schema"),
        pytest.param('syncret export completion ""', {"bash", "zsh", "fish"}, id="shell"),
        pytest.param('syncret status "--f"', {"--failing"}, id="flag"),
        pytest.param('syncret status -o "j"', {"json"}, id="value-of-a-flag"),
        pytest.param('syncret explain "Ext"', {"ExternalSecret/"}, id="kind"),
    ],
)
def test_bash_completes(tmp_path: Path, words: str, expected: set[str]) -> None:
    assert set(completed(words, tmp_path)) == expected


def test_zsh_is_named_for_its_command() -> None:
    assert zsh(parser()).startswith("#compdef syncret\n")


def test_the_man_page_says_it_all() -> None:
    page = man(parser(), "1.2.3")
    assert page.startswith('.TH SYNCRET 1 "" "syncret 1.2.3"\n')
    for section in (
        "NAME",
        "SYNOPSIS",
        "COMMANDS",
        "SETTINGS",
        "EXIT STATUS",
        "ENVIRONMENT",
        "FILES",
        "EXAMPLES",
    ):
        assert f".SH {section}\n" in page
    assert all(f".SS syncret {command.name}" in page for command in commands_of(parser()))
    assert all(setting.variable in page for setting in describe())
    assert "Longest delay between retries of an object. Example: 1h.\n" in page


def test_the_man_page_is_one() -> None:
    if shutil.which("mandoc") is None:
        pytest.skip("needs mandoc")
    page = man(parser(), "1.2.3").encode()
    checked = subprocess.run(
        ["mandoc", "-T", "lint", "-W", "warning"], input=page, capture_output=True, check=False
    )
    told = [line for line in checked.stdout.decode().splitlines() if "missing date" not in line]
    assert told == []


def manifests(capsys: pytest.CaptureFixture[str], *flags: str) -> dict[str, list[Document]]:
    """What is printed, by kind."""
    code, text, error = run(capsys, "manifests", *IMAGE, *flags)
    assert (code, error) == (0, "")
    found: dict[str, list[Document]] = {}
    for each in yaml.load_all(text, yaml.CSafeLoader):
        found.setdefault(each["kind"], []).append(each)
    return found


def test_manifests_of_one_replica(capsys: pytest.CaptureFixture[str]) -> None:
    found = manifests(capsys)
    rights = {f"{kind}{suffix}" for kind in ("Role", "ClusterRole") for suffix in ("", "Binding")}
    assert set(found) == {"ServiceAccount", *rights, "Deployment", "Service"}
    (deployment,) = found["Deployment"]
    assert deployment["spec"]["replicas"] == 1
    assert deployment["spec"]["template"]["spec"]["containers"][0]["image"] == IMAGE[1]


def test_each_flag_of_manifests_has_its_effect(capsys: pytest.CaptureFixture[str]) -> None:
    found = manifests(
        capsys,
        *("--name", "secrets", "--namespace", "ops", "--only-namespace", "payments", "--replicas", "3"),
        *("--min-available", "50%", "--service-account", "theirs", "--generic-target", "Deployments.apps"),
        *("--pull-secret", "registry", "--network-policy", "--service-monitor", "--set", "logLevel=debug"),
    )
    assert "ServiceAccount" not in found
    (deployment,) = found["Deployment"]
    assert (deployment["metadata"]["name"], deployment["metadata"]["namespace"]) == ("secrets", "ops")
    assert deployment["spec"]["replicas"] == 3
    pod = deployment["spec"]["template"]["spec"]
    assert pod["serviceAccountName"] == "theirs"
    assert pod["imagePullSecrets"] == [{"name": "registry"}]
    assert {"logLevel=debug", "payments", "allowGenericTargets=true"} <= set(pod["containers"][0]["args"])
    (budget,) = found["PodDisruptionBudget"]
    assert budget["spec"]["minAvailable"] == "50%"
    assert {"NetworkPolicy", "ServiceMonitor"} <= set(found)
    rules = [rule for role in found["Role"] for rule in role["rules"]]
    assert [rule["resources"] for rule in rules if rule["apiGroups"] == ["apps"]] == [["deployments"]]
    assert {role["metadata"]["namespace"] for role in found["Role"]} == {"ops", "payments", "default"}


def test_of_several_replicas_an_eviction_leaves_one(capsys: pytest.CaptureFixture[str]) -> None:
    (budget,) = manifests(capsys, "--replicas", "2")["PodDisruptionBudget"]
    assert budget["spec"]["minAvailable"] == 1


def test_manifests_of_the_values_of_the_chart(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "values.yaml"
    file.write_text("replicaCount: 2\ncontrollerClass: edge\nserviceMonitor: {enabled: true}\n")
    found = manifests(capsys, "--values", str(file), "--name", "secrets", "--namespace", "ops")
    (deployment,) = found["Deployment"]
    assert deployment["metadata"]["name"] == "secrets-syncret-controller"
    assert deployment["metadata"]["namespace"] == "ops"
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert container["image"] == IMAGE[1]
    assert {"controllerClass=edge", "leaderElection.enabled=true"} <= set(container["args"])
    assert {"ServiceMonitor", "CustomResourceDefinition", "ValidatingWebhookConfiguration"} <= set(found)


@pytest.mark.parametrize(
    ("text", "flags", "message"),
    [
        pytest.param(
            "a: 1\nreplicas: 2\n", (), ":2: replicas: is no value of the chart (did you mean", id="key"
        ),
        pytest.param("webhook:\n  port: x\n", (), ":2: webhook.port: is no integer", id="type"),
        pytest.param("log: {level: loud}\n", (), ":1: log.level: cannot be 'loud'", id="choice"),
        pytest.param("workTime: soon\n", (), "settings.workTime", id="setting"),
        pytest.param("a: [\n", (), "values.yaml:2", id="no YAML"),
        pytest.param("", ("--replicas", "2"), "--replicas: is not taken beside --values", id="flag"),
    ],
)
def test_values_that_cannot_be(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, flags: tuple[str, ...], message: str
) -> None:
    file = tmp_path / "values.yaml"
    file.write_text(text)
    code, printed, error = run(capsys, "manifests", *IMAGE, "--values", str(file), *flags)
    assert (code, printed) == (2, "")
    assert message in error


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("manifests",), "--image: is missing (write --image REPOSITORY:TAG"),
        (("manifests", "--image", "syncret"), "image: has no tag (write syncret:TAG"),
        (("manifests", *IMAGE, "--min-available", "x"), "--min-available x: is no number of replicas"),
        (("manifests", *IMAGE, "--set", "a"), "--set a: has no value (write --set NAME=VALUE)"),
        (("manifests", *IMAGE, "--set", "logLevl=info"), "did you mean logLevel?"),
        (
            ("manifests", *IMAGE, "--compat"),
            "manifests takes no --compat (write: syncret export crds --compat)",
        ),
        (
            ("crds", "--replicas", "2"),
            "crds takes no --replicas (write: syncret export manifests --replicas)",
        ),
    ],
)
def test_manifests_that_cannot_be(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    code, text, error = run(capsys, *arguments)
    assert (code, text) == (2, "")
    assert message in error
