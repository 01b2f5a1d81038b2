"""What syncret uses of cel-expr-python, whose package says nothing of its types being there."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

class Type:
    BOOL: ClassVar[Type]
    BYTES: ClassVar[Type]
    DOUBLE: ClassVar[Type]
    DURATION: ClassVar[Type]
    DYN: ClassVar[Type]
    INT: ClassVar[Type]
    LIST: ClassVar[Type]
    MAP: ClassVar[Type]
    NULL: ClassVar[Type]
    STRING: ClassVar[Type]
    TIMESTAMP: ClassVar[Type]
    UINT: ClassVar[Type]
    @staticmethod
    def Map(key_type: Type, element_type: Type) -> Type: ...
    def name(self) -> str: ...

class Overload:
    def __init__(
        self,
        id: str | None = ...,
        return_type: Type = ...,
        parameters: Sequence[Type] = ...,
        is_member: bool = ...,
        impl: Callable[..., Any] = ...,
    ) -> None: ...

class FunctionDecl:
    def __init__(self, name: str, overloads: Sequence[Overload]) -> None: ...

class Activation: ...
class EnvConfig: ...

class Value:
    def plain_value(self) -> Any: ...
    def type(self) -> Type: ...
    def value(self) -> Any: ...

class Expression:
    def eval(self, activation: Activation | None = ...) -> Value: ...
    def return_type(self) -> Type: ...
    def serialize(self) -> bytes: ...

class Env:
    def Activation(self, data: Mapping[str, Any] | None = ...) -> Activation: ...
    def compile(self, expression: str) -> Expression: ...
    def deserialize(self, serialized: bytes) -> Expression: ...

def NewEnv(
    *,
    config: EnvConfig | None = ...,
    variables: Mapping[str, Type] | None = ...,
    functions: Sequence[FunctionDecl] | None = ...,
) -> Env: ...
def NewEnvConfigFromYaml(yaml: str) -> EnvConfig: ...
