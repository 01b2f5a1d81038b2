"""Which Deliveries a bound folder may define."""

from typing import Any

import msgspec
import pytest

from syncret.config.manifests.bound_deliveries import document_outside_bounds
from syncret.config.manifests.bound_folders import manifest_outside_bounds
from syncret.config.meta import Document
from syncret.config.resources.kinds import DELIVERY, Kinds
from syncret.config.settings import BoundFolder
from tests.unit.config.support import CATALOG

FOLDER = BoundFolder(
    path="/tenants/a",
    namespaces=("team-a",),
    kinds=("Delivery", "ExternalSecret"),
    deliver_to=("/srv/team-a", "/run/team-a/"),
    units=("a.service", "a-check.service"),
)
NOWHERE = msgspec.structs.replace(FOLDER, deliver_to=(), units=())
BELOW = "(the setting manifests lets it deliver below /srv/team-a, /run/team-a/)"
UNITS = "(the setting manifests lets it name a.service, a-check.service)"


def delivery(*targets: Document, **steps: Any) -> Document:  # noqa: ANN401  # any field
    return {"spec": {"sources": [{"secret": "tls"}], "to": list(targets), **steps}}


def to(path: str = "/srv/team-a/tls", **fields: Any) -> Document:  # noqa: ANN401  # as above
    return {"directory": {"path": path, **fields}}


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(delivery(to()), id="a folder"),
        pytest.param(delivery(to("/run/team-a/x/tls")), id="deeper, in the other one"),
        pytest.param(
            delivery(
                to(),
                check={"unit": "a-check.service"},
                reload={"unit": "a.service", "action": "restart"},
                healthy={"unit": "a.service"},
            ),
            id="its units",
        ),
        pytest.param(
            delivery({"socket": {"units": ["a.service"], "names": {"x": "y"}}}), id="a socket for its unit"
        ),
    ],
)
def test_what_is_within_the_bounds(document: Document) -> None:
    assert document_outside_bounds(document, FOLDER) is None


@pytest.mark.parametrize(
    ("document", "told"),
    [
        pytest.param(
            delivery(to(), to("/etc/cron.d/a")),
            f"spec.to[1].directory.path: /tenants/a may not deliver to /etc/cron.d/a {BELOW}",
            id="another folder",
        ),
        pytest.param(
            delivery(to("/srv/team-ab/tls")),
            f"spec.to[0].directory.path: /tenants/a may not deliver to /srv/team-ab/tls {BELOW}",
            id="a folder whose name only begins alike",
        ),
        pytest.param(
            delivery(to("/srv/team-a")),
            f"spec.to[0].directory.path: /tenants/a may not deliver to /srv/team-a {BELOW}",
            id="the folder itself",
        ),
        pytest.param(
            delivery({"envFile": {"path": "/srv/team-b/env", "format": "systemd"}}),
            f"spec.to[0].envFile.path: /tenants/a may not deliver to /srv/team-b/env {BELOW}",
            id="variables of others",
        ),
        pytest.param(
            delivery(to(), reload={"unit": "sshd.service"}),
            f"spec.reload.unit: sshd.service is not a unit of /tenants/a {UNITS}",
            id="reload",
        ),
        pytest.param(
            delivery(to(), check={"unit": "b.service"}),
            f"spec.check.unit: b.service is not a unit of /tenants/a {UNITS}",
            id="check",
        ),
        pytest.param(
            delivery(to(), healthy={"unit": "b.service"}),
            f"spec.healthy.unit: b.service is not a unit of /tenants/a {UNITS}",
            id="proof",
        ),
        pytest.param(
            delivery({"socket": {"units": ["a.service", "b.service"], "names": {"x": "y"}}}),
            f"spec.to[0].socket.units: b.service is not a unit of /tenants/a {UNITS}",
            id="a socket for the unit of others",
        ),
        pytest.param(
            delivery(to(adopt=True)),
            "spec.to[0].directory.adopt: /tenants/a may not take over what others wrote (leave it out)",
            id="what others wrote",
        ),
        pytest.param(
            delivery({"systemdCredential": {"path": "/srv/team-a/credentials", "names": {"a": "b"}}}),
            "spec.to[0].systemdCredential: /tenants/a may not write credentials of units "
            "(define it elsewhere)",
            id="credentials",
        ),
        pytest.param(
            {"spec": []},
            "spec: Expected `object`, got `array` (see syncret explain --field Delivery.spec)",
            id="what cannot be read",
        ),
    ],
)
def test_what_is_outside_says_field_and_remedy(document: Document, told: str) -> None:
    assert str(document_outside_bounds(document, FOLDER)) == told


@pytest.mark.parametrize(
    ("step", "fields"),
    [
        pytest.param("check", {"exec": ["/usr/bin/true"]}, id="a program as check"),
        pytest.param("reload", {"exec": ["/usr/bin/true"]}, id="a program"),
        pytest.param("reload", {"signal": {"signal": "SIGTERM", "pidFile": "/run/sshd.pid"}}, id="a signal"),
        pytest.param("reload", {"http": {"url": "http://127.0.0.1/"}}, id="a request"),
        pytest.param("healthy", {"exec": ["/usr/bin/true"]}, id="a program as proof"),
        pytest.param("healthy", {"tls": {"address": "[::1]:443", "certificate": "a"}}, id="a certificate"),
    ],
)
def test_nothing_but_units_is_run_or_told(step: str, fields: Document) -> None:
    assert str(document_outside_bounds(delivery(to(), **{step: fields}), FOLDER)) == (
        f"spec.{step}: /tenants/a may run and reload nothing but units (name a unit, or define it elsewhere)"
    )


def test_naming_the_kind_alone_lets_it_deliver_nowhere() -> None:
    told = "(the setting manifests lets it deliver below no folder)"
    problem = manifest_outside_bounds(DELIVERY.ref("team-a", "x"), delivery(to()), NOWHERE, Kinds(CATALOG))
    assert told in str(problem)
