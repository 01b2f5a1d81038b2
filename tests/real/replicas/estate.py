"""What the replicas work on, what owners change of it meanwhile, and what must stand in the end."""

import time
from base64 import b64decode, b64encode
from collections.abc import Iterator
from random import Random
from typing import Final, NamedTuple

from syncret.config.meta import Document, member
from tests.real.replicas.store import PROPERTY, PushedVault
from tests.support.servers.kube.running import KubeApi

_ESO: Final = "external-secrets.io"
_GENERATORS: Final = "generators.external-secrets.io"
_PLACES: Final = {
    "Namespace": ("v1", "/api/v1", "namespaces"),
    "Secret": ("v1", "/api/v1", "secrets"),
    "SecretStore": (f"{_ESO}/v1", f"/apis/{_ESO}/v1", "secretstores"),
    "ClusterSecretStore": (f"{_ESO}/v1", f"/apis/{_ESO}/v1", "clustersecretstores"),
    "ExternalSecret": (f"{_ESO}/v1", f"/apis/{_ESO}/v1", "externalsecrets"),
    "ClusterExternalSecret": (f"{_ESO}/v1", f"/apis/{_ESO}/v1", "clusterexternalsecrets"),
    "PushSecret": (f"{_ESO}/v1alpha1", f"/apis/{_ESO}/v1alpha1", "pushsecrets"),
    "Password": (f"{_GENERATORS}/v1alpha1", f"/apis/{_GENERATORS}/v1alpha1", "passwords"),
}
WORK: Final = "work"
TEAMS: Final = ("team-a", "team-b", "team-c", "team-d")
_FORCE: Final = "force-sync"


class Size(NamedTuple):
    """How many objects there are, and how often they are due."""

    synced: int
    """ExternalSecrets that read from the store."""
    drawn: int
    """ExternalSecrets whose value is generated once."""
    keys: int
    pushed: int
    fanned: int
    interval: int
    """Seconds."""


FULL: Final = Size(synced=1400, drawn=600, keys=200, pushed=50, fanned=10, interval=60)
SMALL: Final = Size(synced=140, drawn=60, keys=20, pushed=10, fanned=3, interval=20)


class Estate:
    """Everything that people make and change."""

    def __init__(self, api: KubeApi, vault: PushedVault, size: Size, chance: Random) -> None:
        self.api = api
        self.vault = vault
        self.size = size
        self.once: dict[str, bool] = {}
        """Secrets whose value is generated once, and whether they alone tell so."""
        self._chance = chance
        self._synced: dict[str, str] = {}
        """Names of ExternalSecrets, with their keys."""
        self._numbers = 1000
        self._sources: dict[str, str] = {}
        self._chosen: dict[str, set[str]] = {f"wide-{number}": set() for number in range(size.fanned)}

    # ---------------------------------------------------------------------------------------------- commands
    def _path(self, kind: str, name: str = "", namespace: str = WORK) -> str:
        _, root, plural = _PLACES[kind]
        within = "" if kind == "Namespace" or kind.startswith("Cluster") else f"/namespaces/{namespace}"
        return f"{root}{within}/{plural}{f'/{name}' if name else ''}"

    def _create(self, kind: str, name: str, **content: object) -> None:
        document = {"apiVersion": _PLACES[kind][0], "kind": kind, "metadata": {"name": name}, **content}
        self.api.create(self._path(kind), document)

    def _patch(self, kind: str, name: str, merge: Document) -> None:
        self.api.request("PATCH", self._path(kind, name), merge)

    def _next(self) -> str:
        self._numbers += 1
        return str(self._numbers)

    def lay_out(self) -> None:
        """All that is there before the first replica."""
        for name in (WORK, *TEAMS):
            self._create("Namespace", name)
        self._create("Secret", "login", stringData={"secret-id": "right"})
        secret = {"name": "login", "key": "secret-id", "namespace": WORK}
        role = {"path": "approle", "roleId": "role", "secretRef": secret}
        vault = {"server": self.vault.url, "path": "kv", "version": "v2", "auth": {"appRole": role}}
        self._create("ClusterSecretStore", "s", spec={"provider": {"vault": vault}})
        self._create(
            "Password",
            "p",
            spec={"length": 24, "digits": 5, "symbols": 0, "noUpper": False, "allowRepeat": True},
        )
        for number in range(self.size.keys):
            self.vault.put(f"k{number}", self._next())
        for number in range(self.size.synced):
            self._sync(f"e{number}")
        for number in range(self.size.drawn):
            self._draw(f"d{number}")
        for number in range(self.size.pushed):
            self._push(f"p{number}")
        for name in self._chosen:
            self._fan_out(name)

    def _synced_spec(self, key: str) -> Document:
        return {
            "refreshInterval": f"{self.size.interval}s",
            "secretStoreRef": {"kind": "ClusterSecretStore", "name": "s"},
            "data": [{"secretKey": "a", "remoteRef": {"key": key, "property": PROPERTY}}],
        }

    def _sync(self, name: str) -> None:
        key = f"k{self._chance.randrange(self.size.keys)}"
        self._create("ExternalSecret", name, spec=self._synced_spec(key))
        self._synced[name] = key

    def _draw(self, name: str) -> None:
        """Half of them are known to be made by the Secret that stands, the others by their status alone."""
        tells = bool(len(self.once) % 2)
        policy = {"refreshPolicy": "CreatedOnce" if tells else "OnChange"}
        reference = {"apiVersion": f"{_GENERATORS}/v1alpha1", "kind": "Password", "name": "p"}
        self._create(
            "ExternalSecret", name, spec={**policy, "dataFrom": [{"sourceRef": {"generatorRef": reference}}]}
        )
        self.once[name] = tells

    def _push(self, name: str) -> None:
        value = self._next()
        self._create("Secret", f"source-{name}", stringData={"a": value})
        self._sources[name] = value
        self._create(
            "PushSecret",
            name,
            spec={
                "refreshInterval": f"{self.size.interval}s",
                "secretStoreRefs": [{"kind": "ClusterSecretStore", "name": "s"}],
                "selector": {"secret": {"name": f"source-{name}"}},
                "data": [
                    {
                        "match": {
                            "secretKey": "a",
                            "remoteRef": {"remoteKey": f"pushed-{name}", "property": PROPERTY},
                        }
                    }
                ],
            },
        )

    def _fan_out(self, name: str) -> None:
        self._create(
            "ClusterExternalSecret",
            name,
            spec={
                "namespaceSelectors": [{"matchLabels": {name: "yes"}}],
                "externalSecretName": name,
                "refreshTime": "1m",
                "externalSecretSpec": self._synced_spec("k0"),
            },
        )

    # ------------------------------------------------------------------------------------------ owners' acts
    def change_something(self) -> None:
        """One change, as somebody makes it every moment. Raises OSError while the API server is away."""
        acts = (
            (6, self._change_value),
            (4, self._force),
            (3, lambda: self._sync(f"n{self._next()}")),
            (3, lambda: self._draw(f"n{self._next()}")),
            (2, self._delete_one),
            (2, self._edit_target),
            (2, self._delete_target),
            (4, self._change_source),
            (2, self._label),
        )
        act = self._chance.choices([each for _, each in acts], [weight for weight, _ in acts])[0]
        act()

    def _change_value(self) -> None:
        self.vault.put(f"k{self._chance.randrange(self.size.keys)}", self._next())

    def _one(self) -> str:
        return self._chance.choice(sorted(self._synced))

    def _force(self) -> None:
        self._patch("ExternalSecret", self._one(), {"metadata": {"annotations": {_FORCE: self._next()}}})

    def _delete_one(self) -> None:
        """With what the garbage collector would do."""
        name = self._one()
        self.api.request("DELETE", self._path("ExternalSecret", name))
        self.api.request("DELETE", self._path("Secret", name))
        self._synced.pop(name, None)

    def _edit_target(self) -> None:
        value = b64encode(b"by hand").decode()
        self._patch("Secret", self._one(), {"data": {"a": value}})

    def _delete_target(self) -> None:
        self.api.request("DELETE", self._path("Secret", self._one()))

    def _change_source(self) -> None:
        name, value = self._chance.choice(sorted(self._sources)), self._next()
        encoded = b64encode(value.encode()).decode()
        answer = self.api.request("PATCH", self._path("Secret", f"source-{name}"), {"data": {"a": encoded}})
        if answer.status == 200:  # of HTTP
            self._sources[name] = value

    def _label(self) -> None:
        name, team = self._chance.choice(sorted(self._chosen)), self._chance.choice(TEAMS)
        chosen = self._chosen[name]
        wanted = None if team in chosen else "yes"
        answer = self.api.request(
            "PATCH", self._path("Namespace", team), {"metadata": {"labels": {name: wanted}}}
        )
        if answer.status == 200:  # of HTTP
            chosen ^= {team}

    # ---------------------------------------------------------------------------------------------- the end
    def _all(self, kind: str, namespace: str = WORK) -> dict[str, Document]:
        answer = self.api.request("GET", self._path(kind, namespace=namespace))
        return {each["metadata"]["name"]: each for each in answer.body.get("items", [])}

    def wrong(self) -> Iterator[str]:
        """What is not as it must be; nothing, once everything has settled."""
        secrets, wanted = self._all("Secret"), self._all("ExternalSecret")
        for name, key in self._synced.items():
            yield from _differs(f"Secret {name}", _value(secrets.get(name)), self.vault.value(key))
            yield from _differs(f"ExternalSecret {name}", _ready(wanted.get(name)), "True")
        for name in self.once:
            yield from _differs(f"ExternalSecret {name}", _ready(wanted.get(name)), "True")
            if name not in secrets:
                yield f"Secret {name}: there is none"
        pushed = self._all("PushSecret")
        for name, value in self._sources.items():
            yield from _differs(f"pushed-{name}", self.vault.value(f"pushed-{name}"), value)
            yield from _differs(f"PushSecret {name}", _ready(pushed.get(name)), "True")
        for team in TEAMS:
            children, values = self._all("ExternalSecret", team), self._all("Secret", team)
            chosen = {name for name, teams in self._chosen.items() if team in teams}
            yield from _differs(f"children in {team}", str(sorted(children)), str(sorted(chosen)))
            for name in chosen & children.keys():
                yield from _differs(f"Secret {team}/{name}", _value(values.get(name)), self.vault.value("k0"))

    def settled(self, seconds: float) -> list[str]:
        """Wait until nothing is wrong; what still is after so many seconds."""
        end = time.monotonic() + seconds
        while True:
            wrong = list(self.wrong())
            if not wrong or time.monotonic() > end:
                return wrong
            time.sleep(1.0)


def _differs(what: str, found: str | None, wanted: str | None) -> Iterator[str]:
    if found != wanted:
        yield f"{what}: {found}, not {wanted}"


def _value(secret: Document | None) -> str | None:
    encoded = None if secret is None else member(secret, "data").get("a")
    return None if encoded is None else b64decode(encoded).decode()


def _ready(found: Document | None) -> str | None:
    conditions: list[Document] = member(found or {}, "status").get("conditions") or []
    return next((each["status"] for each in conditions if each["type"] == "Ready"), None)
