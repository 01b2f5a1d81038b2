"""Decides when the webhook's certificates are renewed, so that its certificate always matches `caBundle`.

The API server trusts a new authority a day before it signs anything, and the old one for a day after that. So
the replicas and the API server may pick up the change in any order.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct, structs

from syncret.daemon.admission.authority import (
    DAY,
    SKEW,
    Facts,
    Pair,
    facts_of,
    issue,
    new_authority,
    signed_by,
)

LEAF_LASTS: Final = 90 * DAY
LATEST_RENEWAL: Final = 60 * DAY
"""The longest time before its end at which a leaf is renewed: it must not be at once."""

AUTHORITY_LASTS: Final = 3650 * DAY
AUTHORITY_RENEWED: Final = 365 * DAY
"""Seconds before its end at which an authority gets a successor."""

OVERLAP: Final = DAY
"""Between publishing a new authority and using it, and between the last use of an old one and its removal."""

NAME: Final = "syncret admission webhook"


class Wanted(Struct, frozen=True):
    """The certificate that is wanted: the server's names, and how long before its end it is renewed."""

    names: Sequence[str]
    lookahead: float = 30 * DAY


class Certificates(Struct, frozen=True):
    """All that the Secret holds."""

    authority: Pair = Pair()
    leaf: Pair = Pair()
    successor: Pair = Pair()
    """The next authority, which is trusted before it is used."""
    published: float | None = None
    """Since when every webhook configuration has had the successor."""
    former: bytes = b""
    """The authority before, which processes that still serve its certificate need."""

    @property
    def bundle(self) -> bytes:
        """Whom the API server is to trust."""
        trusted = (self.authority.certificate, self.successor.certificate, self.former)
        return b"".join(each.rstrip() + b"\n" for each in trusted if each)


def rotated(held: Certificates, wanted: Wanted, now: float) -> Certificates:
    """The certificates as they should be now; the same object if nothing is to be done."""
    authority = facts_of(held.authority)
    if not (authority.is_authority and authority.ends > now):
        return _begun(held, wanted, now)
    if held.former and now >= facts_of(held.leaf).begins + SKEW + OVERLAP:
        held = structs.replace(held, former=b"")
    can_sign = authority.is_whole
    if not held.successor.certificate and not (can_sign and authority.ends - now > AUTHORITY_RENEWED):
        made = new_authority(NAME, now, AUTHORITY_LASTS)
        held = structs.replace(held, successor=made, published=None)
    serves = _serves(held, wanted, now)
    if held.successor.certificate and _is_due(held, now, stuck=not (serves or can_sign)):
        return _succeeded(held, wanted, now)
    if can_sign and not (serves and not _is_old(held, wanted, now)):
        return structs.replace(held, leaf=_leaf(held.authority, wanted, now))
    return held


def _begun(held: Certificates, wanted: Wanted, now: float) -> Certificates:
    """Certificates of a new authority, as the present one is not valid: the successor, or else a new one."""
    ready = facts_of(held.successor)
    usable = ready.is_authority and ready.is_whole and ready.ends > now
    authority = held.successor if usable else new_authority(NAME, now, AUTHORITY_LASTS)
    return Certificates(authority, _leaf(authority, wanted, now))


def _is_due(held: Certificates, now: float, *, stuck: bool) -> bool:
    """Whether the successor is used now: it has been trusted for a day, or nothing else can serve."""
    return stuck or (held.published is not None and now - held.published >= OVERLAP)


def _succeeded(held: Certificates, wanted: Wanted, now: float) -> Certificates:
    if not facts_of(held.successor).is_whole:  # its key was lost: begin with another one
        return structs.replace(held, successor=Pair(), published=None)
    leaf = _leaf(held.successor, wanted, now)
    return Certificates(held.successor, leaf, former=held.authority.certificate)


def _serves(held: Certificates, wanted: Wanted, now: float) -> bool:
    """Whether the leaf is one that can be served now."""
    facts = facts_of(held.leaf)
    is_ours = facts.is_whole and signed_by(held.leaf.certificate, held.authority.certificate)
    return is_ours and facts.ends > now and facts.names.issuperset(wanted.names)


def _is_old(held: Certificates, wanted: Wanted, now: float) -> bool:
    return facts_of(held.leaf).ends - now <= min(wanted.lookahead, LATEST_RENEWAL)


def _leaf(authority: Pair, wanted: Wanted, now: float) -> Pair:
    return issue(authority, wanted.names, now, LEAF_LASTS)


def valid_at(facts: Facts, moment: float) -> bool:
    """Whether a certificate with its key can be served at a moment."""
    return facts.is_whole and facts.begins <= moment < facts.ends
