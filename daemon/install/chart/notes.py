"""What Helm prints after an installation: what runs, and which values have no effect."""

from collections.abc import Iterator
from typing import Final

from syncret.daemon.install.chart.keys import Key, Keys
from syncret.daemon.install.chart.mapping import HELM
from syncret.daemon.install.chart.values import VALUES
from syncret.daemon.install.outline.helm import Names, expression
from syncret.daemon.install.outline.nodes import Outline, Value, all_of, as_text, equal, item, not_

_HEAD: Final = """\
syncret {{ .Chart.AppVersion }} is installed in the namespace {{ $i.namespace }}.

  kubectl -n {{ $i.namespace }} rollout status deployment/{{ $i.deployment.name }}
  kubectl get externalsecrets -A

Two controllers must not act on the same objects: an External Secrets Operator that runs here has to be
scaled to 0, or to have another class.
"""
_DEEP: Final = ("webhook", "vault", "bitwarden-sdk-server", "crds")
"""Whose keys are named one by one."""


def notes(names: Names) -> str:
    """The template NOTES.txt."""
    told = "".join(
        f"{{{{- if {expression(test, names)[1:-1]} }}}}\n{path}: {about}\n{{{{- end }}}}\n"
        for path, about, test in _idle()
    )
    return f"{_HEAD}{told}"


def _idle() -> Iterator[tuple[str, str, Outline]]:
    """Each key or group of keys without an effect, what it says, and when somebody has changed it."""
    values = Value(HELM).Values
    for name, each in VALUES.items():
        if isinstance(each, Key) or name not in _DEEP:
            yield from _told(name, each, item(values, name))
        else:
            for inner, key in each.items():
                yield from _told(f"{name}.{inner}", key, item(item(values, name), inner))


def _told(path: str, each: Key | Keys, value: Outline) -> Iterator[tuple[str, str, Outline]]:
    if isinstance(each, Key):
        if not each.has_effect:
            default = each.default if isinstance(each.default, str) else str(each.default).lower()
            yield path, each.about, all_of(value, not_(equal(as_text(value), default)))
    elif not _effects(each):
        about = next(_texts(each))
        yield path, about, all_of(value)


def _effects(keys: Keys) -> bool:
    return any(each.has_effect if isinstance(each, Key) else _effects(each) for each in keys.values())


def _texts(keys: Keys) -> Iterator[str]:
    for each in keys.values():
        if isinstance(each, Key):
            yield each.about
        else:
            yield from _texts(each)
