"""What the rules of a store's whitelist allow. Pure."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from syncret.providers.crd.spec import WhitelistRule
from syncret.providers.kit import goregexp


class _Rule(NamedTuple):
    name: Callable[[str], bool] | None
    namespace: Callable[[str], bool] | None
    properties: Sequence[Callable[[str], bool]]

    def fits(self, name: str, namespace: str) -> bool:
        if self.name is not None and not self.name(name):
            return False
        return self.namespace is None or (bool(namespace) and self.namespace(namespace))


class Allowed:
    """The rules; none allow everything. Namespaces count for cluster-scoped stores alone."""

    def __init__(self, rules: Sequence[WhitelistRule], *, cluster: bool) -> None:
        self._rules = [
            _Rule(
                goregexp.compile(rule.name).search if rule.name else None,
                goregexp.compile(rule.namespace).search if rule.namespace and cluster else None,
                [goregexp.compile(pattern).search for pattern in rule.properties],
            )
            for rule in rules
        ]

    def naming(self, name: str, namespace: str) -> bool:
        """Whether anything of this object may be read."""
        return not self._rules or any(rule.fits(name, namespace) for rule in self._rules)

    def reading(self, name: str, namespace: str, asked: str) -> bool:
        """Whether this property of the object may be read or, where none is asked, all of it."""
        return not self._rules or any(
            rule.fits(name, namespace)
            and (not rule.properties or any(matches(asked) for matches in rule.properties if asked))
            for rule in self._rules
        )
