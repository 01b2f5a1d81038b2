"""Which targets need not be read at a refresh: they were in order when read last, and have not changed since.

The wanted content is kept as a digest of the Secret as it would be created. Its key is random and never
leaves the process: from a plain digest a short value could be guessed.
"""

from hashlib import blake2b
from secrets import token_bytes
from typing import Final

import msgspec

from syncret.config.meta import Document, ObjectRef, member
from syncret.daemon.core.plan.actions import Verb
from syncret.daemon.core.plan.external_secret.decide import Plan

_DIGEST: Final = 16


class _Settled(msgspec.Struct, frozen=True, gc=False):
    version: str
    digest: bytes


class SettledTargets:
    """By ExternalSecret: the version of its target that was found in order, and the wanted content."""

    def __init__(self) -> None:
        self._key = token_bytes(32)
        self._settled: dict[ObjectRef, _Settled] = {}

    def version(self, run: ObjectRef) -> str:
        """The version of the target that need not be read; empty: it must be."""
        settled = self._settled.get(run)
        return "" if settled is None else settled.version

    def settle(self, run: ObjectRef, target: Document, anew: Plan) -> None:
        """This version of the target is in order. `anew` is the plan for the same values without a target."""
        digest = self._digest(anew)
        version = member(target, "metadata").get("resourceVersion")
        if digest is None or not version:
            self.forget(run)
        else:
            self._settled[run] = _Settled(str(version), digest)

    def is_wanted_again(self, run: ObjectRef, anew: Plan) -> bool:
        """Whether a plan without a target creates the content with which the target was settled."""
        settled = self._settled.get(run)
        return settled is not None and settled.digest == self._digest(anew)

    def forget(self, run: ObjectRef) -> None:
        """Have the target read at the next refresh."""
        self._settled.pop(run, None)

    def _digest(self, anew: Plan) -> bytes | None:
        """None where the plan does not make the whole Secret, as with the policy Merge."""
        if not anew.verdict.ok or len(anew.actions) != 1 or anew.actions[0].verb is not Verb.CREATE:
            return None
        document = msgspec.json.encode(anew.actions[0].document)
        return blake2b(document, key=self._key, digest_size=_DIGEST).digest()
