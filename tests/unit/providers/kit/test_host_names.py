"""International host names are no others than those that browsers and Go reach."""

import pytest

from syncret.providers.errors import Malformed
from syncret.providers.kit.grpc.connecting import Server, server_at
from syncret.providers.kit.host_names import in_ascii
from syncret.providers.kit.http.targets import target_of


@pytest.mark.parametrize(
    ("host", "known"),
    [
        pytest.param("stra\u00dfe.example", "xn--strae-oqa.example", id="sharp s"),
        pytest.param("\u03b5\u03bb\u03bb\u03ac\u03c2.example", "xn--hxarsa0b.example", id="final sigma"),
        pytest.param(
            "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645.example",
            "xn--mgbn2ecje63gr19l.example",
            id="non-joiner",
        ),
        pytest.param("B\u00dcCHER\u3002example", "xn--bcher-kva.example", id="upper case"),
        pytest.param("\uff11\uff12\uff17.0.0.1", "127.0.0.1", id="an address"),
    ],
)
def test_an_international_host_is_no_other(host: str, known: str) -> None:
    """As browsers and Go know them: IDNA 2003 leaves out or replaces characters that IDNA 2008 knows."""
    target = target_of(f"https://{host}/a", "reading")
    assert (in_ascii(host), target.host, target.url) == (known, known, f"https://{known}/a")
    assert server_at(f"{host}:1") == Server(known, 1)


@pytest.mark.parametrize("host", ["a\u200db.example", "stra\u00dfe\u2603.example", "\uff41\uff0fb.example"])
def test_an_international_host_that_is_none(host: str) -> None:
    assert in_ascii(host) == ""
    with pytest.raises(Malformed, match="URL"):
        target_of(f"https://{host}/", "reading")
    with pytest.raises(Malformed, match="is no address of a server"):
        server_at(host)
