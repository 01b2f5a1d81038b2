"""AWS Secrets Manager: reads by exact key in batches of twenty, finds by name, path and tags, writes."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from syncret.providers.aws import payloads
from syncret.providers.aws.api import Absent, Api, tag_map
from syncret.providers.aws.batches import Answers, Batches, each
from syncret.providers.aws.codes import of_code
from syncret.providers.aws.service import Service, check_query
from syncret.providers.contract import FindQuery, RemoteKey, SecretBytes, SecretMap, Writer
from syncret.providers.errors import Malformed, SyncError
from syncret.providers.kit import gojson, goregexp

BATCH: Final = 20
"""Secrets in one BatchGetSecretValue."""

_PAGE: Final = 100
_CURRENT: Final = "AWSCURRENT"
_BY_ID: Final = "uuid/"


class SecretsManagerClient(Service):
    """Reads, finds, writes and probes. A version is a stage (`AWSPREVIOUS`), or an ID: `uuid/<id>`."""

    converts_keys = False
    value = staticmethod(payloads.value)
    fields = staticmethod(payloads.fields)

    def __init__(
        self, api: Api, writer: Writer, *, prefix: str, login: Callable[[], Awaitable[object]]
    ) -> None:
        super().__init__(api, writer, prefix=prefix, login=login)
        self._current = Batches(self._many, self._one, size=BATCH)

    async def fetch(self, keys: Sequence[RemoteKey]) -> Mapping[RemoteKey, SecretBytes | SyncError]:
        current = {
            key: self._prefix + key.key for key in keys if not key.metadata and key.version in {"", _CURRENT}
        }
        found = await self._current.get(list(dict.fromkeys(current.values())))
        answers = {key: found[name] for key, name in current.items() if name in found}
        for key in keys:
            if key not in current:
                call = self._tags if key.metadata else partial(self._one, version=key.version)
                for answer in (await each([self._prefix + key.key], call)).values():
                    answers[key] = answer
        return answers

    async def find(self, query: FindQuery) -> SecretMap:
        check_query(query)
        names = [name async for name in self._names(query)]
        found = await self._current.get(names)
        return payloads.complete(found)

    async def _many(self, names: Sequence[str]) -> Answers:
        """One batch. Absent is only what AWS says is absent."""
        values: dict[str, SecretBytes | SyncError] = {}
        absent: set[str] = set()
        parameters: dict[str, Any] = {"SecretIdList": list(names)}
        while True:
            answer = await self._api.call("batch_get_secret_value", **parameters)
            for entry in answer.get("SecretValues", ()):
                arn = str(entry.get("ARN", ""))
                value = _value(entry)
                # A secret is asked for by its name, by its ARN, or by its ARN without the six random letters.
                values |= dict.fromkeys((entry.get("Name", ""), arn, arn.rpartition("-")[0]), value)
            for entry in answer.get("Errors", ()):
                error = of_code("GetSecretValue", str(entry.get("ErrorCode")), str(entry.get("Message")))
                if isinstance(error, Absent):
                    absent.add(entry.get("SecretId", ""))
                else:
                    values[entry.get("SecretId", "")] = error
            if not answer.get("NextToken"):
                break
            parameters["NextToken"] = answer["NextToken"]
        left = (name for name in names if name not in absent)
        return {name: values[name] if name in values else _unanswered() for name in left}

    async def _one(self, name: str, version: str = "") -> SecretBytes:
        which = {}
        if version.startswith(_BY_ID):
            which = {"VersionId": version.removeprefix(_BY_ID)}
        elif version:
            which = {"VersionStage": version}
        found = _value(await self._api.call("get_secret_value", SecretId=name, **which))
        if isinstance(found, SyncError):
            raise found
        return found

    async def _tags(self, name: str) -> SecretBytes:
        answer = await self._api.call("describe_secret", SecretId=name)
        return SecretBytes(gojson.marshal(tag_map(answer.get("Tags"))).encode())

    async def _names(self, query: FindQuery) -> AsyncIterator[str]:
        """The names of the secrets that match. AWS compares beginnings; whether all is equal is seen here."""
        wanted = goregexp.compile(query.name or "").search
        tags = dict(query.tags or ())
        filters = [{"Key": "name", "Values": [query.path]}] if query.path else []
        for key, value in tags.items():
            filters += [{"Key": "tag-key", "Values": [key]}, {"Key": "tag-value", "Values": [value]}]
        parameters: dict[str, Any] = {"Filters": filters, "MaxResults": _PAGE}
        while True:
            answer = await self._api.call("list_secrets", **parameters)
            for entry in answer.get("SecretList", ()):
                if wanted(entry["Name"]) and tags.items() <= tag_map(entry.get("Tags")).items():
                    yield entry["Name"]
            if not answer.get("NextToken"):
                return
            parameters["NextToken"] = answer["NextToken"]


def _unanswered() -> Malformed:
    return Malformed(
        "BatchGetSecretValue did not answer for this key", hint="is there a proxy, or a wrong endpoint?"
    )


def _value(entry: Mapping[str, Any]) -> SecretBytes | SyncError:
    if entry.get("SecretString") is not None:
        return SecretBytes(entry["SecretString"].encode())
    if entry.get("SecretBinary") is not None:
        return SecretBytes(entry["SecretBinary"])
    return Malformed(
        "invalid secret received. no secret string nor binary", hint="give the secret a value first"
    )
