"""What is allowed to differ, scenario by scenario, and why."""

import re
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple


class Known(NamedTuple):
    """One difference: where, and why."""

    reason: str
    places: str = r"^(ExternalSecret|Secret|Events)/"
    """A pattern that every difference of the scenario matches."""
    is_sure: bool = True
    """Whether it must show; what is a matter of time may be equal, too."""


_DEFAULT: Final = Known("0.20.4 relies on its own CRDs to fill in conversionStrategy; those of 2.9 do not")
_STORE: Final = Known(
    "a change of a store wakes our ExternalSecrets; the operator tries again", is_sure=False
)
_SOURCE: Final = Known(
    "0.20.4 does not clean up when a source is deleted; 2.9 does", r"^(PushSecret|Events)/"
)
_DUPLICATE: Final = Known("0.20.4 pushes two keys to one place; 2.9 refuses it", r"^(PushSecret|Events)/")

KNOWN: Final[Mapping[str, Known]] = {
    "externalsecret: extract.key-conversion-default": _DEFAULT,
    "externalsecret (own): find.key-conversion-default": _DEFAULT,
    "externalsecret (own): find.rewrite-sees-converted-keys": _DEFAULT,
    "externalsecret: creationPolicy.merge-appears-later": Known(
        "the operator does not hear of a Secret without its label, and looks again after the interval"
    ),
    "externalsecret (own): store.appears-later": _STORE,
    "externalsecret (own): store.becomes-invalid": _STORE,
    "externalsecret (own): clusterstore.label-added-later": _STORE,
    "externalsecret (own): refresh.error-keeps-secret-and-version": _STORE,
    "clusterexternalsecret (own): ces.namespace-removed-from-list": Known(
        "the operator keeps its finalizer on a namespace that is no longer chosen, which then can never go",
        r"^Namespace/[^.]*\.finalizers: ",
    ),
    "pushsecret: deletionPolicy.source-secret-deleted": _SOURCE,
    "pushsecret (own): deletionPolicy.source-deleted-and-back": _SOURCE,
    "pushsecret (own): data.duplicate-remote-key": _DUPLICATE,
    "pushsecret (own): data.duplicate-remote-key-and-property": _DUPLICATE,
    "externalsecret: deletionPolicy.delete-es-deletes-secret": Known(
        "the operator tells nothing of the target that it deletes with its ExternalSecret", r"^Events/"
    ),
    "policies: Merge, Merge, immutable": Known(
        "the operator writes the metadata, then all from the version before it: a conflict, and no event",
        r"^Events/",
        is_sure=False,
    ),
    "externalsecret: deletionPolicy.delete-with-orphan": Known(
        "where the target may not be deleted, ours tells that alone, not what the provider lacks", r"^Events/"
    ),
    "externalsecret (own): generator.error-then-fixed": Known(
        "the operator's cache may lack the status that it has written: it generates a second time at once",
        r"\.Normal Updated from external-secrets: True / None$",
        is_sure=False,
    ),
    "externalsecret (own): refresh.spec-change-triggers": Known(
        "the operator may report the new spec as synced with what it had read for the one before",
        r"(Updated from external-secrets: None / True|data-hash: '\w+' / '\w+'|\.data\.x: 'b25l' / 'dHdv')$",
        is_sure=False,
    ),
    "pushsecret: template.error-no-condition": Known(
        "the operator tells nothing of a template that fails; we do", r"^Events/"
    ),
    "pushsecret: data.conversion-collision": Known(
        "where a conversion fails, 0.20.4 has no entry for the store; ours is empty", r"\.syncedPushSecrets: "
    ),
    "pushsecret (own): selector.label-selector-one-lacks-the-key": Known(
        "where a later source fails, 0.20.4 forgets what it pushed of the earlier ones",
        r"\.syncedPushSecrets\.",
    ),
}


def unknown(scenario: str, differences: Iterable[str]) -> list[str]:
    """Those of its differences that are not on the list."""
    known = KNOWN.get(scenario)
    return [text for text in differences if known is None or re.search(known.places, text) is None]
