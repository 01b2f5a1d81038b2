"""Tokens, as the lexer hands them to the parser."""

from enum import Enum, auto
from typing import Final, NamedTuple


class Kind(Enum):
    """What a token is. The keywords come last."""

    ERROR = auto()
    BOOL = auto()
    CHARACTER = auto()
    CHAR_CONSTANT = auto()
    COMPLEX = auto()
    ASSIGN = auto()
    DECLARE = auto()
    END_OF_FILE = auto()
    FIELD = auto()
    IDENTIFIER = auto()
    LEFT_DELIMITER = auto()
    LEFT_PAREN = auto()
    NUMBER = auto()
    PIPE = auto()
    RAW_STRING = auto()
    RIGHT_DELIMITER = auto()
    RIGHT_PAREN = auto()
    SPACE = auto()
    STRING = auto()
    TEXT = auto()
    VARIABLE = auto()
    BLOCK = auto()
    BREAK = auto()
    CONTINUE = auto()
    DOT = auto()
    DEFINE = auto()
    ELSE = auto()
    END = auto()
    IF = auto()
    NIL = auto()
    RANGE = auto()
    TEMPLATE = auto()
    WITH = auto()


class Token(NamedTuple):
    """`position` counts characters from the start of the template. An ERROR's text is its message."""

    kind: Kind
    position: int
    text: str


KEYWORDS: Final = {
    "block": Kind.BLOCK,
    "break": Kind.BREAK,
    "continue": Kind.CONTINUE,
    "define": Kind.DEFINE,
    "else": Kind.ELSE,
    "end": Kind.END,
    "if": Kind.IF,
    "nil": Kind.NIL,
    "range": Kind.RANGE,
    "template": Kind.TEMPLATE,
    "with": Kind.WITH,
    "true": Kind.BOOL,
    "false": Kind.BOOL,
}

_NAMES: Final = {
    Kind.CHARACTER: "character",
    Kind.CHAR_CONSTANT: "character constant",
    Kind.ASSIGN: '"="',
    Kind.DECLARE: '":="',
    Kind.END_OF_FILE: "EOF",
    Kind.DOT: '"."',
    Kind.LEFT_DELIMITER: "left delimiter",
    Kind.LEFT_PAREN: '"("',
    Kind.PIPE: '"|"',
    Kind.RAW_STRING: "raw string",
    Kind.RIGHT_DELIMITER: "right delimiter",
    Kind.RIGHT_PAREN: '")"',
}


def described(token: Token) -> str:
    """The token for a message. Literals are named by their kind: one may be a password."""
    if token.kind in _NAMES:
        return _NAMES[token.kind]
    if token.kind in {Kind.FIELD, Kind.IDENTIFIER, Kind.VARIABLE}:
        return f'"{token.text}"'
    if token.text in KEYWORDS:
        return f"<{token.text}>"
    return token.kind.name.lower()
