"""AWS Certificate Manager: exports certificates with their keys by ARN, and imports TLS Secrets.

An imported certificate has a tag with its remote key, since ACM's ARNs cannot be chosen.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from secrets import choice
from string import ascii_letters, digits
from typing import Any, Final, NamedTuple

from syncret.providers.aws import push_specs
from syncret.providers.aws.push_specs import Tagged
from syncret.providers.aws.reading import read_by_name
from syncret.providers.aws.service import Absent, Api, Service, entries, tag_list, tag_map
from syncret.providers.contract import Compute, Writer
from syncret.providers.errors import Malformed, SyncError
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.push_options import MANAGED_BY, MANAGER, MARK, is_ours, not_ours
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.values import RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work

_REMOTE_KEY: Final = "external-secrets-remote-key"
_RESERVED: Final = frozenset({MANAGED_BY, _REMOTE_KEY})


class _Bundle(NamedTuple):
    leaf: str
    chain: str
    key: str

    def input(self) -> dict[str, object]:
        """The input of ImportCertificate."""
        chain = {"CertificateChain": self.chain.encode()} if self.chain else {}
        return {"Certificate": self.leaf.encode(), "PrivateKey": self.key.encode(), **chain}

    def is_in(self, answer: dict[str, Any]) -> bool:
        """Whether AWS stores exactly this. Without a chain, AWS returns the certificate as the chain."""
        leaf, chain = (answer.get(name, "").strip() for name in ("Certificate", "CertificateChain"))
        mine = self.chain.strip() or leaf
        return leaf == self.leaf.strip() and chain in {mine, self.chain.strip()}


class CertificateManagerWriter:
    """Imports, reimports and deletes certificates. Keys already have the store's prefix."""

    def __init__(self, api: Api, tagging: Api, compute: Compute) -> None:
        self._api = api
        self._compute = compute
        self._tagging = tagging
        self._arns: dict[str, str] = {}
        """ARNs of what was imported here: AWS's tag index lags behind."""

    async def push(self, item: PushItem) -> None:
        """Import the Secret's certificate and key, unless AWS has exactly these. Raises Malformed."""
        if item.secret_key:
            raise Malformed(
                "secretKey must be empty for the AWS Certificate Manager provider: "
                "the whole kubernetes.io/tls secret is required (tls.crt and tls.key)",
                hint="leave secretKey out",
            )
        wanted = push_specs.options(item.metadata, Tagged).tags
        bundle = await self._compute(lambda work: _bundle(item, work))
        key = item.remote_key
        arn = await self._arn(key)
        existing = await self._certificate(arn) if arn else None
        if arn is None or existing is None:
            marks = {**MARK, _REMOTE_KEY: key}
            answer = await self._api.call("import_certificate", Tags=tag_list(marks), **bundle.input())
            arn = self._arns[key] = str(answer["CertificateArn"])
        elif not bundle.is_in(existing):
            await self._api.call("import_certificate", CertificateArn=arn, **bundle.input())
        await self._set_tags(arn, wanted)

    async def delete(self, target: RemoteTarget) -> None:
        """Delete the certificate of a key; one without our tag stays, and is reported."""
        arn = await self._arn(target.remote_key)
        if arn is None:
            return
        try:
            if not is_ours(await self._tags(arn)):
                raise not_ours("certificate not managed by external-secrets", arn, "tag")
            await self._api.call("delete_certificate", CertificateArn=arn)
        except Absent:
            pass  # already deleted
        self._arns.pop(target.remote_key, None)

    async def exists(self, target: RemoteTarget) -> bool:
        """Whether there is a certificate for a key."""
        arn = await self._arn(target.remote_key)
        return arn is not None and await self._certificate(arn) is not None

    async def _arn(self, key: str) -> str | None:
        if key in self._arns:
            return self._arns[key]
        mappings = entries(
            self._tagging,
            "get_resources",
            {
                "ResourceTypeFilters": ["acm:certificate"],
                "TagFilters": [
                    {"Key": MANAGED_BY, "Values": [MANAGER]},
                    {"Key": _REMOTE_KEY, "Values": [key]},
                ],
            },
            members=("ResourceTagMappingList",),
            token="PaginationToken",
        )
        found: str | None = None
        async for mapping in mappings:
            arn = str(mapping["ResourceARN"])
            found = arn if found is None else min(found, arn)  # always the same one of several
        return found

    async def _certificate(self, arn: str) -> dict[str, Any] | None:
        return await self._api.look_up("get_certificate", CertificateArn=arn)

    async def _tags(self, arn: str) -> dict[str, str]:
        return tag_map((await self._api.call("list_tags_for_certificate", CertificateArn=arn)).get("Tags"))

    async def _set_tags(self, arn: str, wanted: dict[str, str]) -> None:
        current = {key: value for key, value in (await self._tags(arn)).items() if key not in _RESERVED}
        unwanted = {key: value for key, value in current.items() if key not in wanted}
        new = {
            key: value for key, value in wanted.items() if key not in _RESERVED and current.get(key) != value
        }
        if unwanted:
            await self._api.call("remove_tags_from_certificate", CertificateArn=arn, Tags=tag_list(unwanted))
        if new:
            await self._api.call("add_tags_to_certificate", CertificateArn=arn, Tags=tag_list(new))


def _bundle(item: PushItem, work: Work) -> _Bundle:
    # a large import that no other service needs
    from cryptography.hazmat.primitives.serialization import Encoding
    from cryptography.x509 import load_pem_x509_certificates

    secret = gojson.unmarshal_object(item.value.raw, work)
    for name in ("tls.crt", "tls.key"):
        if not secret.get(name):
            raise Malformed(
                f'key "{name}" not found or empty in the Secret',
                hint="push a Secret of type kubernetes.io/tls",
            )
    try:
        certificates = load_pem_x509_certificates(str(secret["tls.crt"]).encode())
    except ValueError:
        certificates = []
    if not certificates:
        raise Malformed('failed to parse "tls.crt"', hint="it holds certificates as PEM, the server's first")
    leaf, *chain = (certificate.public_bytes(Encoding.PEM).decode() for certificate in certificates)
    return _Bundle(leaf, "".join(chain), str(secret["tls.key"]))


UNSUPPORTED: Final = "operation not supported by AWS Certificate Manager provider"

_PASSPHRASE: Final = 32
_MAX_EXPORTS: Final = 128
"""Exports to cache: each may cost money, and checking whether one is current is free."""


class CertificateManagerClient(Service):
    """Reads, writes and probes. A value is certificate, chain and key, as PEM."""

    def __init__(
        self, api: Api, writer: Writer, *, prefix: str, login: Callable[[], Awaitable[object]]
    ) -> None:
        super().__init__(api, writer, prefix=prefix, login=login)
        self._exports: dict[str, tuple[tuple[str, str], SecretBytes]] = {}

    async def fetch(self, keys: Sequence[RemoteKey]) -> Mapping[RemoteKey, SecretBytes | SyncError]:
        found = await read_by_name(dict.fromkeys(key.key for key in keys), self._export)
        return {key: found[key.key] for key in keys if key.key in found}

    def value(self, payload: SecretBytes, ref: RemoteRef, work: Work) -> SecretBytes | None:
        """The whole value: the property is ignored, as a certificate has none."""
        del ref, work
        return payload

    def fields(self, payload: SecretBytes, ref: RemoteRef, work: Work) -> SecretMap | None:
        del payload, ref, work
        raise Malformed(UNSUPPORTED, hint="read a certificate with data, not with dataFrom.extract")

    async def _export(self, arn: str) -> SecretBytes:
        public = await self._api.call("get_certificate", CertificateArn=arn)
        fingerprint = (public.get("Certificate", ""), public.get("CertificateChain", ""))
        remembered = self._exports.get(arn)
        if remembered is not None and remembered[0] == fingerprint:
            return remembered[1]
        detail = (await self._api.call("describe_certificate", CertificateArn=arn)).get("Certificate", {})
        if detail.get("Options", {}).get("Export") != "ENABLED" and detail.get("Type") != "PRIVATE":
            raise Malformed(
                "the certificate is not exportable (Options.Export is not ENABLED)",
                hint="request one that is: whether it may be exported is decided then",
            )
        passphrase = "".join(choice(ascii_letters + digits) for _ in range(_PASSPHRASE)).encode()
        answer = await self._api.call("export_certificate", CertificateArn=arn, Passphrase=passphrase)
        parts = [answer.get("Certificate", ""), answer.get("CertificateChain", "")]
        if answer.get("PrivateKey"):
            parts.append(_decrypted(answer["PrivateKey"], passphrase))
        value = SecretBytes("".join(f"{part.rstrip()}\n" for part in parts if part).encode())
        if len(self._exports) >= _MAX_EXPORTS:
            self._exports.pop(next(iter(self._exports)))
        self._exports[arn] = fingerprint, value
        return value


def _decrypted(pem: str, passphrase: bytes) -> str:
    from cryptography.hazmat.primitives import serialization  # a large import that no other service needs

    try:
        key = serialization.load_pem_private_key(pem.encode(), passphrase if "ENCRYPTED" in pem else None)
    except (ValueError, TypeError):
        key = None
    if key is None:
        raise Malformed("the exported private key cannot be read")
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
