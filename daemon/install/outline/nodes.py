"""What an outline is made of: literals, dicts and lists, and the nodes that depend on a value.

A value counts as true as in Python, which is also Go's rule: not None, False, 0 or empty.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Literal, Never, TypeAlias

from msgspec import Struct

Function: TypeAlias = Literal[
    "all", "any", "api", "as text", "contains", "equal", "first", "has", "is", "is text", "item", "json",
    "merged", "more", "not", "omit", "pair", "present", "text", "trunc",
]  # fmt: skip
"""Each is a function of `fill` and of `helm`; the functions below say what it does."""


_NOT_KNOWN: Final = "it is open what this is: write when(...) for `if`, each(...) for `for`"


class Node(Struct, frozen=True):
    """Something that depends on values."""

    def __bool__(self) -> bool:
        raise TypeError(_NOT_KNOWN)


class Value:
    """A place in the values: `i.pod.labels`, `v["bitwarden-sdk-server"].enabled`.

    What is absent is None; nothing can be asked of None.
    """

    __slots__ = ("path", "root")

    def __init__(self, root: "Root", path: tuple[str, ...] = ()) -> None:
        self.root: Final = root
        self.path: Final = path

    def __getattr__(self, name: str) -> "Value":
        if name.startswith("__"):  # a protocol of Python's
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name: str) -> "Value":
        return Value(self.root, (*self.path, name))

    def __bool__(self) -> bool:
        raise TypeError(_NOT_KNOWN)

    def __iter__(self) -> Iterator[Never]:
        raise TypeError(_NOT_KNOWN)


class Root:
    """What a place starts from: the values as a whole, or one element of a list or map."""


class Call(Node, frozen=True):
    """A function of other outlines, none of which depends on the place where it stands."""

    function: Function
    arguments: Sequence["Outline"]


class When(Node, frozen=True):
    """One of two outlines; without the second, the entry of a dict or list is left out."""

    test: "Outline"
    then: "Outline"
    otherwise: "Outline"


class Each(Node, frozen=True):
    """An entry of a list for each element of a list, or for each pair of a map in the order of its keys."""

    over: "Outline"
    key: Root
    value: Root
    body: "Outline"


class Spliced(Node, frozen=True):
    """The entries of a list, or the members of a dict, in the place of one entry."""

    entries: "Outline"


class Refused(Node, frozen=True):
    """There is no document: a value cannot be as it is."""

    path: str
    message: str
    hint: str


class File(Node, frozen=True):
    """A long text that is a file of its own in a chart."""

    name: str
    text: str


class Absent(Struct, frozen=True):
    """No entry at all."""


Outline: TypeAlias = (
    Node | Value | Absent | Mapping[str, "Outline"] | Sequence["Outline"] | str | int | bool | None
)

ABSENT: Final = Absent()
SPLICE: Final = "<<"
"""The key of a dict whose members become those of the dict around it; it must have none of its keys."""


def when(test: Outline, then: Outline, otherwise: Outline = ABSENT) -> When:
    """`then` if the test is true."""
    return When(test, then, otherwise)


def given(value: Outline) -> When:
    """The value, if it is true."""
    return When(value, value, ABSENT)


def each(over: Outline, body: Callable[[Value], Outline]) -> Each:
    """The body for each element of a list."""
    key, value = Root(), Root()
    return Each(over, key, value, body(Value(value)))


def each_pair(over: Outline, body: Callable[[Value, Value], Outline]) -> Each:
    """The body for each key and value of a map."""
    key, value = Root(), Root()
    return Each(over, key, value, body(Value(key), Value(value)))


def all_of(*tests: Outline) -> Call:
    """Whether all are true. Those after the first that is not are not looked at."""
    return Call("all", tests)


def any_of(*tests: Outline) -> Call:
    """Whether one is true. Those after the first that is are not looked at."""
    return Call("any", tests)


def not_(test: Outline) -> Call:
    """Whether it is not true."""
    return Call("not", (test,))


def is_true(value: Outline) -> Call:
    """True or False for any value."""
    return Call("is", (value,))


def present(value: Outline) -> Call:
    """Whether a value is there, if only as 0 or as an empty text."""
    return Call("present", (value,))


def is_text(value: Outline) -> Call:
    """Whether a value is a text."""
    return Call("is text", (value,))


def equal(one: Outline, other: str) -> Call:
    """Whether a value is this text."""
    return Call("equal", (one, other))


def more(number: Outline, than: int) -> Call:
    """Whether an integer is larger."""
    return Call("more", (number, than))


def first(*values: Outline) -> Call:
    """The first that is true, or the last."""
    return Call("first", values)


def merged(*maps: Outline) -> Call:
    """One map; of a key that several have, the last counts."""
    return Call("merged", maps)


def has(list_: Outline, element: str) -> Call:
    """Whether a list has this text."""
    return Call("has", (list_, element))


def pair(key: Outline, value: Outline) -> Call:
    """A map of one key."""
    return Call("pair", (key, value))


def omit(map_: Outline, *keys: str) -> Call:
    """A map without some keys."""
    return Call("omit", (map_, *keys))


def item(map_: Outline, key: str) -> Call:
    """A member of a map that may be absent, as a test or a text."""
    return Call("item", (map_, key))


def text(*parts: Outline) -> Call:
    """One text of several."""
    return Call("text", parts)


def as_text(value: Outline) -> Call:
    """A text as it is, anything else as JSON."""
    return Call("as text", (value,))


def json_text(value: Outline) -> Call:
    """A value as the text of JSON."""
    return Call("json", (value,))


def trunc(value: Outline, length: int) -> Call:
    """The beginning of a name, not ending with a hyphen."""
    return Call("trunc", (value, length))


def contains(value: Outline, part: Outline) -> Call:
    """Whether a text has another in it."""
    return Call("contains", (value, part))


def serves(root: Value, api: str) -> Call:
    """Whether the cluster serves an API, as Helm knows it: `GROUP/VERSION` or `GROUP/VERSION/KIND`."""
    return Call("api", (root.Capabilities.APIVersions, api))
