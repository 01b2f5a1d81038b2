"""Templates of requests: they are rendered for each read."""

from typing import Any, Final

from tests.faults.hostile.manifests import (
    LIMITS,
    Hostile,
    external,
    generated,
    generator,
    read,
    webhook,
    written,
)

KEY: Final = '{{ genPrivateKey "rsa" | sha256sum }}'
LOOP: Final = "{{ range until 30000 }}{{ end }}"


def _request(
    name: str,
    tried: str,
    says: str = LIMITS,
    *,
    reads: int = 1,
    quick: bool = False,
    **spec: Any,  # noqa: ANN401  # fields of the store
) -> Hostile:
    """Reads of a webhook whose requests are made of templates."""

    def manifest(url: str) -> str:
        whole = {"url": "/body/text/1"} | spec
        whole["url"] = url + whole["url"]
        data = [read(f"k{n}", to=f"k{n}") for n in range(reads)]
        return written(webhook(**whole), external(data=data))

    return Hostile(name=name, tried=tried, manifest=manifest, says=says, quick=quick)


def _generator(url: str) -> str:
    spec = {"url": f"{url}/body/keys/3", "body": KEY * 10, "result": {"jsonPath": "$"}}
    return written(generator("Webhook", spec), external(data_from=[generated("Webhook")] * 30))


CASES: Final = (
    _request("request-url", "ten RSA keys in the URL", url="/body/text/1?" + KEY * 10, quick=True),
    _request(
        "request-headers",
        "ten RSA keys in each of 30 headers",
        headers={f"X-{n}": KEY * 10 for n in range(30)},
    ),
    _request(
        "request-loops", "90 headers that loop 30,000 times each", headers={f"X-{n}": LOOP for n in range(90)}
    ),
    _request(
        "request-reads",
        "a loop in the URL, for each of 200 reads",
        reads=200,
        url="/body/text/1?{{ .remoteRef.key }}" + LOOP * 3,
    ),
    _request("request-body", "a body of a gigabyte", method="POST", body='{{ repeat 1000000000 "a" }}'),
    _request(
        "request-path",
        "a JSONPath that is made by loops",
        url="/body/numbers/3",
        result={"jsonPath": "$" + "{{ range until 10 }}[0,0,0,0,0,0,0,0,0,0]{{ end }}" + LOOP * 90},
    ),
    _request(
        "request-over-long",
        "loops in 90 headers that are too long to be sent",
        LIMITS + "|header",
        headers={f"X-{n}": "{{ range until 30000 }}xxxxxxxxxxxxxxxx{{ end }}" for n in range(90)},
    ),
    Hostile(
        name="request-generator",
        tried="ten RSA keys in the body of a generator, asked 30 times",
        manifest=_generator,
        says=LIMITS,
    ),
)
