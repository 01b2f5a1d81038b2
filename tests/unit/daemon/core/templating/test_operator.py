from syncret.daemon.core.templating.operator import ALL

REMOVED = {"env", "expandenv", "getHostByName"}
ESO = {
    *("pkcs12key", "pkcs12keyPass", "pkcs12cert", "pkcs12certPass", "pemToPkcs12", "pemToPkcs12Pass"),
    *("fullPemToPkcs12", "fullPemToPkcs12Pass", "pemTruststoreToPKCS12", "pemTruststoreToPKCS12Pass"),
    *(
        "filterPEM",
        "filterCertChain",
        "certSANs",
        "jwkPublicKeyPem",
        "jwkPrivateKeyPem",
        "toYaml",
        "fromYaml",
    ),
    *("rsaDecrypt", "hexdec", "sha512sum"),
}


def test_everything_is_there_and_nothing_that_reads_the_machine() -> None:
    assert len(ALL) == 227
    assert not ESO - ALL.keys()
    assert not REMOVED & ALL.keys()


def test_every_function_is_known_by_its_name() -> None:
    assert {name: function.name for name, function in ALL.items()} == {name: name for name in ALL}
