"""The kinds of texts that fields of a Delivery hold: names, paths, modes, accounts, units, durations."""

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta

Span: TypeAlias = Annotated[
    str, Meta(extra={"pattern": r"^([0-9]{1,9}(\.[0-9]{1,3})?(ms|s|m|h)){1,4}$"}, max_length=40)
]
"""A Go duration that is not negative; kept as written."""

FileName: TypeAlias = Annotated[
    str, Meta(extra={"pattern": r"^[-._a-zA-Z0-9]+$"}, min_length=1, max_length=253)
]
Variable: TypeAlias = Annotated[
    str, Meta(extra={"pattern": r"^[A-Za-z_][A-Za-z0-9_]*$"}, min_length=1, max_length=253)
]
Mode: TypeAlias = Annotated[str, Meta(extra={"pattern": r"^0?[0-7]{3}$"})]
Account: TypeAlias = Annotated[
    str, Meta(extra={"pattern": r"^([0-9]{1,10}|[a-zA-Z_][-.a-zA-Z0-9_]{0,63}\$?)$"}, max_length=65)
]
"""A user or group: its name, or its number as text."""

PlacePath: TypeAlias = Annotated[str, Meta(min_length=1, max_length=4000)]
Unit: TypeAlias = Annotated[
    str, Meta(extra={"pattern": r"^[-_.:\\@a-zA-Z0-9]+\.service$"}, min_length=9, max_length=255)
]
UnitPattern: TypeAlias = Annotated[
    str, Meta(extra={"pattern": r"^([-_.:\\a-zA-Z0-9]+@\*|[-_.:\\@a-zA-Z0-9]+)\.service$"}, max_length=255)
]
CredentialName: TypeAlias = Annotated[
    str, Meta(extra={"pattern": r"^[-_.a-zA-Z0-9]+$"}, min_length=1, max_length=255)
]
Argument: TypeAlias = Annotated[str, Meta(max_length=4096)]
Arguments: TypeAlias = Annotated[tuple[Argument, ...], Meta(min_length=1, max_length=64)]
Signal: TypeAlias = Literal["SIGHUP", "SIGINT", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGTERM", "SIGWINCH"]
