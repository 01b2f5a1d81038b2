"""The texts of manifests: YAML and JSON that is large, deep, or refers to itself."""

import json
from collections.abc import Callable
from typing import Final

from tests.faults.hostile.manifests import API, MIB, End, Hostile, external, fake, read, written

WRONG: Final = (
    "larger|too (deep|many|large)|nest|alias|YAML|deeper|invalid|refer|control|character|not UTF|unknown|"
    "number|is not|required|must be|appears twice"
)


def _text(
    name: str,
    tried: str,
    text: Callable[[], str],
    *,
    end: End = "refused",
    says: str = WRONG,
    suffix: str = ".yaml",
    quick: bool = False,
) -> Hostile:
    """A manifest of which little can be read."""
    return Hostile(
        name=name, tried=tried, manifest=lambda _url: text(), end=end, says=says, suffix=suffix, quick=quick
    )


def _config_map(value: str) -> str:
    return (
        f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: evil, namespace: evil}}\ndata:\n  k: {value}\n"
    )


def _lists(size: int) -> str:
    """A document of about so many bytes, all of them items of block lists."""
    return _config_map("\n" + "    - - a\n" * (size // 10))


def _bomb() -> str:
    lines = ["a: &a [x,x,x,x,x,x,x,x,x]"]
    lines += [
        f"{chr(98 + n)}: &{chr(98 + n)} [{','.join('*' + chr(97 + n) for _ in range(9))}]" for n in range(20)
    ]
    return "\n".join(lines)


def _merges() -> str:
    lines = ["a0: &a0 {x: 1}"]
    lines += [
        f"a{n}: &a{n} {{<<: [{','.join(f'*a{n - 1}' for _ in range(50))}], k{n}: 1}}" for n in range(1, 200)
    ]
    return "\n".join(lines)


HEAD: Final = f"apiVersion: {API}\nkind: ExternalSecret\nmetadata: {{name: evil, namespace: evil}}\n"

CASES: Final = (
    _text(
        "yaml-documents",
        "ten documents of 2.9 MB in one file",
        lambda: "\n---\n".join([_lists(2_900_000)] * 10),
    ),
    _text("yaml-flow", "one list of 2.9 MB in brackets", lambda: _config_map("[" + "a," * 1_450_000 + "a]")),
    _text("yaml-flow-larger", "one of 3.5 MB", lambda: _config_map("[" + "a," * 1_750_000 + "a]")),
    _text(
        "yaml-large",
        "28 MB of documents that are too large",
        lambda: "\n---\n".join([_config_map("a" * (4 * MIB))] * 7),
    ),
    _text("yaml-aliases", "a bomb of aliases", lambda: HEAD + _bomb(), quick=True),
    _text("yaml-merges", "a bomb of merge keys", lambda: HEAD + _merges()),
    _text(
        "yaml-itself",
        "a list that contains itself",
        lambda: HEAD + "spec: &a {data: [*a, *a], dataFrom: *a}\n",
    ),
    _text(
        "yaml-deep", "brackets nested 100,000 times", lambda: HEAD + "spec: " + "[" * 100_000 + "]" * 100_000
    ),
    _text(
        "yaml-indent",
        "lists nested 1,500 times by indentation",
        lambda: HEAD + "spec:\n" + "".join(" " * n + "-\n" for n in range(1, 1500)),
    ),
    _text(
        "yaml-number",
        "an integer of 2.9 MB",
        lambda: HEAD + "spec: {refreshInterval: " + "9" * 2_900_000 + "}",
    ),
    _text(
        "yaml-sexagesimal",
        "numbers to the base of sixty, and binary",
        lambda: HEAD + "spec: {a: " + "1:" * 300_000 + "1, b: !!binary '" + "QUFB" * 200_000 + "'}",
    ),
    _text(
        "yaml-many", "200,000 documents without a kind", lambda: "---\na: 1\n" * 200_000, says="passed over"
    ),
    _text("yaml-empty", "15 million empty documents", lambda: "---\n" * 8_000_000, end="any", says=".*"),
    _text("yaml-comments", "30 MB of comments", lambda: "# aaaaaaa\n" * 3_000_000, end="any", says=".*"),
    _text(
        "yaml-unicode",
        "NUL, marks of direction, and halves of characters",
        lambda: HEAD + 'spec: {a: "\\0\\u202e\\ud800", \u202e: \u0000}',
    ),
    _text(
        "yaml-keys",
        "300,000 keys, each twice",
        lambda: HEAD + "spec:\n" + "".join(f"  k{n % 150_000}: a\n" for n in range(200_000)),
    ),
    _text(
        "json-file",
        "a JSON file of 2.9 MB of brackets",
        lambda: '{"apiVersion": "v1", "kind": "ConfigMap", "a": ' + "[" * 1_450_000 + "]" * 1_450_000 + "}",
        suffix=".json",
    ),
    _text(
        "json-list",
        "a List of 20,000 objects that are wrong",
        lambda: json.dumps(
            {
                "apiVersion": "v1",
                "kind": "List",
                "items": [
                    {
                        "apiVersion": API,
                        "kind": "ExternalSecret",
                        "metadata": {"name": f"e{n}"},
                        "spec": {"x": n},
                    }
                    for n in range(20_000)
                ],
            }
        ),
        suffix=".json",
    ),
    Hostile(
        name="yaml-names",
        tried="names, namespaces and keys as long as may be, and longer",
        end="any",
        says=WRONG + "|length|at most|must|may",
        manifest=lambda _url: written(
            fake({"k" * 100_000: "v"}),
            *(
                external(name="e" * length, data=[read("k" * 100_000, to="k" * length)])
                for length in (253, 254, 5000)
            ),
            external(data=[read("k" * 100_000, to="\u202ek\x1b[31m")]),
        ),
    ),
)
