"""The client of an Alibaba Cloud store: the actions, and what it does with them.

https://www.alibabacloud.com/help/en/kms/developer-reference/api-getsecretvalue
"""

from contextlib import suppress
from typing import Final, NamedTuple
from urllib.parse import quote, urlencode
from uuid import uuid4

import msgspec

from syncret.config.fields import Model
from syncret.providers.contract import Paced, Readiness
from syncret.providers.errors import Denied, Malformed
from syncret.providers.kit.golang import regexp
from syncret.providers.kit.http import Answer
from syncret.providers.kit.paging import Matches, Page, has_tags, pages
from syncret.providers.kit.push_options import decode_spec
from syncret.providers.kit.references import as_text
from syncret.providers.kit.rest.clients import ComputingClient
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.kit.rest.texts import VersionedTexts
from syncret.providers.pushes import PushItem
from syncret.providers.values import FindQuery, RemoteKey, SecretBytes, SecretMap
from syncret.providers.work import Work


class Action(NamedTuple):
    """One action: an endpoint whose parameters are in the query."""

    name: str
    endpoint: Endpoint


def _action(name: str, doing: str) -> Action:
    return Action(name, Endpoint("POST", "/", doing, f"give the RAM user or role a policy with kms:{name}"))


READ: Final = _action("GetSecretValue", "reading secret {name}")
DESCRIBE: Final = _action("DescribeSecret", "looking up secret {name}")
LIST: Final = _action("ListSecrets", "listing secrets")
CREATE: Final = _action("CreateSecret", "creating secret {name}")
UPDATE: Final = _action("PutSecretValue", "changing secret {name}")
DELETE: Final = _action("DeleteSecret", "deleting secret {name}")

_VERSION: Final = "2016-01-20"
_PER_PAGE: Final = 100
_WINDOW: Final = "7"
"""Days for which a deleted secret can be restored; the fewest that there are."""


class NotFound(Malformed):
    """There is no such secret or version."""


class NotPermitted(Denied):
    """The credentials are good, but not for this."""


class Refused(Malformed):
    """A request that is refused with a code other than the common ones."""


class PushSpec(Model, forbid_unknown_fields=True):
    """The metadata of a PushSecret for Alibaba Cloud: where a new secret is kept."""

    kms_instance_id: str = msgspec.field(default="", name="kmsInstanceID")
    encryption_key_id: str = msgspec.field(default="", name="encryptionKeyID")


class _Value(msgspec.Struct):
    SecretData: str


class _Tag(msgspec.Struct):
    TagKey: str
    TagValue: str = ""


class _Tags(msgspec.Struct):
    Tag: list[_Tag] = []


class _Described(msgspec.Struct):
    SecretName: str
    PlannedDeleteTime: str = ""
    """Empty unless it waits for its deletion."""
    Tags: _Tags | None = None

    @property
    def tags(self) -> dict[str, str]:
        return {} if self.Tags is None else {tag.TagKey: tag.TagValue for tag in self.Tags.Tag}


class _Secrets(msgspec.Struct):
    Secret: list[_Described] = []


class _List(msgspec.Struct):
    SecretList: _Secrets


class AlibabaClient(ComputingClient, VersionedTexts):
    """Reads, finds, pushes, deletes and probes."""

    async def _call(self, action: Action, *, name: str = "", **params: str) -> Answer:
        """The parameters are sorted and quoted as they are signed."""
        given = sorted({**params, **({"SecretName": name} if name else {})}.items())
        query = urlencode(given, quote_via=quote, safe="~")
        endpoint = action.endpoint._replace(path=f"/?{query}" if query else "/")
        headers = {"x-acs-action": action.name, "x-acs-version": _VERSION}
        return await self._api.call(endpoint, headers=headers, name=name)

    # -- read
    async def fetch_one(self, key: RemoteKey) -> SecretBytes | None:
        """The value; None also for a secret that waits for its deletion."""
        version = {"VersionId": key.version} if key.version else {}
        try:
            answer = await self._call(READ, name=key.key, **version)
        except NotFound:
            return None
        except Refused:
            if await self._is_deleted(key.key):
                return None
            raise
        return SecretBytes(answer.decode(_Value).SecretData.encode())

    async def _is_deleted(self, name: str) -> bool:
        try:
            answer = await self._call(DESCRIBE, name=name)
        except NotFound:
            return True
        except Refused:
            return False
        return bool(answer.decode(_Described).PlannedDeleteTime)

    # -- find
    async def find(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap:
        """The secrets whose names match, and that have all tags; a path is what names begin with."""
        matches, found = regexp.matcher(query.name or "", work), Matches()

        async def page(token: str) -> Page[_Described]:
            number = int(token or "1")
            more = {"FetchTags": "true"} if query.tags else {}
            answer = await self._call(LIST, PageNumber=str(number), PageSize=str(_PER_PAGE), **more)
            secrets = answer.decode(_List).SecretList.Secret
            return Page(secrets, str(number + 1) if len(secrets) == _PER_PAGE else "")

        async for each in pages(page, paced, doing=LIST.endpoint.doing):
            name = each.SecretName
            wanted = name.startswith(query.path or "") and has_tags(each.tags, query.tags) and matches(name)
            if wanted and not each.PlannedDeleteTime:
                found.add_name(name)
        return await found.read_values(self.entry, paced, doing="alibaba find")

    # -- push
    async def store(self, item: PushItem, text: bytes, entry: SecretBytes | None) -> None:
        """A version's ID is made up by who writes it, and never used again."""
        value = as_text(text, "push it in base64")
        written = {"SecretData": value, "VersionId": uuid4().hex}
        if entry is not None:
            await self._call(UPDATE, name=item.remote_key, **written)
            return
        options = decode_spec(item.metadata, PushSpec) or PushSpec()
        place = {"DKMSInstanceId": options.kms_instance_id, "EncryptionKeyId": options.encryption_key_id}
        given = {field: text for field, text in place.items() if text}
        await self._call(CREATE, name=item.remote_key, **written, **given)

    async def remove(self, key: str) -> None:
        await self._call(DELETE, name=key, RecoveryWindowInDays=_WINDOW)

    # -- probe
    async def probe(self) -> Readiness:
        """Whether the credentials are good: a store that may not list secrets can be read."""
        with suppress(NotPermitted):
            await self._call(LIST, PageNumber="1", PageSize="1")
        return "ready"
