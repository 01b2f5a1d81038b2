"""Splits a template's text into the tokens that the parser reads: plain text, and words inside delimiters."""

import re
from enum import Enum, auto
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias


class Kind(Enum):
    """The kind of a token. The keywords come last."""

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
_DESCRIPTIONS: Final = {
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
_SPACES: Final = " \t\r\n"
_FILLED: Final = frozenset(_SPACES)
_TERMINATORS: Final = frozenset(_SPACES + ".,|:()")
_NUMBER: Final = (
    r"[+-]?(?:0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?"
    r"|0[oO][0-7_]*(?:\.[0-7_]*)?|0[bB][01_]*(?:\.[01_]*)?"
    r"|[0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]*)?)i?"
)
_SIGNED_NUMBER: Final = re.compile("[+-]" + _NUMBER[5:])
# Possessive quantifiers: for a string of a megabyte, the states for backtracking would take memory.
_WORDS: Final = (
    r"(?P<SPACE>[ \t\r\n]+?(?=[ \t\r\n]-{right})|[ \t\r\n]+)"
    r"|(?P<DECLARE>:=)|(?P<ASSIGN>=)|(?P<PIPE>\|)"
    r'|(?P<STRING>"[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+")|(?P<RAW_STRING>`[^`]*+`)'
    r"|(?P<CHAR_CONSTANT>'[^'\\\n]*+(?:\\[^\n][^'\\\n]*+)*+')"
    r"|(?P<VARIABLE>\$\w*)|(?P<FIELD>\.(?![0-9])\w*)|(?P<NUMBER>(?=[+\-.0-9]){number})"
    r"|(?P<IDENTIFIER>\w+)|(?P<LEFT_PAREN>\()|(?P<RIGHT_PAREN>\))|(?P<CHARACTER>[!#%&*,;<>?@\[\\\]^{{}}~/-])"
)
_UNTERMINATED: Final = {
    '"': "unterminated quoted string",
    "`": "unterminated raw quoted string",
    "'": "unterminated character constant",
    ":": "expected :=",
}
_NAMES: Final = frozenset({Kind.VARIABLE, Kind.FIELD, Kind.IDENTIFIER})
_Next: TypeAlias = tuple[int, bool]
"""Where the text continues, and whether its leading spaces are trimmed."""


def tokenize(text: str, left: str = "{{", right: str = "}}") -> list[Token]:
    """All tokens; the last one is the end of the file, or an error."""
    lexer = _Lexer(text, left, right)
    lexer.run()
    return lexer.tokens


def described(token: Token) -> str:
    """The token for a message. Literals are named by their kind: one may be a password."""
    if token.kind in _DESCRIPTIONS:
        return _DESCRIPTIONS[token.kind]
    if token.kind in {Kind.FIELD, Kind.IDENTIFIER, Kind.VARIABLE}:
        return f'"{token.text}"'
    if token.text in KEYWORDS:
        return f"<{token.text}>"
    return token.kind.name.lower()


@lru_cache(maxsize=64)
def _patterns(right: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The patterns of an action's end and of the words in it."""
    delimiter = re.escape(right)
    return re.compile(rf"(?:[ \t\r\n](-))?{delimiter}"), re.compile(
        _WORDS.format(right=delimiter, number=_NUMBER)
    )


class _Lexer:
    def __init__(self, text: str, left: str, right: str) -> None:
        self.text = text
        self.left = left
        self.right = right
        self.tokens: list[Token] = []
        self.end_of_action, self.words = _patterns(right)

    def run(self) -> None:
        text, position, trims = self.text, 0, False
        while True:
            found = text.find(self.left, position)
            end = len(text) if found < 0 else found
            start = self._past_spaces(position) if trims else position
            inside = end + len(self.left)
            marked = (
                found >= 0 and text[inside : inside + 1] == "-" and text[inside + 1 : inside + 2] in _FILLED
            )
            plain = text[start:end].rstrip(_SPACES) if marked else text[start:end]
            if plain:
                self.tokens.append(Token(Kind.TEXT, start, plain))
            if found < 0:
                self.tokens.append(Token(Kind.END_OF_FILE, end, ""))
                return
            inside += 2 * marked
            after = self._comment(inside) if text.startswith("/*", inside) else self._action(found, inside)
            if after is None:
                return
            position, trims = after

    def _past_spaces(self, position: int) -> int:
        rest = self.text
        while position < len(rest) and rest[position] in _SPACES:
            position += 1
        return position

    def _fail(self, position: int, message: str) -> _Next | None:
        """Add the error as the last token; no text follows it."""
        self.tokens.append(Token(Kind.ERROR, position, message))
        return None

    def _comment(self, start: int) -> _Next | None:
        end = self.text.find("*/", start + 2)
        if end < 0:
            return self._fail(start, "unclosed comment")
        closing = self.end_of_action.match(self.text, end + 2)
        if closing is None:
            return self._fail(start, "comment ends before closing delimiter")
        return closing.end(), closing[1] is not None

    def _action(self, start: int, position: int) -> _Next | None:
        """The tokens up to the right delimiter."""
        text, tokens = self.text, self.tokens
        tokens.append(Token(Kind.LEFT_DELIMITER, start, self.left))
        open_parens = 0
        while True:
            closing = self.end_of_action.match(text, position)
            if closing is not None:
                if open_parens:
                    return self._fail(position, "unclosed left paren")
                tokens.append(Token(Kind.RIGHT_DELIMITER, position, self.right))
                return closing.end(), closing[1] is not None
            word = self.words.match(text, position)
            if word is None:
                return self._fail(position, self._reason(start, position))
            token = self._checked(Token(Kind[word.lastgroup or ""], position, word[0]))
            if token.kind is Kind.LEFT_PAREN:
                open_parens += 1
            elif token.kind is Kind.RIGHT_PAREN:
                open_parens -= 1
                if open_parens < 0:
                    return self._fail(token.position, "unexpected right paren")
            tokens.append(token)
            if token.kind is Kind.ERROR:
                return None
            position = token.position + len(token.text)

    def _checked(self, token: Token) -> Token:
        if token.kind in _NAMES:
            return self._name(token)
        return self._number(token) if token.kind is Kind.NUMBER else token

    def _reason(self, start: int, position: int) -> str:
        if position >= len(self.text):
            line = self.text.count("\n", 0, start) + 1
            here = self.text.count("\n") + 1
            return "unclosed action" + (f" started in line {line}" if line != here else "")
        character = self.text[position]
        if character in _UNTERMINATED:
            return _UNTERMINATED[character]
        return f"unrecognized character in action: U+{ord(character):04X}"

    def _name(self, token: Token) -> Token:
        """A word that must end where a word can end. Python counts more characters as letters than Go."""
        if not token.text.isascii():
            for offset, character in enumerate(token.text):
                if not (character.isascii() or character.isalpha() or character.isdecimal()):
                    return Token(Kind.ERROR, token.position + offset, f"bad character U+{ord(character):04X}")
        end = token.position + len(token.text)
        following = self.text[end : end + 1]
        if following and following not in _TERMINATORS and not self.text.startswith(self.right, end):
            return Token(Kind.ERROR, end, f"bad character U+{ord(following):04X}")
        if token.kind is Kind.IDENTIFIER:
            return Token(KEYWORDS.get(token.text, Kind.IDENTIFIER), token.position, token.text)
        if token.text == ".":
            return Token(Kind.DOT, token.position, token.text)
        return token

    def _number(self, token: Token) -> Token:
        end = token.position + len(token.text)
        kind = Kind.NUMBER
        if self.text[end : end + 1] in {"+", "-"}:
            imaginary = _SIGNED_NUMBER.match(self.text, end)
            if imaginary is None or not imaginary[0].endswith("i"):
                return Token(Kind.ERROR, token.position, "bad number syntax")
            kind, end = Kind.COMPLEX, imaginary.end()
        following = self.text[end : end + 1]
        if following == "_" or following.isalpha() or following.isdecimal():
            return Token(Kind.ERROR, token.position, "bad number syntax")
        return Token(kind, token.position, self.text[token.position : end])
