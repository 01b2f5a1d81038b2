"""The syntax tree of a template. Positions count characters from its start."""

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(slots=True)
class Text:
    position: int
    text: str


@dataclass(slots=True)
class Dot:
    position: int


@dataclass(slots=True)
class Nil:
    position: int


@dataclass(slots=True)
class Bool:
    position: int
    value: bool


@dataclass(slots=True)
class String:
    position: int
    value: str


@dataclass(slots=True)
class Number:
    """A constant as a value of each type that can represent it; None for the others."""

    position: int
    text: str
    signed: int | None = None
    unsigned: int | None = None
    floating: float | None = None
    imaginary: complex | None = None


@dataclass(slots=True)
class Identifier:
    """The name of a function."""

    position: int
    name: str


@dataclass(slots=True)
class Field:
    """As in `.a.b`."""

    position: int
    names: list[str]


@dataclass(slots=True)
class Variable:
    """As in `$x.a.b`; the name keeps its dollar."""

    position: int
    name: str
    fields: list[str]


@dataclass(slots=True)
class Chain:
    """Fields of an operand in parentheses, or of the result of a function."""

    position: int
    operand: "Operand"
    fields: list[str]


@dataclass(slots=True)
class Command:
    """An operand, and the arguments after it."""

    position: int
    operands: "list[Operand]"


@dataclass(slots=True)
class Pipe:
    """Commands, each of which takes the result of the previous one; variables take the last result."""

    position: int
    commands: list[Command]
    variables: list[str]
    assigns: bool = False


Operand: TypeAlias = Dot | Nil | Bool | String | Number | Identifier | Field | Variable | Chain | Pipe


@dataclass(slots=True)
class Action:
    position: int
    pipe: Pipe


@dataclass(slots=True)
class Break:
    position: int


@dataclass(slots=True)
class Continue:
    position: int


@dataclass(slots=True)
class Branch:
    """What `if`, `with` and `range` have in common."""

    position: int
    pipe: Pipe
    body: "list[Node]"
    otherwise: "list[Node] | None"


@dataclass(slots=True)
class If(Branch):
    pass


@dataclass(slots=True)
class With(Branch):
    pass


@dataclass(slots=True)
class Range(Branch):
    pass


@dataclass(slots=True)
class Invocation:
    """`template` or `block`."""

    position: int
    name: str
    pipe: Pipe | None


Node: TypeAlias = Text | Action | Break | Continue | If | With | Range | Invocation


def is_empty(nodes: list[Node]) -> bool:
    """Whether there is only white space: such a definition is replaced by another one."""
    return all(isinstance(node, Text) and not node.text.strip() for node in nodes)
