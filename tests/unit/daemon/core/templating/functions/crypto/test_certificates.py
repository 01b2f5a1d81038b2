from base64 import b64encode
from datetime import timedelta
from ipaddress import ip_address, ip_network

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key
from cryptography.x509.oid import NameOID

from syncret.daemon.core.templating.golang.errors import TemplateError
from tests.unit.daemon.core.templating.functions.rendering import NOW, render

KEY = render('{{ genPrivateKey "ecdsa" }}')
CHAIN = (
    '{{ $ca := genCAWithKey "root" 10 (genPrivateKey "ecdsa") }}{{ $key := genPrivateKey "ecdsa" }}'
    '{{ $c := genSignedCertWithKey "leaf" (list "10.0.0.1") (list "a.example") 5 $ca $key }}'
)


def test_a_signed_certificate_is_trusted_through_its_authority() -> None:
    root, leaf = x509.load_pem_x509_certificates(render(CHAIN + "{{ $ca.Cert }}{{ $c.Cert }}").encode())
    leaf.verify_directly_issued_by(root)
    assert root.not_valid_after_utc - NOW == timedelta(days=10)
    assert leaf.not_valid_after_utc - NOW == timedelta(days=5)


def test_alternative_names_come_in_gos_order() -> None:
    assert render(CHAIN + '{{ $c.Cert | certSANs | join "," }}') == "a.example,10.0.0.1"


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        pytest.param(x509.IPAddress(ip_address("::ffff:1.2.3.4")), "[1.2.3.4]", id="mapped"),
        pytest.param(x509.UniformResourceIdentifier("spiffe://a/b"), "[spiffe://a/b]", id="a URI"),
        pytest.param(x509.IPAddress(ip_network("10.0.0.0/8")), "", id="a network"),
        pytest.param(x509.UniformResourceIdentifier("http://[::1"), "", id="a broken URI"),
    ],
)
def test_odd_alternative_names(name: x509.GeneralName, wanted: str) -> None:
    certificate = {"c": issued("leaf", "root", name)}
    if wanted:
        assert render("{{ .c | certSANs }}", certificate) == wanted
    else:
        with pytest.raises(TemplateError):
            render("{{ .c | certSANs }}", certificate)


def test_an_authority_signs_with_its_own_key_alone() -> None:
    held = {"c": issued("root", "root"), "k": render('{{ genPrivateKey "ecdsa" }}')}
    made = 'genSignedCertWithKey "x" nil nil 1 (buildCustomCert (.c | b64enc) (.k | b64enc)) .k'
    with pytest.raises(TemplateError, match="not that of the authority"):
        render(f"{{{{ {made} }}}}", held)


def test_what_follows_a_json_web_key_is_not_read() -> None:
    key = '{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}'
    assert "PUBLIC KEY" in render("{{ .k | jwkPublicKeyPem }}", {"k": f" {key}\n]"})


def issued(name: str, by: str, alternative: x509.GeneralName | None = None) -> str:
    """A certificate that only its identifiers tell apart; nobody verifies it."""
    key = load_pem_private_key(KEY.encode(), None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, by)]))
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(NOW)
        .not_valid_after(NOW)
        .add_extension(x509.SubjectKeyIdentifier(name.encode()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier(by.encode(), None, None), critical=False)
    )
    if alternative is not None:
        builder = builder.add_extension(x509.SubjectAlternativeName([alternative]), critical=False)
    return builder.sign(key, SHA256()).public_bytes(Encoding.PEM).decode()


def test_a_certificate_with_an_extension_twice_is_refused() -> None:
    der = x509.load_pem_x509_certificate(issued("leaf", "root").encode()).public_bytes(Encoding.DER)
    subject_key, authority_key = b"\x06\x03\x55\x1d\x0e", b"\x06\x03\x55\x1d\x23"
    assert der.count(subject_key) == der.count(authority_key) == 1
    twice = b64encode(der.replace(authority_key, subject_key)).decode()
    text = f"-----BEGIN CERTIFICATE-----\n{twice}\n-----END CERTIFICATE-----\n"
    with pytest.raises(TemplateError, match="failed to parse certificate"):
        render('{{ .c | filterCertChain "leaf" }}', {"c": text})


@pytest.mark.parametrize("order", [pytest.param((0, 1, 2), id="up"), pytest.param((2, 0, 1), id="mixed")])
def test_parts_of_a_chain_in_any_order(order: tuple[int, int, int]) -> None:
    chain = [issued("leaf", "middle"), issued("middle", "root"), issued("root", "root")]
    text = "".join(chain[place] for place in order)
    kinds = ("leaf", "intermediate", "root", "other")
    parts = [render(f'{{{{ .c | filterCertChain "{kind}" }}}}', {"c": text}) for kind in kinds]
    assert parts == [*chain, ""]


def test_a_keystore_holds_a_certificate_of_another_key() -> None:
    opened = "{{ $p := pemToPkcs12 .c .k | b64dec }}{{ pkcs12key $p | trunc 10 }}{{ pkcs12cert $p }}"
    certificate, other = issued("a", "a"), render('{{ genPrivateKey "ecdsa" }}')
    assert render(opened, {"c": certificate, "k": other}) == f"-----BEGIN{certificate}"


def test_two_chains_are_none() -> None:
    with pytest.raises(TemplateError, match="multiple leaf"):
        render('{{ filterCertChain "leaf" .c }}', {"c": issued("a", "x") + issued("b", "x")})


@pytest.mark.parametrize(
    ("kind", "header"),
    [
        pytest.param("ecdsa", "EC PRIVATE KEY", id="ecdsa"),
        pytest.param("ed25519", "PRIVATE KEY", id="ed25519"),
    ],
)
def test_keys(kind: str, header: str) -> None:
    key = render(f'{{{{ genPrivateKey "{kind}" }}}}')
    assert key.startswith(f"-----BEGIN {header}-----\n")
    load_pem_private_key(key.encode(), None)


def test_an_unknown_kind_of_key_is_a_text_and_no_error() -> None:
    assert render('{{ genPrivateKey "x" }}') == "Unknown type x"


@pytest.mark.parametrize(
    "template",
    [
        pytest.param('{{ genCAWithKey "x" 1 "nope" }}', id="no key"),
        pytest.param(
            '{{ genSelfSignedCertWithKey "x" (list "1.2.3") nil 1 (genPrivateKey "ecdsa") }}', id="no ip"
        ),
        pytest.param(
            '{{ genSelfSignedCertWithKey "x" nil (list 1) 1 (genPrivateKey "ecdsa") }}', id="no name"
        ),
        pytest.param('{{ buildCustomCert "AAAA" "AAAA" }}', id="no certificate"),
        pytest.param('{{ certSANs "x" }}', id="no PEM"),
    ],
)
def test_refused(template: str) -> None:
    with pytest.raises(TemplateError):
        render(template)


def test_key_stores_open_with_their_password_alone() -> None:
    store = CHAIN + '{{ $p := fullPemToPkcs12Pass (printf "%s%s" $c.Cert $ca.Cert) $c.Key "pä" | b64dec }}'
    assert render(store + '{{ eq ($p | pkcs12certPass "pä") (printf "%s%s" $c.Cert $ca.Cert) }}') == "true"
    assert render(store + '{{ $p | pkcs12keyPass "pä" | hasPrefix "-----BEGIN PRIVATE KEY" }}') == "true"
    with pytest.raises(TemplateError) as caught:
        render(store + '{{ $p | pkcs12keyPass "hunter2" }}')
    assert "hunter2" not in str(caught.value)


def test_an_empty_password_is_one_too() -> None:
    opened = "{{ pemToPkcs12 $c.Cert $c.Key | b64dec | pkcs12cert | eq $c.Cert }}"
    assert render(CHAIN + opened) == "true"


def test_a_trust_store_holds_only_certificates() -> None:
    from base64 import b64decode

    from cryptography.hazmat.primitives.serialization.pkcs12 import load_pkcs12

    store = load_pkcs12(b64decode(render(CHAIN + '{{ pemTruststoreToPKCS12Pass $ca.Cert "pw" }}')), b"pw")
    assert store.key is None
    assert [entry.friendly_name for entry in store.additional_certs] == [b"CN=root"]
