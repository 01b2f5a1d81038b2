"""Certificates over years of virtual time: who trusts what was published reaches the server at every step."""

import ssl
from collections.abc import Sequence
from datetime import UTC, datetime
from random import Random

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID
from msgspec import structs

from syncret.daemon.admission.authority import DAY, Facts, Pair, facts_of, issue, new_authority, signed_by
from syncret.daemon.admission.rotation import OVERLAP, Certificates, Wanted, rotated, valid_at

START = 1_800_000_000.0
NAMES = ("hook.ns.svc", "127.0.0.1")
WANTED = Wanted(NAMES)
HOUR = DAY / 24


def pem_blocks(bundle: bytes) -> list[bytes]:
    end = b"-----END CERTIFICATE-----\n"
    return [each + end for each in bundle.split(end) if each.strip()]


def reaches(bundle: bytes, leaf: Pair, now: float) -> bool:
    """Whether a client that trusts the bundle accepts the certificate at this moment."""
    found = facts_of(leaf)
    if not (valid_at(found, now) and found.names.issuperset(NAMES)):
        return False
    return any(
        signed_by(leaf.certificate, each) and facts_of(Pair(each)).ends > now for each in pem_blocks(bundle)
    )


def after(held: Certificates, now: float) -> Certificates:
    """One look, after which every configuration has the bundle."""
    held = rotated(held, WANTED, now)
    if held.successor.certificate and held.published is None:
        held = structs.replace(held, published=now)
    return held


def fresh() -> Certificates:
    return after(Certificates(), START)


def test_what_is_made_is_as_it_should_be() -> None:
    made = fresh()
    authority, leaf = facts_of(made.authority), facts_of(made.leaf)
    assert (authority.is_authority, authority.is_whole) == (True, True)
    assert authority.ends - START == 3650 * DAY
    assert (leaf.is_authority, leaf.is_whole) == (False, True)
    assert (leaf.ends - START, leaf.names) == (90 * DAY, frozenset(NAMES))
    assert made.bundle == made.authority.certificate
    assert "KEY" not in repr(made)


def test_the_libraries_of_a_client_accept_it() -> None:
    made = fresh()
    client = ssl.create_default_context(cadata=made.bundle.decode())
    client.verify_flags |= ssl.VERIFY_X509_STRICT
    assert len(client.get_ca_certs()) == 1


def test_nothing_is_made_again_without_need() -> None:
    made = fresh()
    assert rotated(made, WANTED, START + 59 * DAY) is made


def test_a_leaf_is_renewed_thirty_days_before_its_end_by_the_same_authority() -> None:
    made = fresh()
    renewed = after(made, START + 61 * DAY)
    assert renewed.authority == made.authority
    assert facts_of(renewed.leaf).ends == START + 151 * DAY


@pytest.mark.parametrize(
    ("lookahead", "renewed_after"),
    [(0.0, 90), (10 * DAY, 80), (90 * DAY, 30)],
    ids=["at its end", "as the setting says", "at most sixty days before"],
)
def test_how_long_before_is_chosen(lookahead: float, renewed_after: int) -> None:
    wanted = Wanted(NAMES, lookahead)
    made = fresh()
    assert rotated(made, wanted, START + renewed_after * DAY - HOUR) is made
    assert rotated(made, wanted, START + renewed_after * DAY).leaf != made.leaf


def test_another_name_needs_another_leaf() -> None:
    made = fresh()
    other = rotated(made, Wanted(("hook.other.svc",)), START + HOUR)
    assert facts_of(other.leaf).names == {"hook.other.svc"}
    assert other.authority == made.authority


def test_an_authority_gets_a_successor_a_year_before_its_end_that_is_used_a_day_after_all_know_it() -> None:
    made = fresh()
    now = START + (3650 - 365) * DAY
    told = rotated(structs.replace(made, leaf=_leaf(made.authority, now)), WANTED, now)
    assert told.authority == made.authority
    assert len(pem_blocks(told.bundle)) == 2
    unpublished = rotated(told, WANTED, now + 20 * DAY)
    assert unpublished.authority == made.authority, "not every configuration has it yet"
    told = structs.replace(told, published=now + HOUR)
    assert rotated(told, WANTED, now + OVERLAP) is told
    used = rotated(told, WANTED, now + HOUR + OVERLAP)
    assert used.authority == told.successor
    assert signed_by(used.leaf.certificate, told.successor.certificate)
    assert used.former == made.authority.certificate
    assert rotated(used, WANTED, now + HOUR + 2 * OVERLAP - 1) is used
    assert rotated(used, WANTED, now + HOUR + 2 * OVERLAP).bundle == told.successor.certificate


def _leaf(authority: Pair, now: float) -> Pair:
    return issue(authority, NAMES, now, 90 * DAY)


@pytest.mark.parametrize("seed", range(2))
def test_for_twenty_five_years_a_server_that_reads_late_is_reached_by_a_client_that_learns_late(
    seed: int,
) -> None:
    """Looks come at random; the server's leaf and the client's bundle may each be twelve hours old."""
    random = Random(seed)  # noqa: S311  # a seed, so that it can be repeated
    now, held = START, fresh()
    changes: list[tuple[float, Certificates]] = [(now, held)]
    authorities = {held.authority.certificate}
    while now < START + 25 * 365 * DAY:
        now += random.uniform(0, 20 * DAY) if random.random() < 0.95 else random.uniform(0, HOUR)
        newer = after(held, now)
        if newer is not held:
            held = newer
            changes.append((now, held))
            authorities.add(held.authority.certificate)
        for moment in (now, now + HOUR, now + 12 * HOUR):
            recent = _in_use(changes, moment)
            assert all(reaches(client.bundle, server.leaf, moment) for client in recent for server in recent)
    assert len(authorities) == 3


def _in_use(changes: Sequence[tuple[float, Certificates]], moment: float) -> list[Certificates]:
    """The versions that processes may still have, each of which was the newest within twelve hours."""
    found: list[Certificates] = []
    for place, (since, held) in enumerate(changes):
        until = changes[place + 1][0] if place + 1 < len(changes) else float("inf")
        if since <= moment and until > moment - 12 * HOUR:
            found.append(held)
    return found


@pytest.mark.parametrize(
    "lost",
    [
        pytest.param(structs.replace(fresh(), leaf=Pair()), id="leaf"),
        pytest.param(structs.replace(fresh(), leaf=Pair(fresh().leaf.certificate, b"x")), id="key of leaf"),
        pytest.param(structs.replace(fresh(), leaf=fresh().leaf), id="leaf of another authority"),
        pytest.param(Certificates(Pair(b"-----BEGIN", b"nonsense")), id="all of it"),
        pytest.param(structs.replace(fresh(), authority=Pair(fresh().leaf.certificate)), id="no authority"),
    ],
)
def test_what_is_damaged_is_made_anew(lost: Certificates) -> None:
    mended = rotated(lost, WANTED, START + HOUR)
    assert reaches(mended.bundle, mended.leaf, START + HOUR)


def test_without_the_key_of_the_authority_its_leaf_is_served_until_another_one_is_known() -> None:
    made = fresh()
    lost = structs.replace(made, authority=Pair(made.authority.certificate))
    told = after(lost, START + HOUR)
    assert told.leaf == made.leaf
    assert reaches(told.bundle, told.leaf, START + HOUR)
    used = after(told, START + HOUR + OVERLAP)
    assert used.authority == told.successor
    assert reaches(told.bundle, used.leaf, START + HOUR + OVERLAP)


def test_the_operators_authority_stays_in_use() -> None:
    """Its certificate controller makes RSA keys, and certificates without all the names that we want."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "external-secrets")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(datetime.fromtimestamp(START - DAY, UTC))
        .not_valid_after(datetime.fromtimestamp(START + 3649 * DAY, UTC))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
        .public_bytes(serialization.Encoding.PEM)
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    theirs = Pair(certificate, private)
    held = Certificates(theirs, issue(theirs, ("hook.ns.svc",), START - DAY, 3650 * DAY))
    ours = rotated(held, WANTED, START)
    assert ours.authority == theirs
    assert reaches(certificate, ours.leaf, START)


def test_without_anything_that_could_be_served_nobody_waits() -> None:
    made = fresh()
    lost = Certificates(Pair(made.authority.certificate))
    mended = rotated(lost, WANTED, START + HOUR)
    assert reaches(mended.bundle, mended.leaf, START + HOUR)


def test_after_years_without_a_look_it_begins_again() -> None:
    later = START + 11 * 365 * DAY
    mended = rotated(fresh(), WANTED, later)
    assert reaches(mended.bundle, mended.leaf, later)


def test_a_successor_without_its_key_is_replaced_before_it_is_used() -> None:
    now = START + 3300 * DAY
    held = after(structs.replace(fresh(), leaf=Pair()), now)
    broken = structs.replace(held, successor=Pair(held.successor.certificate))
    again = after(rotated(broken, WANTED, now + OVERLAP), now + OVERLAP)
    assert again.authority == held.authority
    assert again.successor.certificate not in {b"", held.successor.certificate}
    assert again.published == now + OVERLAP


def test_of_what_is_no_certificate_nothing_is_known() -> None:
    assert facts_of(Pair(b"x", b"y")) == Facts()
    assert not signed_by(b"x", b"y")
    assert not valid_at(Facts(), START)
    with pytest.raises(ValueError, match="cannot sign"):
        issue(Pair(b"x", b"y"), NAMES, START, DAY)
    assert facts_of(new_authority("x", START, DAY)).is_authority
