"""Searches, and conversions of what they find."""

from typing import Any, Final

from tests.faults.hostile.manifests import (
    LIMITS,
    Document,
    Hostile,
    external,
    extract,
    fake,
    many,
    read,
    same,
    secret,
    store,
    written,
)
from tests.support.servers import endless

BOUNDED: Final = f"{LIMITS}|larger than|too (many|large)|at most|entries|pages|keys|length|no end|leads back"


def _names(count: int) -> dict[str, str]:
    return {f"key/{number:06}": "v" for number in range(count)}


def _endless(name: str, provider: str) -> Hostile:
    """A search in a manager whose list has no end."""

    def manifest(url: str) -> str:
        [(kind, spec)] = endless.stores(url)[provider].items()
        login = secret(endless.LOGIN, endless.credentials(url))
        find: Document = {"find": {"name": {"regexp": ".*"}}}
        if provider == "parameter-store":
            find["find"]["path"] = "/"
        return written(login, store(kind, spec), external(data_from=[find]))

    return Hostile(
        name=name, tried=f"`find` in a list without an end ({provider})", manifest=manifest, says=BOUNDED
    )


def _find(**query: Any) -> Document:  # noqa: ANN401  # fields of `find`
    return {"find": query}


CASES: Final = (
    Hostile(
        name="find-names",
        tried="`find` over 40,000 names",
        end="any",
        says=BOUNDED,
        manifest=same(fake(_names(40_000)), external(data_from=[_find(name={"regexp": "9$"})])),
    ),
    Hostile(
        name="find-often",
        tried="300 searches of one object over 20,000 names",
        end="any",
        says=BOUNDED,
        manifest=many(
            lambda: (
                fake(_names(20_000)),
                external(data_from=[_find(name={"regexp": f"{n}9$"}) for n in range(300)]),
            )
        ),
    ),
    Hostile(
        name="find-converted",
        tried="40,000 names that are converted, and decoded",
        end="any",
        says=BOUNDED,
        manifest=same(
            fake(_names(40_000)),
            external(
                data_from=[
                    _find(
                        name={"regexp": ".*"},
                        conversionStrategy="Unicode",
                        decodingStrategy="Auto",
                        nullBytePolicy="Fail",
                    )
                ]
                * 3
            ),
        ),
    ),
    Hostile(
        name="find-tags",
        tried="a search for 30,000 tags",
        end="any",
        says=f"{BOUNDED}|tags|support",
        manifest=many(
            lambda: (
                fake(_names(1000)),
                external(data_from=[_find(tags={f"t{n}": "v" for n in range(30_000)})]),
            )
        ),
    ),
    Hostile(
        name="decode-chain",
        tried="4,000 entries of one value of a megabyte, each decoded",
        end="any",
        says=BOUNDED,
        manifest=many(
            lambda: (
                fake({"k": "QUFB" * 250_000}),
                external(data=[read(to=f"k{n}", decodingStrategy="Base64") for n in range(4000)]),
            )
        ),
    ),
    Hostile(
        name="decode-wrong",
        tried="values that are nearly base64, in all alphabets",
        end="any",
        says=BOUNDED + "|decod|illegal",
        manifest=many(
            lambda: (
                fake(
                    {
                        "k": '{"'
                        + '": "", "'.join(f"k{n}-" for n in range(30_000))
                        + '": "'
                        + "QUF_" * 200_000
                        + '="}'
                    }
                ),
                external(
                    data_from=[
                        extract(decodingStrategy="Auto", conversionStrategy="Unicode", nullBytePolicy="Fail")
                    ]
                    * 30
                ),
            )
        ),
    ),
    _endless("pages-vault", "vault"),
    _endless("pages-kubernetes", "kubernetes"),
    _endless("pages-azure", "azurekv"),
    _endless("pages-parameters", "parameter-store"),
    _endless("pages-secrets", "secrets-manager"),
)
