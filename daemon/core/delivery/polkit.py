"""The rule of polkit by which the daemon's user may start, reload and restart what Deliveries name."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from syncret.config.meta import ObjectRef
from syncret.config.resources.delivery.delivery import DeliverySpec

ACTION: Final = "org.freedesktop.systemd1.manage-units"
"""The polkit action of a request for a job of a unit; a rule can look up unit and verb."""

SEALING: Final = "io.systemd.credentials.encrypt"
"""The polkit action of sealing a credential; a rule cannot look up its name or its unit."""

_VERBS: Final = {
    "reload": ("reload",),
    "restart": ("try-restart",),
    "reload-or-restart": ("reload-or-try-restart",),
}
"""systemd's verbs for the requests of `daemon/delivery/units.py`; none of them starts a unit."""

_REVIVE: Final = "restart"
"""The verb of a rollback: it starts a unit that failed with the new set."""


class Right(NamedTuple):
    """One verb on one unit."""

    unit: str
    verb: str


def rights_of(ref: ObjectRef, spec: DeliverySpec) -> Iterator[tuple[Right, str]]:
    """The rights that a Delivery needs from polkit, each with the step that needs it."""
    name = f"{ref.namespace}/{ref.name}"
    check, reload = spec.check, spec.reload
    if check is not None and check.unit:
        yield Right(check.unit, "start"), f"check of {name}"
    if reload is not None and reload.unit:
        for verb in _VERBS[reload.action]:
            yield Right(reload.unit, verb), f"reload of {name}"
        if reload.action != "reload" and spec.on_failure == "rollback":
            yield Right(reload.unit, _REVIVE), f"way back of {name}"


def seals(spec: DeliverySpec) -> bool:
    """Whether a Delivery needs systemd to seal credentials."""
    sealed = (each.systemd_credential for each in spec.to)
    return any(each is not None and each.encrypt != "none" for each in sealed)


def collected(rights: Iterable[tuple[Right, str]]) -> dict[Right, list[str]]:
    """Each right once, in order of units, with all steps that need it."""
    found: dict[Right, list[str]] = {}
    for right, asked_by in sorted(rights):
        found.setdefault(right, []).append(asked_by)
    return found


def rule(rights: Mapping[Right, Iterable[str]], user: str, sealers: Collection[ObjectRef] = ()) -> str:
    """The text of a rules file: JavaScript for polkit. `sealers` are Deliveries with sealed credentials."""
    entries = [
        (json.dumps(f"{right.unit} {right.verb}"), ", ".join(asked_by)) for right, asked_by in rights.items()
    ]
    last = len(entries) - 1
    lines = "".join(
        f"        {entry}{',' if number < last else ''} // {asked_by}\n"
        for number, (entry, asked_by) in enumerate(entries)
    )
    text = _RULE.format(entries=lines, action=json.dumps(ACTION), user=json.dumps(user))
    if not sealers:
        return text
    names = ", ".join(sorted(f"{each.namespace}/{each.name}" for each in sealers))
    return text + _SEALING.format(names=names, action=json.dumps(SEALING), user=json.dumps(user))


_RULE: Final = """\
// /etc/polkit-1/rules.d/50-syncret.rules: what Deliveries ask of systemd, and nothing else.
// Printed by `syncret export polkit`: print it again when a Delivery names another unit or action.
polkit.addRule(function(action, subject) {{
    var allowed = [
{entries}    ];
    if (action.id == {action} && subject.user == {user}
            && allowed.indexOf(action.lookup("unit") + " " + action.lookup("verb")) >= 0) {{
        return polkit.Result.YES;
    }}
}});
"""

_SEALING: Final = """\
// systemd 256 and later seals credentials for others than root: those of {names}.
polkit.addRule(function(action, subject) {{
    if (action.id == {action} && subject.user == {user}) {{
        return polkit.Result.YES;
    }}
}});
"""
