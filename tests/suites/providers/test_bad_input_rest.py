"""What an operator reads when a store with a REST API cannot be used: what is wrong, what to do, no secret.

Every manager is asked the same. The suite of providers tells errors apart by their class; here it is the
condition that counts, as it stands in a status.
"""

import re
from base64 import b64encode
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from copy import deepcopy
from pathlib import Path
from time import time
from typing import Any, Final, TypeAlias

import pytest
from aiohttp import web

from syncret.config.fields import Json
from syncret.config.meta import Document
from syncret.daemon.one_pass import SyncResult
from syncret.providers.contract import Prober
from syncret.providers.testing import Ability, Entry
from tests.suites.providers import bad_answers
from tests.suites.providers.bad_answers import CANARY
from tests.suites.providers.managers import MANAGERS, managed
from tests.suites.providers.rest_harness import RestHarness
from tests.support.passes import external, passed, ready, store

Store: TypeAlias = RestHarness[Any]
Opens: TypeAlias = Callable[..., AbstractAsyncContextManager[Store]]

QUICK: Final = {"doppler", "infisical"}
"""Those of the fast tests; the others are of the conformance lane."""

ELSEWHERE: Final[Mapping[str, tuple[Mapping[str, Json], str]]] = {
    "barbican": ({"region": "nowhere"}, "check tenantName and region"),
    "beyondtrustworkloadcredentials": ({"folderPath": "none"}, "does not exist"),
    "bitwardensecretsmanager": (
        {"organizationID": "00000000-0000-4000-8000-000000000000"},
        "check organizationID",
    ),
    "doppler": ({"config": "none"}, "check project and config"),
    "dvls": ({"vault": "none"}, "check vault"),
    "github": ({"organization": "none"}, "check organization"),
    "gitlab": ({"projectID": "8"}, "projectID"),
    "infisical": ({"secretsScope": {"projectSlug": "shop", "environmentSlug": "none"}}, "environmentSlug"),
    "ngrok": ({"vault": {"name": "none"}}, "check vault.name"),
    "onboardbase": ({"project": "none"}, "check apiHost, project and environment"),
    "onepassword": ({"vaults": {"none": 1}}, "write the vault's ID"),
    "oracle": ({"vault": "ocid1.vault.oc1..none"}, "check compartment and vault"),
    "ovh": ({"okmsid": "00000000-0000-4000-8000-000000000000"}, "check server and okmsid"),
    "passworddepot": ({"database": "none"}, "check database"),
    "pulumi": ({"environment": "none"}, "check organization, project and environment"),
    "volcengine": ({"region": "cn-none"}, "check auth.secretRef and region"),
    "yandexcertificatemanager": ({"fetching": {"byName": {"folderID": "none"}}}, "permission denied"),
    "yandexlockbox": ({"fetching": {"byName": {"folderID": "none"}}}, "permission denied"),
}
"""A place that does not exist, and what is said of it. Others have none but what is part of a key."""

SIGNED: Final = (
    *("alibaba", "chef", "github", "oracle", "volcengine"),
    *("yandexcertificatemanager", "yandexlockbox"),
)
"""Whose requests or logins are good for minutes."""

FIELDS: Final = (
    *("akeyless", "beyondtrustworkloadcredentials", "delinea", "dvls", "keepersecurity", "onepassword"),
    "ovh",
    *("secretserver", "senhasegura", "yandexlockbox"),
)
"""Whose entries are objects."""

SHAPE: Final = "JSON of another shape|begins no session|has no token"

NAMES: Final = (
    *("..", "../../v3/me", "a/b", "a b", "%2e%2e", "ä", "a?b=c", "a#b"),
    *("x" * 5000, 'a" or "b', "a\\b", "a\nb"),
)


def _lanes(name: str) -> object:
    marks = () if name in QUICK else (pytest.mark.slow, pytest.mark.conformance)
    return pytest.param(name, marks=marks)


@pytest.fixture(params=[_lanes(name) for name in sorted(MANAGERS)])
def opens(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Opens:
    def opens(**options: Any) -> AbstractAsyncContextManager[Store]:  # noqa: ANN401  # those of `managed`
        return managed(request.param, tmp_path, monkeypatch, **options)

    return opens


@pytest.fixture
async def manager(opens: Opens) -> AsyncIterator[Store]:
    async with opens() as harness:
        yield harness


def writes_only(harness: Store) -> bool:
    return Ability.READ in harness.lacks


async def seeded(harness: Store, text: str = CANARY) -> str:
    """The key of an entry that is there; of what is written alone, one that may be."""
    key = harness.key("a-key")
    if not writes_only(harness):
        await harness.seed(Entry(key, harness.whole(text)))
    return key


def _secret(name: str, data: Mapping[str, bytes]) -> Document:
    encoded = {key: b64encode(value).decode() for key, value in data.items()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "data": encoded}


def _using(harness: Store, name: str, key: str, *, extract: bool, part: str) -> Document:
    """What reads the entry; for a manager that shows nothing, what pushes it."""
    if extract:
        return external(name, dataFrom=[{"extract": {"key": key}}])
    if not writes_only(harness):
        ref: Json = {"key": key, **({"property": part} if part else {})}
        return external(name, data=[{"secretKey": "k", "remoteRef": ref}])
    match = {"secretKey": "k", "remoteRef": {"remoteKey": key}}
    stores, source = [{"name": "s"}], {"secret": {"name": "pushed"}}
    return {
        "apiVersion": "external-secrets.io/v1alpha1",
        "kind": "PushSecret",
        "metadata": {"name": name},
        "spec": {"secretStoreRefs": stores, "selector": source, "data": [{"match": match}]},
    }


async def used(
    harness: Store, folder: Path, *keys: str, extract: bool = False, part: str = "", **spec: Json
) -> tuple[SyncResult, str]:
    """What a pass over these entries comes to, and all that is said of it; `part` is the property."""
    logins = [_secret(name, data) for name, data in harness.given.secrets.items()]
    users = [
        _using(harness, f"es{number}", key, extract=extract, part=part) for number, key in enumerate(keys)
    ]
    result = await passed(
        folder,
        *logins,
        _secret("pushed", {"k": CANARY.encode()}),
        store(harness.provider, {**harness.spec(), **spec}),
        *users,
        secrets=(CANARY, *(each for each in harness.canaries if each)),
    )
    return result, " ".join(result.failures.values())


def is_ready(harness: Store, result: SyncResult, name: str = "") -> bool:
    kind = "PushSecret" if writes_only(harness) else "ExternalSecret"
    return ready(result, kind, name)[0] == "True"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(bad_answers.page, "the answer is HTML, not JSON", id="HTML"),
        pytest.param(bad_answers.missing_page, "HTTP 404", id="a page that is missing"),
        pytest.param(bad_answers.binary, "the answer is not JSON", id="binary"),
        pytest.param(bad_answers.no_utf_8, f"the answer is not JSON|{SHAPE}", id="no UTF-8"),
        pytest.param(bad_answers.of_another_api, SHAPE, id="JSON of another API"),
        pytest.param(bad_answers.huge, "larger than", id="10 MB"),
        pytest.param(
            bad_answers.elsewhere,
            "receive the credentials|credentials could be intercepted",
            id="a redirect to another host",
        ),
        pytest.param(bad_answers.too_many, "syncret.dev/requests-per-second", id="throttled"),
        pytest.param(bad_answers.broken, "HTTP 500|the SDK server refuses", id="broken"),
    ],
)
async def test_answers(
    manager: Store,
    tmp_path: Path,
    answer: Callable[[web.Request], web.StreamResponse],
    expected: str,
) -> None:
    if manager.provider == "chef" and answer is bad_answers.of_another_api:
        pytest.skip("every JSON object is an item")
    key = await seeded(manager)
    with manager.server.failing(answer):
        result, said = await used(manager, tmp_path, key)

    assert not is_ready(manager, result)
    assert re.search(expected, said)
    assert "does not exist in SecretStore" not in said


async def test_json_of_another_api_is_no_absence(manager: Store, tmp_path: Path) -> None:
    """The login is good; what answers then is something else, and nothing may be deleted for that."""
    key, opening = await seeded(manager), set[str]()

    def noted(request: web.Request) -> None:
        opening.add(request.path)

    with manager.server.failing(noted):
        async with manager.open() as client:
            assert isinstance(client, Prober)
            await client.probe()

    def fault(request: web.Request) -> web.StreamResponse | None:
        return None if request.path in opening else web.json_response({"ok": True})

    with manager.server.failing(fault):
        _, said = await used(manager, tmp_path, key)

    assert "does not exist in SecretStore" not in said


async def test_credentials_that_are_wrong(manager: Store, tmp_path: Path) -> None:
    if Ability.ROTATE in manager.lacks:
        pytest.skip(manager.lacks[Ability.ROTATE])
    key, former = await seeded(manager), deepcopy(manager.given.secrets)
    await manager.rotate()
    manager.given.secrets.clear()
    manager.given.secrets |= former
    result, said = await used(manager, tmp_path, key)

    assert not is_ready(manager, result)
    assert re.search(r"HTTP 40[01]|refuses|is refused|are wrong or expired", said)
    assert re.search(r"\((check [a-zA-Z]|the credentials are wrong or expired)", said)


async def test_credentials_that_may_not(manager: Store, tmp_path: Path) -> None:
    key = await seeded(manager)
    with manager.server.failing(manager.server.denied):
        result, said = await used(manager, tmp_path, key)

    assert not is_ready(manager, result)
    assert re.search(r"permission denied|is refused|may not do this|HTTP 403", said)
    assert re.search(r"\((give|issue|let|write|check|is its|the credentials are known)\b", said)


async def test_an_entry_that_may_not_be_read(manager: Store, tmp_path: Path) -> None:
    if Ability.REFUSE_KEY in manager.lacks or writes_only(manager):
        pytest.skip("there are no rights for one entry")
    key = await seeded(manager)
    with manager.refusing(key):
        result, said = await used(manager, tmp_path, key)

    assert ready(result, "SecretStore") == ("True", "Valid")
    assert ready(result, "ExternalSecret") == ("False", "SecretSyncedError")
    assert re.search(r"permission denied|is not shared with the account", said)
    assert re.search(r"\((give|issue|let|write|check|permit)\b", said)


async def test_another_place(manager: Store, tmp_path: Path) -> None:
    if manager.provider not in ELSEWHERE:
        pytest.skip("a store names no place, or one in which nothing is told from what is absent")
    spec, expected = ELSEWHERE[manager.provider]
    result, said = await used(manager, tmp_path, await seeded(manager), **spec)

    assert not is_ready(manager, result)
    assert expected in said


async def test_an_authority_that_is_not_known(opens: Opens, tmp_path: Path) -> None:
    async with opens(untrusted=True) as harness:
        result, said = await used(harness, tmp_path, await seeded(harness))

    assert not is_ready(harness, result)
    assert "its certificate is not trusted (set caBundle or caProvider" in said
    assert harness.server.calls == []


@pytest.mark.parametrize("name", [_lanes(name) for name in SIGNED])
async def test_a_clock_that_is_off(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with managed(name, tmp_path, monkeypatch, now=lambda: time() + 86400) as harness:
        result, said = await used(harness, tmp_path, await seeded(harness))

    assert not is_ready(harness, result)
    assert "the clock" in said


async def test_a_value_that_is_empty(manager: Store, tmp_path: Path) -> None:
    """It is delivered, or the condition says why not."""
    if writes_only(manager):
        pytest.skip(manager.lacks[Ability.READ])
    result, said = await used(manager, tmp_path, await seeded(manager, ""))

    assert is_ready(manager, result) or re.search(r"empty|no field 'password'", said)


async def test_a_text_where_an_object_is_wanted(manager: Store, tmp_path: Path) -> None:
    if Ability.MAP in manager.lacks or writes_only(manager) or manager.provider in FIELDS:
        pytest.skip("what is read is an object")
    result, said = await used(manager, tmp_path, await seeded(manager), extract=True)

    assert ready(result, "ExternalSecret") == ("False", "SecretSyncedError")
    assert "JSON" in said


async def test_a_property_of_what_is_no_json(manager: Store, tmp_path: Path) -> None:
    if Ability.PROPERTY in manager.lacks or writes_only(manager):
        pytest.skip("there are no properties")
    result, said = await used(manager, tmp_path, await seeded(manager), part="a")

    assert ready(result, "ExternalSecret") == ("False", "SecretSyncedError")
    assert re.search(r"\ba\b|'a'", said)
    assert re.search(r"\(correct (remoteRef\.property|the key or the property)", said)


async def test_names_stay_where_they_belong(manager: Store, tmp_path: Path) -> None:
    """Whatever a key holds, it is a name to the manager, and never another address."""
    innocent = [f"innocent_{number}" for number in range(len(NAMES))]
    await used(manager, tmp_path / "before", *map(manager.key, innocent))
    known = {re.split("innocent", _path(call), flags=re.IGNORECASE)[0] for call in manager.server.calls}
    manager.server.calls.clear()
    result, _ = await used(manager, tmp_path / "after", *NAMES)

    if not writes_only(manager):
        assert not [number for number in range(len(NAMES)) if is_ready(manager, result, f"es{number}")]
    for call in manager.server.calls:
        path = _path(call)
        assert path.startswith(tuple(known)), call
        assert not {".", ".."} & set(path.split("/")), call


def _path(call: str) -> str:
    """The path of a call as it was sent."""
    return call.partition(" ")[2].partition("?")[0]
