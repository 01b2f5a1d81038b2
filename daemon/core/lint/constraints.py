"""Mistakes in the annotation with the constraints on fetched values."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from syncret.config.errors import Problem
from syncret.config.resources.external_secret import ExternalSecretSpec
from syncret.config.spelling import keys_hint
from syncret.daemon.core.constraints.verdict import ANNOTATION
from syncret.daemon.core.lint import texts
from syncret.daemon.core.lint.external_secrets import keys_of
from syncret.providers.errors import OverBudget
from syncret.providers.values import SecretBytes
from syncret.providers.work import Work

_EXAMPLE: Final = 'write {"keys": {"KEY": [{"minRunes": 12}]}, "policy": "block"}'
_LIMITS: Final = (("minRunes", "maxRunes"), ("min", "max"))


def of_annotations(annotations: Mapping[str, str], path: str, spec: ExternalSecretSpec) -> Iterator[Problem]:
    """Why the constraints among the annotations at `path` hold back every value, or none."""
    annotation = annotations.get(ANNOTATION)
    if annotation is None:
        return
    from syncret.daemon.core.constraints.annotation import MistakeError, read_annotation  # few have any

    place, work = f'{path}["{ANNOTATION}"]', Work()
    try:
        said = read_annotation(annotation, work)
        impossible = {key: _contradiction(each.all) for key, each in said.keys.items()}
        for key, constraints in said.keys.items():
            choices = [choice for each in constraints.all for choice in each.get("oneOf", ())]
            if choices and all(constraints.violated(SecretBytes(each.encode()), work) for each in choices):
                impossible[key] = impossible[key] or "no choice of oneOf satisfies the others"
    except MistakeError as mistake:
        message = f"cannot be used, so every value counts as violated: {mistake}"
        yield texts.warning(place, message, mistake.hint or _EXAMPLE)
        return
    except OverBudget:
        yield texts.warning(place, "takes too much work to be read", "simplify the constraints")
        return
    for key, why in impossible.items():
        if why:
            yield texts.warning(place, f"no value of {key} can satisfy it: {why}", "correct one of them")
    made = keys_of(spec)
    for key in said.keys if made is not None else ():
        if made is not None and key not in made.names:
            message = f"is about the key {key}, which no entry of data makes: nothing is checked"
            yield texts.warning(place, message, keys_hint(key, made.names))


def _contradiction(mappings: tuple[dict[str, Any], ...]) -> str:
    """Which limits leave nothing between them; empty: none."""
    for least, most in _LIMITS:
        lower = [each[least] for each in mappings if least in each]
        upper = [each[most] for each in mappings if most in each]
        if lower and upper and max(lower) > min(upper):
            return f"{least} is above {most}"
    return ""
