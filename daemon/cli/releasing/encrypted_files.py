"""Decrypts documents in SOPS's format as they are read, with the identity that the command line names.

A file whose MAC is wrong is not used at all.
"""

import os
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from syncret.config.errors import Problem
from syncret.config.manifests.loader import LoadedDocument, read_bounded, unreadable
from syncret.daemon.cli.releasing import age, sops
from syncret.daemon.cli.releasing.tag_sources import LARGEST, Asked, answered
from syncret.daemon.release.compiler import Refusal, parse
from syncret.daemon.release.tags import TagError, read_tag
from syncret.providers.values import SecretBytes

if TYPE_CHECKING:
    from syncret.daemon.cli.releasing.age import Identity

KEY: Final = "SOPS_AGE_KEY"
KEY_FILE: Final = "SOPS_AGE_KEY_FILE"
_KINDS: Final = ("env", "file", "secret")


def decrypted(loaded: Sequence[LoadedDocument], identity: str) -> list[LoadedDocument]:
    """The documents of a run. `identity` is a file, a tag, or empty: then the environment names the key."""
    if not any(sops.is_encrypted(each.document) for each in loaded):
        return list(loaded)
    keys: list[Identity] | Problem
    try:
        keys = age.identities(_identity(identity, loaded))
    except age.AgeError as error:
        keys = Problem(path=sops.MEMBER, message=error.message, hint=error.hint)
    made: list[LoadedDocument] = []
    for _, group in groupby(loaded, lambda each: (each.file, sops.is_encrypted(each.document))):
        documents = list(group)
        made += _opened(documents, keys) if sops.is_encrypted(documents[0].document) else documents
    return made


def _opened(documents: "list[LoadedDocument]", keys: "list[Identity] | Problem") -> list[LoadedDocument]:
    if isinstance(keys, Problem):
        return _refused(documents, keys)
    try:
        plain = sops.decrypt([each.document or {} for each in documents], keys)
    except (sops.SopsError, age.AgeError) as error:
        return _refused(documents, Problem(path=sops.MEMBER, message=error.message, hint=error.hint))
    return [replace(each, document=document) for each, document in zip(documents, plain, strict=True)]


def _refused(documents: Sequence[LoadedDocument], problem: Problem) -> list[LoadedDocument]:
    """Nothing of the file can be used; one problem says so, where its metadata begins."""
    first, *others = documents
    problems = (*first.problems, *first.located([problem]))
    return [
        replace(first, document=None, problems=problems),
        *(replace(each, document=None) for each in others),
    ]


def _identity(where: str, loaded: Sequence[LoadedDocument]) -> SecretBytes:
    if not where:
        return _of_environment()
    try:
        tag = read_tag(where)
    except TagError as error:
        raise age.AgeError(f"--identity: {error.message}", error.hint) from None
    if tag is None:
        return _of_file(where)
    # The plain documents have the stores; their other problems are reported when all documents are read.
    known = parse([each for each in loaded if not sops.is_encrypted(each.document)])
    beside = str(Path.cwd() / "identity")
    answer = answered([Asked("", tag, beside)], known.documents, known.policy, _KINDS)[""]
    if isinstance(answer, Refusal):
        raise age.AgeError(f"--identity: {answer.message}", answer.hint)
    return answer


def _of_environment() -> SecretBytes:
    written = os.environ.get(KEY, "")
    if written:
        return SecretBytes(written.encode("utf-8", "surrogateescape"))
    file = os.environ.get(KEY_FILE, "")
    if not file:
        hint = f"add --identity FILE, or set {KEY_FILE}"
        raise age.AgeError("is encrypted with SOPS, and no identity is given", hint)
    return _of_file(file)


def _of_file(file: str) -> SecretBytes:
    try:
        return SecretBytes(read_bounded(file, LARGEST))
    except (OSError, ValueError) as error:
        problem = unreadable(error)
        raise age.AgeError(f"the file of the identity: {problem.message}", problem.hint) from None
