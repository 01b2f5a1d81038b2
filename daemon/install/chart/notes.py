"""What Helm prints after an installation: what runs, and which values have no effect."""

from collections.abc import Iterator
from typing import Final

from syncret.daemon.install.chart.inputs import HELM
from syncret.daemon.install.chart.keys import idle, leaves
from syncret.daemon.install.chart.values import VALUES
from syncret.daemon.install.outline.fill import as_json
from syncret.daemon.install.outline.helm import Names, expression
from syncret.daemon.install.outline.nodes import Outline, Value, all_of, any_of, as_text, equal, item, not_

_HEAD: Final = """\
syncret {{ .Chart.AppVersion }} is installed in the namespace {{ $i.namespace }}.

  kubectl -n {{ $i.namespace }} rollout status deployment/{{ $i.deployment.name }}
  kubectl get externalsecrets -A

Two controllers must not act on the same objects: an External Secrets Operator that runs here has to be
scaled to 0, or to have another class.
"""

_FEW: Final = 4
"""For a group of more keys than this, one note says that the group has no effect."""


def notes(names: Names) -> str:
    """The template NOTES.txt."""
    idle_keys = "".join(
        f"{{{{- if {expression(test, names)[1:-1]} }}}}\n{path}: {about}\n{{{{- end }}}}\n"
        for path, about, test in _idle()
    )
    return f"{_HEAD}{idle_keys}"


def _idle() -> Iterator[tuple[str, str, Outline]]:
    """Each key or group of keys without an effect, its note, and the test whether a user has changed it."""
    keys = dict(leaves(VALUES))
    for path, about in idle(VALUES):
        inner = [each for each in keys if each == path or each.startswith(f"{path}.")]
        if len(inner) > _FEW:
            yield path, about, all_of(_value(path))
        else:
            yield path, about, any_of(*(_changed(each, keys[each].default) for each in inner))


def _value(path: str) -> Outline:
    value: Outline = Value(HELM).Values
    for name in path.split("."):
        value = item(value, name)
    return value


def _changed(path: str, default: object) -> Outline:
    written = default if isinstance(default, str) else as_json(default)
    return all_of(_value(path), not_(equal(as_text(_value(path)), written)))
