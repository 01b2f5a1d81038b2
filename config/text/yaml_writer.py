"""Writes documents as YAML that kubectl, the API server and our own parser read back unchanged.

PyYAML quotes only what PyYAML itself would read as something else. To Kubernetes an unquoted `1e3`, `08`,
`0o17` or `y` is a number or a boolean, and any of them may be the base64 of a Secret's value.
"""

import yaml

from syncret.config.meta import Document
from syncret.config.text.yaml_nodes import resolve

_QUOTED = "'"


class _Dumper(yaml.CSafeDumper):
    """Quotes strings that would not be strings without quotes."""

    def text(self, text: str) -> yaml.ScalarNode:
        style = None if isinstance(resolve(text), str) else _QUOTED
        # PyYAML's stubs leave open what a value may be.
        return self.represent_scalar("tag:yaml.org,2002:str", text, style=style)  # pyright: ignore[reportUnknownMemberType]


_Dumper.add_representer(str, _Dumper.text)


def to_yaml(document: Document) -> str:
    """One YAML document, keys in their order."""
    text: str = yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True)
    return text
