"""What `plan` says of the steps of a Delivery."""

from typing import Any

import msgspec
import pytest

from syncret.config.resources.delivery.delivery import DeliverySpec
from syncret.daemon.core.delivery.words import then


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        pytest.param({}, "", id="none"),
        pytest.param(
            {
                "check": {"unit": "nginx-check.service"},
                "reload": {"unit": "nginx.service"},
                "healthy": {"tls": {"address": "127.0.0.1:443", "certificate": "a"}},
            },
            "check nginx-check.service, reload nginx.service, prove 127.0.0.1:443",
            id="units and a certificate",
        ),
        pytest.param(
            {
                "check": {"exec": ["/usr/sbin/nginx", "-t"], "view": "mounted", "user": "www-data"},
                "reload": {"unit": "app.service", "action": "restart"},
                "healthy": {"unit": "app.service"},
            },
            "check /usr/sbin/nginx -t as www-data at the live path, restart app.service, prove app.service",
            id="a program and a restart",
        ),
        pytest.param(
            {"reload": {"signal": {"signal": "SIGHUP", "process": "/usr/sbin/haproxy"}}},
            "send SIGHUP to /usr/sbin/haproxy",
            id="a signal",
        ),
        pytest.param(
            {
                "reload": {"http": {"url": "http://127.0.0.1:9090/-/reload"}},
                "healthy": {"exec": ["/usr/bin/pg_isready"]},
            },
            "POST http://127.0.0.1:9090/-/reload, prove /usr/bin/pg_isready",
            id="a request",
        ),
        pytest.param({"reload": {"exec": ["/usr/bin/true", "x"]}}, "run /usr/bin/true x", id="a program"),
    ],
)
def test_steps_in_their_order(steps: dict[str, Any], said: str) -> None:
    spec = {"sources": [{"secret": "a"}], "to": [{"directory": {"path": "/srv/a"}}], **steps}
    assert then(msgspec.convert(spec, DeliverySpec)) == said
