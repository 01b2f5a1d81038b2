"""Keys of a Scaleway store: `id:UUID`, `name:NAME`, `path:/FOLDER/NAME`."""

from typing import Final, NamedTuple

from syncret.providers.errors import Malformed

_HINT: Final = "write id:UUID, name:NAME or path:/FOLDER/NAME"


class Name(NamedTuple):
    """A parsed key: an ID, or a name with its folder; without a folder all are searched."""

    id: str = ""
    name: str = ""
    folder: str = ""

    def query(self) -> dict[str, str]:
        """The parameters that find it in a list."""
        return {"name": self.name, **({"path": self.folder} if self.folder else {})}


def parsed(key: str) -> Name:
    """The key. Raises Malformed."""
    kind, colon, text = key.partition(":")
    if colon and text:
        folder, _, name = text.rpartition("/")
        if kind == "id":
            return Name(id=text)
        if kind == "name":
            return Name(name=text)
        if kind == "path" and text.startswith("/") and name:
            return Name(name=name, folder=folder or "/")
    raise Malformed(f"invalid secret reference {key!r}", hint=_HINT)
