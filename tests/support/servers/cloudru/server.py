"""Cloud.ru's Secret Manager, and its IAM, written from the protocol files in the vendor's SDKs for Go.

https://github.com/cloudru-tech/secret-manager-sdk (1.1.1), https://github.com/cloudru-tech/iam-sdk (1.0.4)
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

from tests.support.servers.grpc import Answer, GrpcServer, Refused, schema

PROJECT: Final = "6f0e1d3c-8a6b-4c5d-9e7f-2a3b4c5d6e7f"
_BYTES: Final = {"value": (1, "bytes")}
_PLACE: Final = {"project_id": (1, "string"), "path": (2, "string")}
_PAIR: Final = {"key": (1, "string"), "value": (2, "string")}

V2: Final = schema(
    "cloud.csm.core.v2",
    BytesValue=_BYTES,
    Pair=_PAIR,
    Secret={"id": (1, "string"), "name": (5, "string"), "path": (10, "string"), "labels": (25, "*Pair")},
    SecretVersion={"id": (1, "int32")},
    AccessSecretRequest={**_PLACE, "version": (3, "int32")},
    AccessSecretResponse={
        "secret": (1, "Secret"),
        "version": (2, "SecretVersion"),
        "payload": (3, "BytesValue"),
    },
    SearchSecretRequest={**_PLACE, "depth": (3, "int32"), "labels": (10, "*Pair"), "regex": (11, "string")},
    SearchSecretResponse={"secrets": (1, "*Secret")},
    CreateSecretRequest={**_PLACE, "payload": (10, "BytesValue")},
    AddVersionRequest={**_PLACE, "payload": (3, "BytesValue")},
    DeleteSecretRequest={**_PLACE, "force": (3, "bool")},
    SecretResponse={"secret": (1, "Secret")},
)
V1: Final = schema(
    "sbercloud.secretmanager.v1",
    BytesValue=_BYTES,
    AccessSecretVersionRequest={"secret_id": (1, "string"), "secret_version_id": (2, "string")},
    SecretPayload={"data": (1, "BytesValue")},
)
IAM: Final = schema(
    "sbercloud.cp.iam.api.v1.auth",
    GetTokenRequest={"key_id": (1, "string"), "secret": (2, "string")},
    GetTokenResponse={"access_token": (1, "string"), "expires_in": (4, "int32")},
)


@dataclass
class Held:
    """A secret: its versions, oldest first, and its labels."""

    versions: list[bytes]
    labels: dict[str, str] = field(default_factory=dict[str, str])


class CloudRu(GrpcServer):
    """One project, and one access key."""

    def __init__(self) -> None:
        super().__init__()
        self.key_id, self.secret = "cloudru-key-1", "canary-secret-1"
        self.logins = 0
        self.secrets: dict[str, Held] = {}

    def add(self, path: str, value: bytes, labels: dict[str, str] | None = None) -> None:
        self.secrets.setdefault(path, Held([], labels or {})).versions.append(value)

    @staticmethod
    def id_of(path: str) -> str:
        """The ID of a secret."""
        return str(uuid5(NAMESPACE_URL, path))

    def methods(self) -> Mapping[str, tuple[Any, Answer]]:
        v1, v2 = "sbercloud.secretmanager.v1.SecretManagerService", "cloud.csm.core.v2.SecretService"
        return {
            "sbercloud.cp.iam.api.v1.auth.AuthService/GetToken": (IAM["GetTokenRequest"], self._log_in),
            f"{v1}/AccessSecretVersion": (V1["AccessSecretVersionRequest"], self._access_by_id),
            f"{v2}/Access": (V2["AccessSecretRequest"], self._access),
            f"{v2}/Search": (V2["SearchSecretRequest"], self._search),
            f"{v2}/Create": (V2["CreateSecretRequest"], self._create),
            f"{v2}/AddVersion": (V2["AddVersionRequest"], self._add),
            f"{v2}/Delete": (V2["DeleteSecretRequest"], self._delete),
        }

    @property
    def writes(self) -> int:
        return sum(call in {"Create", "AddVersion", "Delete"} for call in self.calls)

    def _log_in(self, request: Any) -> object:  # noqa: ANN401  # protobuf's own, here and below
        if (request.key_id, request.secret) != (self.key_id, self.secret):
            raise Refused("UNAUTHENTICATED")
        self.logins += 1
        self.token = f"canary-token-{self.logins}"
        return IAM["GetTokenResponse"](access_token=self.token, expires_in=3600)

    def _let_in(self, method: str, request: Any) -> str:  # noqa: ANN401
        self.enter(method, request.path)
        if request.project_id != PROJECT:
            raise Refused("PERMISSION_DENIED")
        return str(request.path)

    def _value(self, path: str, version: int) -> bytes:
        held = self.secrets.get(path)
        if held is None or version > len(held.versions):
            raise Refused("NOT_FOUND")
        return held.versions[version - 1]

    def _shown(self, path: str) -> object:
        labels = [V2["Pair"](key=key, value=value) for key, value in self.secrets[path].labels.items()]
        name = path.rpartition("/")[2]
        return V2["Secret"](id=self.id_of(path), name=name, path=path, labels=labels)

    def _access(self, request: Any) -> object:  # noqa: ANN401
        path = self._let_in("Access", request)
        value = self._value(path, request.version)
        payload = V2["BytesValue"](value=value)
        return V2["AccessSecretResponse"](secret=self._shown(path), payload=payload)

    def _access_by_id(self, request: Any) -> object:  # noqa: ANN401
        path = next((path for path in self.secrets if self.id_of(path) == request.secret_id), "")
        self.enter("AccessSecretVersion", path)
        version = 0 if request.secret_version_id == "latest" else int(request.secret_version_id)
        return V1["SecretPayload"](data=V1["BytesValue"](value=self._value(path, version)))

    def _search(self, request: Any) -> object:  # noqa: ANN401
        folder = self._let_in("Search", request)
        assert request.depth == -1
        wanted = {pair.key: pair.value for pair in request.labels}.items()
        found = [
            path
            for path, held in self.secrets.items()
            if (not folder or path.startswith(f"{folder}/"))
            and wanted <= held.labels.items()
            and re.search(request.regex, path.rpartition("/")[2])
        ]
        return V2["SearchSecretResponse"](secrets=[self._shown(path) for path in found])

    def _create(self, request: Any) -> object:  # noqa: ANN401
        path = self._let_in("Create", request)
        if path in self.secrets:
            raise Refused("ALREADY_EXISTS")
        self.secrets[path] = Held([request.payload.value])
        return V2["SecretResponse"](secret=self._shown(path))

    def _add(self, request: Any) -> object:  # noqa: ANN401
        path = self._let_in("AddVersion", request)
        self._value(path, 0)
        self.secrets[path].versions.append(request.payload.value)
        return V2["SecretResponse"](secret=self._shown(path))

    def _delete(self, request: Any) -> object:  # noqa: ANN401
        path = self._let_in("Delete", request)
        if not request.force:
            raise Refused("FAILED_PRECONDITION")
        self._value(path, 0)
        del self.secrets[path]
        return V2["SecretResponse"]()
