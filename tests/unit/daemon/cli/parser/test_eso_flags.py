"""ESO's flags on `syncret run`: what each is here, what has no effect, what cannot be had."""

from pathlib import Path

import pytest

from syncret.config.errors import ConfigError
from syncret.config.meta import is_object
from syncret.config.settings import Settings
from syncret.config.settings_table import describe
from syncret.config.text.yaml import parse_text
from syncret.daemon.cli.parser.arguments import parser
from syncret.daemon.cli.parser.completion import commands_of
from syncret.daemon.cli.parser.eso_flags import FLAGS, without_effect
from syncret.daemon.cli.settings import settings_of_daemon

ROOT = Path(__file__).parents[5]


def settings(*flags: str) -> Settings:
    return settings_of_daemon(parser().parse_args(["run", "--kubernetes", *flags]))


def passed_over(*flags: str) -> list[str]:
    options = parser().parse_args(["run", "--kubernetes", *flags])
    return [name for name, _ in without_effect(options.eso, options.eso_dropped)]


@pytest.mark.parametrize(
    ("flags", "setting", "value"),
    [
        (["--controller-class=edge"], "controller_class", "edge"),
        (["--namespace", "payments"], "namespace", "payments"),
        (["--enable-cluster-store-reconciler=false"], "process.cluster_store", False),
        (["--enable-secret-store-reconciler=false"], "process.secret_store", False),
        (["--enable-push-secret-reconciler=false"], "process.push_secret", False),
        (["--enable-cluster-external-secret-reconciler=false"], "process.cluster_external_secret", False),
        (["--enable-cluster-push-secret-reconciler=False"], "process.cluster_push_secret", False),
        (["--enable-flood-gate=false"], "require_ready_stores", False),
        (["--enable-generator-state=false"], "generator_state", False),
        (["--unsafe-allow-generic-targets"], "allow_generic_targets", True),
        (["--store-requeue-interval=1m30s"], "store_interval", 90.0),
        (["--generator-gc-grace-period", "5m"], "generator_gc_grace_period", 300.0),
        (["--enable-leader-election"], "leader_election.enabled", True),
        (["--leader-election-id=mine"], "leader_election.id", "mine"),
        (["--leader-election-lease-duration=15s"], "leader_election.lease_duration", 15.0),
        (["--leader-election-retry-period=1s"], "leader_election.renew", 1.0),
        (["--metrics-addr=:8080"], "listen", ":8080"),
        (["--metrics-addr=0"], "listen", ""),
        (["--live-addr", ":8082"], "health_listen", ":8082"),
        (["--loglevel=debug"], "log_level", "debug"),
        (["--loglevel=dpanic"], "log_level", "error"),
        (["--zap-time-encoding=epoch"], "log_time", "epoch"),
        (["--enable-extended-metric-labels"], "extended_metric_labels", True),
        (["--metrics-addr=:8080", "--set", "listen=:9"], "listen", ":9"),
        (["--port=9443"], "webhook.port", 9443),
        (["--dns-name=hook.ns.svc"], "webhook.dns_name", "hook.ns.svc"),
        (["--cert-dir=/tmp/certs"], "webhook.cert_dir", "/tmp/certs"),
        (["--healthz-addr=:9081"], "webhook.healthz_addr", ":9081"),
        (["--healthz-addr=0"], "webhook.healthz_addr", ""),
        (["--check-interval=1m"], "webhook.check_interval", 60.0),
        (["--lookahead-interval=240h"], "webhook.lookahead_interval", 864_000.0),
        (["--tls-ciphers=TLS_A,TLS_B"], "webhook.tls_ciphers", ("TLS_A", "TLS_B")),
        (["--tls-min-version=1.3"], "webhook.tls_min_version", "1.3"),
        (["--service-name=hook", "--service-namespace=ns"], "webhook.service", "ns/hook"),
        (["--secret-namespace=ns", "--secret-name=hook"], "webhook.secret", "ns/hook"),
        (["--secret-name=hook"], "webhook.secret", "hook"),
        (["--service-namespace=ns"], "webhook.service", "ns/external-secrets-webhook"),
        (["--secret-name=hook", "--set=webhook.secret=a/b"], "webhook.secret", "a/b"),
        (["--only=controller", "--set=webhook.enabled=true"], "webhook.enabled", False),
    ],
    ids=str,
)
def test_a_flag_is_a_setting(flags: list[str], setting: str, value: object) -> None:
    found: object = settings(*flags)
    for name in setting.split("."):
        found = getattr(found, name)
    assert found == value
    assert passed_over(*flags) == []


def test_every_setting_that_a_flag_names_exists() -> None:
    known = {setting.name for setting in describe()}
    assert {flag.setting for flag in FLAGS} - {""} <= known


def test_what_has_no_effect_is_told_once_each() -> None:
    given = (
        "--concurrent=4",
        "--client-qps",
        "50",
        "--client-qps=60",
        "--enable-secrets-caching",
        "--enable-http2=false",
    )
    more = ("--experimental-enable-aws-session-cache", "--vault-token-cache-size", "99", "--doppler-x=1")
    assert settings(*given, *more) == settings()
    assert passed_over(*given, *more) == [
        "--concurrent",
        "--client-qps",
        "--enable-secrets-caching",
        "--enable-http2",
        "--experimental-enable-aws-session-cache",
        "--vault-token-cache-size",
        "--doppler-x",
    ]
    assert settings("--vault-token-cache-size", "99", "--namespace", "a").namespace == "a"


@pytest.mark.parametrize(
    ("flags", "wrong"),
    [
        pytest.param(["--metrics-secure"], "metricsTls.certDir", id="no-certificate"),
        pytest.param(["--metrics-auth"], "metricsAuth", id="a-token-in-the-clear"),
    ],
)
def test_metrics_are_not_less_guarded_than_is_asked_for(flags: list[str], wrong: str) -> None:
    with pytest.raises(ConfigError) as refused:
        settings(*flags)
    assert wrong in str(refused.value)
    guarded = settings("--metrics-secure", "--metrics-auth", "--metrics-cert-dir=/etc/tls")
    assert (guarded.metrics_auth, guarded.metrics_tls.cert_name) == (True, "tls.crt")


def test_delimiters_are_one_setting() -> None:
    found = settings("--template-left-delimiter=<<", "--template-right-delimiter", ">>")
    assert found.template_delimiters.pair == ("<<", ">>")


def test_a_wrong_value_names_the_flag_and_the_remedy() -> None:
    with pytest.raises(ConfigError) as refused:
        settings("--live-addr=nowhere")
    assert "--live-addr: healthListen" in str(refused.value)
    assert "8082" in str(refused.value)


def test_an_unknown_flag_ends_with_2_and_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parser().parse_args(["run", "--kubernetes", "--enable-push-secret-reconcilers"])
    assert ended.value.code == 2
    assert "did you mean --enable-push-secret-reconciler?" in capsys.readouterr().err


def test_other_commands_do_not_take_them_and_the_help_does_not_list_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        parser().parse_args(["sync", "--experimental-x"])
    assert ended.value.code == 2
    assert "--experimental-x" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        parser().parse_args(["run", "--help"])
    assert "--client-qps" not in capsys.readouterr().out
    shown = {flag for command in commands_of(parser()) for word in command.flags for flag in word.spellings}
    assert not {flag.name for flag in FLAGS} & shown


def test_the_guide_names_every_flag() -> None:
    guide = (ROOT / "docs" / "guides" / "kubernetes.md").read_text()
    assert [flag.name for flag in FLAGS if f"`{flag.name}`" not in guide] == []
    settings_of_flags = {flag.setting.rpartition(".")[2] for flag in FLAGS} - {""}
    assert [name for name in settings_of_flags if f"{name}`" not in guide] == []


def test_the_container_of_the_guide_has_valid_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "docs" / "guides" / "kubernetes.md").read_text()
    _, _, rest = text.partition("```yaml\nname: syncret\n")
    (parsed,) = parse_text(rest.partition("```")[0].encode())
    container = parsed.value
    assert is_object(container)
    monkeypatch.setenv("SYNCRET_MANIFESTS", "/manifests")
    for variable in container["env"]:
        if variable["name"].startswith("SYNCRET_"):
            monkeypatch.setenv(variable["name"], variable["value"])
    found = settings_of_daemon(parser().parse_args(container["args"]))
    assert (found.kubernetes, found.listen, found.health_listen) == (True, ":8080", ":8082")
    assert found.leader_election.enabled
