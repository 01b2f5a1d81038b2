"""The rule of polkit: every unit and verb that Deliveries ask for, and no other."""

from collections.abc import Set as AbstractSet
from typing import Any

import pytest
from msgspec.structs import replace

from syncret.config.resources.delivery.delivery import DeliverySpec
from syncret.config.resources.delivery.steps import DeliveryCheck, DeliveryReload
from syncret.config.resources.delivery.targets import CredentialTarget, DeliveryTarget
from syncret.config.resources.kinds import DELIVERY
from syncret.daemon.core.delivery.polkit import Right, collected, rights_of, rule, seals

WEB = DELIVERY.ref("default", "web")
APP = DELIVERY.ref("payments", "app")


NOTHING = DeliverySpec(sources=(), to=())


@pytest.mark.parametrize(
    ("spec", "rights"),
    [
        pytest.param({}, frozenset[Right](), id="no unit is reloaded"),
        pytest.param(
            {"reload": DeliveryReload(unit="nginx.service")},
            {Right("nginx.service", "reload")},
            id="reload",
        ),
        pytest.param(
            {"reload": DeliveryReload(unit="app.service", action="restart")},
            {Right("app.service", "try-restart"), Right("app.service", "restart")},
            id="restart: the way back starts what the new set has killed",
        ),
        pytest.param(
            {"reload": DeliveryReload(unit="app.service", action="restart"), "on_failure": "keep"},
            {Right("app.service", "try-restart")},
            id="restart without a way back",
        ),
        pytest.param(
            {
                "reload": DeliveryReload(unit="app.service", action="reload-or-restart"),
                "on_failure": "keep",
            },
            {Right("app.service", "reload-or-try-restart")},
            id="reload or restart",
        ),
        pytest.param(
            {"check": DeliveryCheck(unit="nginx-check.service")},
            {Right("nginx-check.service", "start")},
            id="a unit as check",
        ),
        pytest.param(
            {"check": DeliveryCheck(exec=("/bin/true",))}, frozenset[Right](), id="a program as check"
        ),
        pytest.param(
            {"reload": DeliveryReload(exec=("/bin/true",))}, frozenset[Right](), id="a program is run"
        ),
    ],
)
def test_each_unit_and_verb_that_is_asked_for(spec: dict[str, Any], rights: AbstractSet[Right]) -> None:
    assert {right for right, _ in rights_of(WEB, replace(NOTHING, **spec))} == rights


def test_a_right_is_in_the_rule_once_with_all_who_need_it() -> None:
    reload = replace(NOTHING, reload=DeliveryReload(unit="nginx.service"))
    rights = collected([*rights_of(APP, reload), *rights_of(WEB, reload)])
    text = rule(rights, "syncret")
    assert text.count("nginx.service") == 1
    assert '"nginx.service reload" // reload of default/web, reload of payments/app\n' in text


def test_names_are_texts_of_javascript() -> None:
    text = rule({Right("sys-a\\x2db.service", "start"): ["check of default/web"]}, 'us"er')
    assert '"sys-a\\\\x2db.service start"' in text
    assert 'subject.user == "us\\"er"' in text


def test_without_a_right_the_rule_allows_nothing() -> None:
    assert "var allowed = [\n    ];" in rule({}, "syncret")


def test_credentials_are_sealed_for_the_user_where_a_delivery_needs_it() -> None:
    sealed = replace(NOTHING, to=(DeliveryTarget(systemd_credential=CredentialTarget(names={"a": "b"})),))
    plain = replace(
        NOTHING, to=(DeliveryTarget(systemd_credential=CredentialTarget(names={"a": "b"}, encrypt="none")),)
    )
    assert (seals(sealed), seals(plain), seals(NOTHING)) == (True, False, False)
    assert "io.systemd.credentials.encrypt" not in rule({}, "syncret")
    text = rule({}, "syncret", [WEB, APP])
    assert "those of default/web, payments/app.\n" in text
    assert 'action.id == "io.systemd.credentials.encrypt" && subject.user == "syncret"' in text
