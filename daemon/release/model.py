"""The types of the model: routing, fulfilment, field, and the trees that contain them."""

from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from syncret.daemon.core.constraints.rules import Constraints
from syncret.daemon.release.findings import Place
from syncret.providers.values import SecretBytes

MARK: Final = "$opm"
SECRET_NAME: Final = "$secretName"
DATA_KEY: Final = "$dataKey"
ROUTING: Final = (MARK, SECRET_NAME, DATA_KEY)
AUTHORS: Final = (*ROUTING, "description", "$description", "$constraints", "$optional")
"""The members of a sensitive leaf that its author writes."""

TagKind: TypeAlias = Literal["env", "file", "secret"]
Source: TypeAlias = Literal["k8s", "k8s-eso"]


class Routing(Struct, frozen=True):
    """What the author says of a sensitive field: which key of which Secret, and what must hold of it."""

    secret_name: str
    data_key: str
    description: str = ""
    constraints: Constraints = Constraints()
    optional: bool = False
    written: dict[str, Any] = {}
    """As the author wrote it: values may repeat it, and not change it."""


class Text(Struct, frozen=True):
    """A value that was written, or that a tag was resolved to."""

    value: SecretBytes
    origin: Literal["written", "env", "file", "secret"] = "written"


class Reference(Struct, frozen=True):
    """Where the value lives: a Secret of the cluster, or an entry of a secret manager."""

    source: Source
    path: str
    remote_key: str


class Tag(Struct, frozen=True):
    """`@env(NAME)`, `@file(PATH)` or `@secret(...)`: replaced by its source's value before all checks."""

    kind: TagKind
    argument: str = ""
    """The variable, or the file."""
    trim: bool = False
    source: str = ""
    store: str = ""
    path: str = ""
    key: str = ""


class Failed(Struct, frozen=True):
    """An invalid fulfilment, which is reported as a problem; or the source of a tag failed."""


Fulfilment: TypeAlias = Text | Reference | Tag | Failed | None
"""None: an optional field without a fulfilment."""


class Field(Struct, frozen=True):
    """One sensitive field: routing by the author, fulfilment by the user."""

    label: str
    """As `from` names it: `config.db.password`."""
    routing: Routing
    author: Place
    user: Place
    fulfilment: Fulfilment

    @property
    def slot(self) -> tuple[str, str]:
        return (self.routing.secret_name, self.routing.data_key)


class Leaf(Struct, frozen=True):
    """A sensitive field in a tree of values, by its label."""

    label: str


class Broken(Struct, frozen=True):
    """A node of a tree whose problem is already reported: references to it report nothing more."""


class Absent(Struct, frozen=True):
    """A plain optional field without a value."""


Tree: TypeAlias = Any
"""Plain JSON, with a Leaf for each sensitive field, and Broken or Absent for what has no value."""
