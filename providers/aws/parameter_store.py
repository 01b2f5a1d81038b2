"""AWS Parameter Store: reads by exact name in batches of ten, finds by name, path and tags, writes."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from syncret.providers.aws import payloads
from syncret.providers.aws.api import Api, Forbidden, tag_map
from syncret.providers.aws.batches import Answers, Batches, each
from syncret.providers.aws.service import Service, check_query
from syncret.providers.contract import FindQuery, RemoteKey, SecretBytes, SecretMap, Writer
from syncret.providers.errors import Malformed, SyncError
from syncret.providers.kit import gojson, goregexp

BATCH: Final = 10
"""Parameters in one GetParameters, and in one page of GetParametersByPath."""

_PAGE: Final = 50
_ROOT: Final = "/"


class ParameterStoreClient(Service):
    """Reads, finds, writes and probes. A version is a number or a label."""

    converts_keys = False
    value = staticmethod(payloads.value)
    fields = staticmethod(payloads.fields)

    def __init__(
        self, api: Api, writer: Writer, *, prefix: str, login: Callable[[], Awaitable[object]]
    ) -> None:
        super().__init__(api, writer, prefix=prefix, login=login)
        self._values = Batches(self._many, self._one, size=BATCH)

    async def fetch(self, keys: Sequence[RemoteKey]) -> Mapping[RemoteKey, SecretBytes | SyncError]:
        names = {key: self._name(key) for key in keys}
        values: Answers = {}
        for together in self._apart(key for key in keys if not key.metadata):
            values |= await self._values.get(together)
        tags = await each((name for key, name in names.items() if key.metadata), self._tags)
        found = {key: (tags if key.metadata else values).get(name) for key, name in names.items()}
        return {key: value for key, value in found.items() if value is not None}

    async def find(self, query: FindQuery) -> SecretMap:
        check_query(query)
        if query.tags:
            return await self._described(query)
        try:
            return await self._by_path(query)
        except Forbidden:
            pass  # older policies allow the other way alone
        return await self._described(query)

    def _name(self, key: RemoteKey) -> str:
        name = self._prefix + key.key
        return f"{name}:{key.version}" if key.version and not key.metadata else name

    def _apart(self, keys: Iterable[RemoteKey]) -> list[list[str]]:
        """Names in lists, none with a parameter twice: whether AWS takes two versions it does not say."""
        lists: list[dict[str, str]] = []
        for key in keys:
            free = next((names for names in lists if key.key not in names), None)
            if free is None:
                lists.append(free := {})
            free[key.key] = self._name(key)
        return [list(names.values()) for names in lists]

    async def _many(self, names: Sequence[str]) -> Answers:
        """One batch. Absent is only what AWS says is absent."""
        answer = await self._api.call("get_parameters", Names=list(names), WithDecryption=True)
        values: dict[str, SecretBytes | SyncError] = {}
        for parameter in answer.get("Parameters", ()):
            selector = parameter.get("Selector") or ""
            value = SecretBytes(parameter.get("Value", "").encode())
            values |= dict.fromkeys(
                (parameter.get("Name", "") + selector, parameter.get("ARN", "") + selector), value
            )
        absent = set(answer.get("InvalidParameters", ()))
        left = (name for name in names if name not in absent)
        return {name: values[name] if name in values else _unanswered() for name in left}

    async def _one(self, name: str) -> SecretBytes:
        answer = await self._api.call("get_parameter", Name=name, WithDecryption=True)
        value = answer.get("Parameter", {}).get("Value")
        if value is None:
            raise Malformed("invalid secret received. parameter value is nil")
        return SecretBytes(value.encode())

    async def _tags(self, name: str) -> SecretBytes:
        answer = await self._api.call("list_tags_for_resource", ResourceType="Parameter", ResourceId=name)
        return SecretBytes(gojson.marshal(tag_map(answer.get("TagList"))).encode())

    async def _by_path(self, query: FindQuery) -> SecretMap:
        wanted = goregexp.compile(query.name or "").search
        found: dict[str, SecretBytes] = {}
        pages = self._pages(
            "get_parameters_by_path",
            Path=query.path or _ROOT,
            Recursive=True,
            WithDecryption=True,
            MaxResults=BATCH,
        )
        async for parameter in pages:
            if wanted(parameter["Name"]):
                found[parameter["Name"]] = SecretBytes(parameter.get("Value", "").encode())
        return found

    async def _described(self, query: FindQuery) -> SecretMap:
        wanted = goregexp.compile(query.name or "").search
        filters = [
            {"Key": f"tag:{key}", "Option": "Equals", "Values": [value]} for key, value in query.tags or ()
        ]
        if query.path:
            filters.append({"Key": "Path", "Option": "Recursive", "Values": [query.path]})
        pages = self._pages("describe_parameters", ParameterFilters=filters, MaxResults=_PAGE)
        names = [parameter["Name"] async for parameter in pages if wanted(parameter["Name"])]
        return payloads.complete(await self._values.get(names))

    async def _pages(self, operation: str, **parameters: object) -> AsyncIterator[dict[str, Any]]:
        while True:
            answer = await self._api.call(operation, **parameters)
            for parameter in answer.get("Parameters", ()):
                yield parameter
            if not answer.get("NextToken"):
                return
            parameters["NextToken"] = answer["NextToken"]


def _unanswered() -> Malformed:
    return Malformed(
        "GetParameters did not answer for this key", hint="is there a proxy, or a wrong endpoint?"
    )
