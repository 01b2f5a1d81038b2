"""Grants stores and generators the use of the daemon's own identity, as far as the rules allow it.

door = Door(Rules.of(settings, os.environ), home.issue_token, observer.sends_own_identity)
own = door.grant(store, receivers)  # raises Denied before anything is read
token = await own.account_token()
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

from syncret.config.meta import ObjectRef
from syncret.providers.contract import OwnIdentity, Receiver
from syncret.providers.errors import Denied
from syncret.providers.kit.ambient.files import token_file
from syncret.providers.kit.ambient.pod import MOUNT, IssueToken, own_account_token
from syncret.providers.kit.ambient.rules import Rules, Verdict
from syncret.providers.values import SecretBytes

_MOST_REPORTED: Final = 10_000

OnUnlisted: TypeAlias = Callable[[ObjectRef, Verdict], None]
"""Called once for each store and server that gets the identity though no setting names the server."""


class Door:
    """The only way to an identity of the daemon itself."""

    def __init__(
        self, rules: Rules, issue: IssueToken, on_unlisted: OnUnlisted, *, mount: Path = MOUNT
    ) -> None:
        self._rules = rules
        self._issue = issue
        self._mount = mount
        self._on_unlisted = on_unlisted
        self._reported: set[tuple[ObjectRef, str]] = set()

    def grant(self, user: ObjectRef, receivers: Iterable[Receiver]) -> OwnIdentity:
        """As `Ambient`, for one store or generator."""
        verdicts = [self._rules.verdict(receiver, cluster=not user.namespace) for receiver in receivers]
        if not verdicts:
            raise RuntimeError("an identity of the daemon is asked for, but for no receiver")
        for verdict in verdicts:
            if not verdict.allowed:
                raise Denied(verdict.reason, hint=verdict.hint)
        for verdict in verdicts:
            if verdict.unlisted and (user, verdict.server) not in self._reported:
                if len(self._reported) == _MOST_REPORTED:
                    self._reported.clear()
                self._reported.add((user, verdict.server))
                self._on_unlisted(user, verdict)
        return _Granted(
            environment=self._rules.environment,
            audience=next(filter(None, (verdict.audience for verdict in verdicts)), ""),
            server_id=next(filter(None, (verdict.server_id for verdict in verdicts)), ""),
            issue=self._issue,
            mount=self._mount,
        )


@dataclass(frozen=True, slots=True)
class _Granted:
    """Implements `OwnIdentity`."""

    environment: Mapping[str, str] = field(repr=False)
    audience: str
    server_id: str
    issue: IssueToken
    mount: Path

    def read_file(self, path: str, *, what: str) -> SecretBytes:
        return token_file(path, what=what)

    async def account_token(self) -> SecretBytes:
        return await own_account_token(self.issue, self.audience, mount=self.mount)
