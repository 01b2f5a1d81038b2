"""Settings: which layer wins, what may be written, and how clearly a wrong value is reported."""

from operator import attrgetter
from pathlib import Path

import pytest
import yaml

from syncret.config.errors import ConfigError
from syncret.config.settings import BoundFolder, Group, Settings, several_authors
from syncret.config.settings_layers import LayerValue, address_of, load_group, load_settings
from syncret.config.settings_table import Setting, describe


def flag(name: str, value: str) -> LayerValue:
    return LayerValue(f"--set {name}", name, value)


def problems_of(tmp_path: Path, text: str, environ: dict[str, str], *flags: LayerValue) -> list[str]:
    file = tmp_path / "syncret.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_settings(file, environ, flags)
    return [str(problem).replace(str(file), "FILE") for problem in caught.value.problems]


def test_later_layers_win(tmp_path: Path) -> None:
    file = tmp_path / "syncret.yaml"
    file.write_text("workers: 1\nburst: 1\nlisten: ''\nowner:\n")
    environ = {"SYNCRET_WORKERS": "2", "SYNCRET_BURST": "2", "SYNCRET_SERVICE_HOST": "10.0.0.1"}
    settings = load_settings(file, environ, [flag("workers", "3")])
    assert (settings.workers, settings.burst, settings.listen, settings.owner) == (3, 2, "", "")


def test_without_any_layer_the_defaults_hold() -> None:
    assert load_settings(None, {}, []) == Settings()


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        pytest.param("rescanInterval", "1m30s", 90.0, id="duration"),
        pytest.param("rescanInterval", "2.5", 2.5, id="seconds"),
        pytest.param("fileMode", "0640", 0o640, id="mode"),
        pytest.param("fileMode", "0o440", 0o440, id="mode-as-python-writes-it"),
        pytest.param("fsync", "false", False, id="boolean"),
        pytest.param("requestsPerSecond", "0.5", 0.5, id="number"),
        pytest.param("manifests", "/a:/b", ("/a", "/b"), id="paths"),
        pytest.param("manifests", "", (), id="no-paths"),
        pytest.param("logLevel", "debug", "debug", id="choice"),
    ],
)
def test_texts_are_read_by_the_type(name: str, text: str, expected: object) -> None:
    attribute = next(setting.attribute for setting in describe() if setting.name == name)
    assert getattr(load_settings(None, {}, [flag(name, text)]), attribute) == expected


def test_a_file_may_say_it_in_its_own_types(tmp_path: Path) -> None:
    file = tmp_path / "syncret.yaml"
    file.write_text("manifests: [/a]\nfileMode: '0644'\nrescanInterval: 5\nretryMax: 1h\nfsync: no\n")
    settings = load_settings(file, {}, [])
    assert settings.manifests == ("/a",)
    assert (settings.file_mode, settings.rescan_interval, settings.retry_max) == (0o644, 5.0, 3600.0)
    assert settings.fsync is False


@pytest.mark.parametrize(
    ("text", "environ", "expected"),
    [
        pytest.param(
            "\nworker: 3\n",
            {},
            "FILE:2: worker: there is no such setting (did you mean workers?)",
            id="file-unknown-name",
        ),
        pytest.param(
            "workers: 0\n",
            {},
            "FILE:1: workers: must be a whole number of at least 1 (How many objects are reconciled "
            "at the same time; one that waits for a store does not count.)",
            id="file-out-of-range",
        ),
        pytest.param(
            "requestsPerSecond: 0\n",
            {},
            "FILE:1: requestsPerSecond: must be a number above 0 (Calls per second to one store; fewer, if "
            "its vendor publishes a lower limit. `syncret.dev/requests-per-second` overrides both.)",
            id="file-zero",
        ),
        pytest.param(
            "manifests: {a: b}\n",
            {},
            "FILE:1: manifests: must be a list (write a list of files and folders, each as PATH or as "
            "{path: PATH, namespaces: [NAME, ...], kinds: [KIND, ...]})",
            id="file-no-list",
        ),
        pytest.param(
            "manifests: [{path: a, namespaces: []}]\n",
            {},
            "FILE:1: manifests[0].namespaces: must be a list that is not empty (write a list of files "
            "and folders, each as PATH or as {path: PATH, namespaces: [NAME, ...], kinds: [KIND, ...]})",
            id="file-empty-list",
        ),
        pytest.param(
            "fileMode: 400\n",
            {},
            'FILE:1: fileMode: is not a file mode (write a mode in octal and in quotes, such as "0640")',
            id="mode-without-quotes",
        ),
        pytest.param(
            "",
            {"SYNCRET_RETRY_MAX": "5 minutes"},
            'SYNCRET_RETRY_MAX: retryMax: unknown unit " minutes" in duration "5 minutes" '
            "(write a duration such as 30s or 1h30m)",
            id="variable",
        ),
        pytest.param(
            "listen: 9847\n",
            {},
            "FILE:1: listen: must be text (write 127.0.0.1:9847, or :9847 for every interface)",
            id="wrong-type",
        ),
        pytest.param(
            "",
            {"SYNCRET_LISTEN": "localhost"},
            "SYNCRET_LISTEN: listen: is not an address and port "
            "(write 127.0.0.1:9847, or :9847 for every interface)",
            id="address-without-port",
        ),
        pytest.param(
            "retryMin: 10m\n",
            {},
            "FILE:1: retryMin (600s) is longer than retryMax (300s)",
            id="contradiction",
        ),
        pytest.param(
            "",
            {"SYNCRET_OUTPUTDIR": "x"},
            "SYNCRET_OUTPUTDIR: there is no such setting (did you mean SYNCRET_OUTPUT_DIR?)",
            id="variable-unknown",
        ),
        pytest.param(
            "",
            {"SYNCRET_EGRESS_DENI": "x"},
            "SYNCRET_EGRESS_DENI: there is no such setting (did you mean SYNCRET_EGRESS_DENY?)",
            id="variable-unknown-in-a-group",
        ),
        pytest.param(
            "",
            {"SYNCRET_QQQ": "x"},
            "SYNCRET_QQQ: there is no such setting "
            "(unset it; `syncret export settings` names the variable of each setting)",
            id="variable-unlike-any",
        ),
        pytest.param(
            "",
            {"SYNCRET_PORT": "8080"},
            "SYNCRET_PORT: there is no such setting (did you mean",
            id="variable-port-of-no-service",
        ),
        pytest.param("- a\n", {}, "FILE:1: must hold a mapping", id="no-mapping"),
        pytest.param("a: [\n", {}, None, id="no-yaml"),
        pytest.param("workers: 1\nworkers: 2\n", {}, None, id="twice"),
    ],
)
def test_problems_say_where_what_and_the_remedy(
    tmp_path: Path, text: str, environ: dict[str, str], expected: str | None
) -> None:
    reported = problems_of(tmp_path, text, environ)
    assert len(reported) == 1
    assert reported[0].startswith(("FILE", "SYNCRET_"))
    if expected is not None and not expected.endswith("mean"):
        assert reported == [expected]


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        pytest.param("SYNCRET_SERVICE_HOST", "10.0.0.1", id="host"),
        pytest.param("SYNCRET_METRICS_SERVICE_HOST", "10.0.0.1", id="host-of-a-longer-name"),
        pytest.param("SYNCRET_SERVICE_PORT", "9847", id="port"),
        pytest.param("SYNCRET_SERVICE_PORT_METRICS", "9847", id="named-port"),
        pytest.param("SYNCRET_PORT", "tcp://10.0.0.1:9847", id="link"),
        pytest.param("SYNCRET_WEBHOOK_PORT", "udp://10.0.0.1:443", id="link-of-a-longer-name"),
        pytest.param("SYNCRET_PORT_9847_TCP", "tcp://10.0.0.1:9847", id="link-of-a-port"),
        pytest.param("SYNCRET_PORT_9847_TCP_ADDR", "10.0.0.1", id="address-of-a-port"),
        pytest.param("SYNCRET_CORPUS", "/corpus", id="of-the-tests"),
        pytest.param("MY_SYNCRET_WORKERS", "many", id="another-prefix"),
    ],
)
def test_variables_of_kubernetes_and_of_others_are_no_settings(variable: str, text: str) -> None:
    assert load_settings(None, {variable: text}, []) == Settings()


def test_a_link_to_a_service_is_not_taken_for_a_setting_in_a_group() -> None:
    class Webhook(Group, frozen=True):
        port: int = 443

    class WithWebhook(Group, frozen=True):
        webhook: Webhook = Webhook()

    link = {"SYNCRET_WEBHOOK_PORT": "tcp://10.0.0.1:443"}
    assert load_group(WithWebhook(), None, link, []) == WithWebhook()
    number = {"SYNCRET_WEBHOOK_PORT": "8443"}
    assert load_group(WithWebhook(), None, number, []).webhook.port == 8443


def test_all_problems_are_reported_at_once(tmp_path: Path) -> None:
    reported = problems_of(tmp_path, "workers: no\n", {"SYNCRET_BURST": "x"}, flag("fsync", "maybe"))
    assert [problem.split(": ")[0] for problem in reported] == ["FILE:1", "SYNCRET_BURST", "--set fsync"]


def test_a_flag_is_named_once() -> None:
    with pytest.raises(ConfigError) as caught:
        load_settings(None, {}, [flag("worker", "3"), LayerValue("--listen", "listen", "x")])
    assert [str(problem).partition(" (")[0] for problem in caught.value.problems] == [
        "--set worker: there is no such setting",
        "--listen: is not an address and port",
    ]


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        load_settings(tmp_path / "none.yaml", {}, [])


def test_every_setting_is_documented_and_its_default_can_be_written() -> None:
    settings = list(describe())
    assert all(setting.meaning.endswith(".") for setting in settings)
    written = [LayerValue("default", setting.name, yaml.safe_load(setting.default)) for setting in settings]
    assert load_settings(None, {}, written) == Settings()


@pytest.mark.parametrize("setting", describe(), ids=lambda setting: setting.name)
def test_the_example_of_a_setting_can_be_written_in_a_file_and_changes_it(
    setting: Setting, tmp_path: Path
) -> None:
    file = tmp_path / "syncret.yaml"
    *groups, name = setting.name.split(".")
    heads = "".join(f"{'  ' * depth}{group}:\n" for depth, group in enumerate(groups))
    file.write_text(f"{heads}{'  ' * len(groups)}{name}: {setting.example}\n")
    value = attrgetter(setting.attribute)
    assert value(load_settings(file, {}, [])) != value(Settings())


@pytest.mark.parametrize(
    ("receivers", "expected"),
    [
        pytest.param("https://a.example,b.example:8200", None, id="servers"),
        pytest.param("[{url: 'https://a.example', stores: all, serverId: a}]", None, id="object"),
        pytest.param("https://a.example/v1", "[0]: is not a server", id="path"),
        pytest.param("[{url: 'a b'}]", "[0]: is not a server", id="no-host"),
        pytest.param(
            "[a.example, {server: b}]", "[1]: object contains unknown field `server`", id="unknown-member"
        ),
    ],
)
def test_receivers_of_the_own_identity(receivers: str, expected: str | None) -> None:
    name = "ownIdentity.receivers.vault"
    if expected is None:
        assert load_settings(None, {}, [flag(name, receivers)]).own_identity.receivers["vault"]
        return
    with pytest.raises(ConfigError) as caught:
        load_settings(None, {}, [flag(name, receivers)])
    (problem,) = caught.value.problems
    assert str(problem).startswith(f"--set {name}: {name}{expected}")
    assert problem.hint


@pytest.mark.parametrize(
    ("listen", "expected"),
    [
        pytest.param("127.0.0.1:9847", ("127.0.0.1", 9847), id="v4"),
        pytest.param(":0", ("", 0), id="all-interfaces"),
        pytest.param("[::1]:80", ("::1", 80), id="v6"),
        pytest.param("localhost:1", ("localhost", 1), id="name"),
    ],
)
def test_addresses(listen: str, expected: tuple[str, int]) -> None:
    assert address_of(listen) == expected


@pytest.mark.parametrize("listen", ["9847", "::1:80", "a:99999", "a:-1", "a:b", ""])
def test_what_is_no_address(listen: str) -> None:
    with pytest.raises(ValueError, match="is not an address"):
        address_of(listen)


def test_folders_may_be_bound(tmp_path: Path) -> None:
    file = tmp_path / "syncret.yaml"
    file.write_text("manifests:\n- /main\n- {path: /a, namespaces: [team-a, 'a-*'], kinds: [SecretStore]}\n")
    settings = load_settings(file, {}, [])
    bound = BoundFolder(path="/a", namespaces=("team-a", "a-*"), kinds=("SecretStore",))
    assert settings.manifests == ("/main", bound)
    assert settings.manifest_paths == ("/main", "/a")
    assert settings.bound_folders == (bound,)
    assert several_authors(settings)
    assert not several_authors(load_settings(file, {}, [flag("manifests", "/a")])), "a flag names paths alone"
    assert not several_authors(Settings())


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        pytest.param("{path: /b}", "[1]: object missing required field `namespaces`", id="no namespaces"),
        pytest.param(
            "{path: /b, namespaces: []}", "[1].namespaces: must be a list that is not empty", id="none"
        ),
        pytest.param(
            "{path: /b, namespaces: [Team]}",
            "[1].namespaces[0]: must be text that matches '^[a-z0-9*]([-a-z0-9*]*[a-z0-9*])?$'",
            id="no name",
        ),
        pytest.param("{path: '', namespaces: [b]}", "[1].path: must be text that is not empty", id="no path"),
        pytest.param(
            "{path: /b, namespace: b}", "[1]: object contains unknown field `namespace`", id="misspelt"
        ),
        pytest.param("{path: /a/, namespaces: [b]}", "[1]: is the same path as manifests[0]", id="twice"),
    ],
)
def test_a_binding_that_is_wrong_says_where(tmp_path: Path, entry: str, told: str) -> None:
    [problem] = problems_of(tmp_path, f"manifests:\n- /a\n- {entry}\n", {})
    assert problem.startswith(f"FILE:3: manifests{told} (")
    assert problem.endswith(
        "name each path once: it is bound or it is not)"
        if "same path" in told
        else "each as PATH or as {path: PATH, namespaces: [NAME, ...], kinds: [KIND, ...]})"
    )
