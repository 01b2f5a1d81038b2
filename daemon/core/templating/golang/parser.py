"""Parses the tokens of a template to nodes, and reports every error that is found before it runs."""

from collections.abc import Callable, Collection, Container
from typing import Final, NoReturn

from syncret.daemon.core.templating.golang import literals, nodes
from syncret.daemon.core.templating.golang.errors import Place
from syncret.daemon.core.templating.golang.lexer import Kind, Token, described, tokenize
from syncret.daemon.core.templating.golang.literals import unquote
from syncret.daemon.core.templating.remedies import for_function, for_syntax, for_variable

DEEPEST: Final = 120
"""The limit of nested parentheses and blocks; `else if` counts as a third. Go has no such limit."""

_OPERANDS: Final = frozenset(
    {
        Kind.BOOL, Kind.CHAR_CONSTANT, Kind.COMPLEX, Kind.DOT, Kind.FIELD, Kind.IDENTIFIER, Kind.NUMBER,
        Kind.NIL, Kind.RAW_STRING, Kind.STRING, Kind.VARIABLE, Kind.LEFT_PAREN,
    }
)  # fmt: skip
_NUMBERS: Final = {
    Kind.CHAR_CONSTANT: literals.character,
    Kind.COMPLEX: literals.complex_number,
    Kind.NUMBER: literals.number,
}
_ELSE_IF: Final = 1 / 3
_Ends = tuple[list[nodes.Node], Token]


def parse(
    name: str, text: str, functions: Collection[str], left: str = "{{", right: str = "}}"
) -> dict[str, list[nodes.Node]]:
    """Parse a template: the nodes of it and of the templates that it defines. Raises TemplateError."""
    return _Parser(name, text, functions, left, right).parse()


class _Parser:
    def __init__(self, name: str, text: str, functions: Collection[str], left: str, right: str) -> None:
        self.name = name
        self.text = text
        self.functions = functions
        self.tokens = tokenize(text, left, right)
        self.index = 0
        self.trees: dict[str, list[nodes.Node]] = {}
        self.variables = ["$"]
        self.ranges = 0
        self.depth: float = 0

    # -------------------------------------------------------------------------------------------- tokens
    def peek(self) -> Token:
        return self.tokens[self.index]

    def next(self) -> Token:
        """The next token. The last one is returned again and again."""
        token = self.tokens[self.index]
        self.index = min(self.index + 1, len(self.tokens) - 1)
        return token

    def peek_word(self) -> Token:
        """The next token that is not a space; it is not consumed, but the spaces before it are."""
        while self.tokens[self.index].kind is Kind.SPACE:
            self.index += 1
        return self.tokens[self.index]

    def next_word(self) -> Token:
        self.peek_word()
        return self.next()

    def expect(self, kinds: Container[Kind], context: str) -> Token:
        token = self.next_word()
        if token.kind not in kinds:
            self.unexpected(token, context)
        return token

    def unexpected(self, token: Token, context: str) -> NoReturn:
        if token.kind is Kind.ERROR:
            self.fail(token, token.text)
        self.fail(token, f"unexpected {described(token)} in {context}")

    def fail(self, token: Token, message: str, hint: str = "") -> NoReturn:
        raise Place(self.name, self.text, token.position).error(message, hint=hint or for_syntax(message))

    # -------------------------------------------------------------------------------------------- blocks
    def parse(self) -> dict[str, list[nodes.Node]]:
        body: list[nodes.Node] = []
        while (token := self.peek()).kind is not Kind.END_OF_FILE:
            if token.kind is Kind.LEFT_DELIMITER:
                start = self.index
                self.next()
                if self.next_word().kind is Kind.DEFINE:
                    self.definition()
                    continue
                self.index = start
            node = self.node()
            if isinstance(node, Token):
                self.fail(node, f"unexpected <{node.text}>")
            body.append(node)
        self.add(self.name, body, self.peek())
        return self.trees

    def add(self, name: str, body: list[nodes.Node], token: Token) -> None:
        if name not in self.trees or nodes.is_empty(self.trees[name]):
            self.trees[name] = body
        elif not nodes.is_empty(body):
            self.fail(token, "multiple definition of a template")

    def definition(self) -> None:
        context = "define clause"
        token = self.expect({Kind.STRING, Kind.RAW_STRING}, context)
        name = self.string(token)
        self.expect({Kind.RIGHT_DELIMITER}, context)
        self.add(name, self.separate_body(context), token)

    def separate_body(self, context: str) -> list[nodes.Node]:
        """The body of a definition, which sees neither the variables nor the loops around it."""
        outside = self.variables, self.ranges
        self.variables, self.ranges = ["$"], 0
        body, end = self.body()
        if end.kind is not Kind.END:
            self.fail(end, f"unexpected <{end.text}> in {context}")
        self.variables, self.ranges = outside
        return body

    def body(self) -> _Ends:
        """The nodes up to `end` or `else`, and that token."""
        found: list[nodes.Node] = []
        self.deeper(self.peek_word())
        while True:
            if self.peek_word().kind is Kind.END_OF_FILE:
                self.fail(self.peek(), "unexpected EOF")
            node = self.node()
            if isinstance(node, Token):
                self.depth -= 1
                return found, node
            found.append(node)

    def deeper(self, token: Token, step: float = 1) -> None:
        self.depth += step
        if self.depth > DEEPEST:
            self.fail(token, f"blocks and parentheses are nested more than {DEEPEST} deep")

    def node(self) -> nodes.Node | Token:
        """A text, an action, or the token that ends a block."""
        token = self.next_word()
        if token.kind is Kind.TEXT:
            return nodes.Text(token.position, token.text)
        if token.kind is not Kind.LEFT_DELIMITER:
            self.unexpected(token, "input")
        word = self.peek_word()
        control = _CONTROLS.get(word.kind)
        if control is not None:
            self.next()
            return control(self, word)
        return nodes.Action(word.position, self.pipeline("command", Kind.RIGHT_DELIMITER))

    # -------------------------------------------------------------------------------- control structures
    def jump(self, word: Token) -> nodes.Node:
        token = self.next_word()
        if token.kind is not Kind.RIGHT_DELIMITER:
            self.unexpected(token, word.text)
        if not self.ranges:
            self.fail(word, f"{word.text} outside of range")
        return nodes.Break(word.position) if word.kind is Kind.BREAK else nodes.Continue(word.position)

    def end(self, word: Token) -> Token:
        self.expect({Kind.RIGHT_DELIMITER}, "end")
        return word

    def otherwise(self, word: Token) -> Token:
        if self.peek_word().kind not in {Kind.IF, Kind.WITH}:
            self.expect({Kind.RIGHT_DELIMITER}, "else")
        return word

    def branch(self, word: Token) -> nodes.If | nodes.With | nodes.Range:
        visible = len(self.variables)
        pipe = self.pipeline(word.text, Kind.RIGHT_DELIMITER)
        loops = word.kind is Kind.RANGE
        self.ranges += loops
        body, end = self.body()
        self.ranges -= loops
        otherwise: list[nodes.Node] | None = None
        if end.kind is Kind.ELSE:
            if not loops and self.peek().kind is word.kind:
                self.deeper(end, _ELSE_IF)
                otherwise = [self.branch(self.next())]
                self.depth -= _ELSE_IF
            else:
                otherwise, end = self.body()
                if end.kind is not Kind.END:
                    self.fail(end, f"expected end; found <{end.text}>")
        del self.variables[visible:]
        return _BRANCHES[word.kind](word.position, pipe, body, otherwise)

    def block(self, word: Token) -> nodes.Node:
        context = "block clause"
        token = self.expect({Kind.STRING, Kind.RAW_STRING}, context)
        name = self.string(token)
        pipe = self.pipeline(context, Kind.RIGHT_DELIMITER)
        self.add(name, self.separate_body(context), token)
        return nodes.Invocation(word.position, name, pipe)

    def template(self, word: Token) -> nodes.Node:
        context = "template clause"
        name = self.string(self.expect({Kind.STRING, Kind.RAW_STRING}, context))
        if self.peek_word().kind is Kind.RIGHT_DELIMITER:
            self.next()
            return nodes.Invocation(word.position, name, None)
        return nodes.Invocation(word.position, name, self.pipeline(context, Kind.RIGHT_DELIMITER))

    def misplaced(self, word: Token) -> NoReturn:
        self.unexpected(word, "command")

    # ----------------------------------------------------------------------------------------- pipelines
    def pipeline(self, context: str, end: Kind) -> nodes.Pipe:
        pipe = nodes.Pipe(self.peek_word().position, [], [])
        self.declarations(pipe, context)
        while (token := self.peek_word()).kind is not end:
            if token.kind not in _OPERANDS:
                self.unexpected(token, context)
            pipe.commands.append(self.command())
        self.next()
        if not pipe.commands:
            self.fail(token, f"missing value for {context}")
        for stage, command in enumerate(pipe.commands[1:], start=2):
            if isinstance(command.operands[0], _CONSTANT):
                self.fail(token, f"non executable command in pipeline stage {stage}")
        return pipe

    def declarations(self, pipe: nodes.Pipe, context: str) -> None:
        while (variable := self.peek_word()).kind is Kind.VARIABLE:
            start = self.index
            self.next()
            following = self.peek_word()
            comma = following.kind is Kind.CHARACTER and following.text == ","
            if not comma and following.kind not in {Kind.ASSIGN, Kind.DECLARE}:
                self.index = start
                return
            self.next()
            pipe.variables.append(variable.text)
            self.variables.append(variable.text)
            if not comma:
                pipe.assigns = following.kind is Kind.ASSIGN
                return
            if context != "range" or len(pipe.variables) > 1:
                self.fail(following, f"too many declarations in {context}")
            if self.peek_word().kind not in {Kind.VARIABLE, Kind.RIGHT_DELIMITER, Kind.RIGHT_PAREN}:
                self.fail(following, "range can only initialize variables")

    def command(self) -> nodes.Command:
        command = nodes.Command(self.peek_word().position, [])
        while True:
            self.peek_word()
            operand = self.operand()
            if operand is not None:
                command.operands.append(operand)
            token = self.next()
            if token.kind is Kind.SPACE:
                continue
            if token.kind in {Kind.RIGHT_DELIMITER, Kind.RIGHT_PAREN}:
                self.index -= 1
            elif token.kind is not Kind.PIPE:
                self.unexpected(token, "operand")
            break
        if not command.operands:
            self.fail(token, "empty command")
        return command

    def operand(self) -> nodes.Operand | None:
        start = self.peek_word()
        term = self.term()
        if term is None or self.peek().kind is not Kind.FIELD:
            return term
        if isinstance(term, _CONSTANT):
            self.fail(start, "unexpected . after a constant")
        position = self.peek().position
        fields: list[str] = []
        while self.peek().kind is Kind.FIELD:
            fields.append(self.next().text[1:])
        if isinstance(term, nodes.Field):
            return nodes.Field(term.position, term.names + fields)
        if isinstance(term, nodes.Variable):
            return nodes.Variable(term.position, term.name, fields)
        return nodes.Chain(position, term, fields)

    def term(self) -> nodes.Operand | None:
        token = self.peek_word()
        reader = _TERMS.get(token.kind)
        if reader is None:
            return None
        self.next()
        return reader(self, token)

    def function(self, token: Token) -> nodes.Operand:
        if token.text not in self.functions:
            message = f'function "{token.text}" not defined'
            self.fail(token, message, for_function(token.text, self.functions))
        return nodes.Identifier(token.position, token.text)

    def variable(self, token: Token) -> nodes.Operand:
        if token.text not in self.variables:
            message = f'undefined variable "{token.text}"'
            self.fail(token, message, for_variable(token.text, self.variables))
        return nodes.Variable(token.position, token.text, [])

    def number(self, token: Token) -> nodes.Operand:
        try:
            return _NUMBERS[token.kind](token.position, token.text)
        except literals.BadNumber as error:
            self.fail(token, str(error))

    def parenthesis(self, token: Token) -> nodes.Operand:
        self.deeper(token)
        pipe = self.pipeline("parenthesized pipeline", Kind.RIGHT_PAREN)
        self.depth -= 1
        return pipe

    def string(self, token: Token) -> str:
        text = unquote(token.text)
        if text is None:
            self.fail(token, "invalid syntax in a quoted string")
        return text


_CONSTANT: Final = (nodes.Bool, nodes.Dot, nodes.Nil, nodes.Number, nodes.String)
_BRANCHES: Final[dict[Kind, type[nodes.If | nodes.With | nodes.Range]]] = {
    Kind.IF: nodes.If,
    Kind.WITH: nodes.With,
    Kind.RANGE: nodes.Range,
}
_CONTROLS: Final[dict[Kind, Callable[[_Parser, Token], nodes.Node | Token]]] = {
    Kind.BLOCK: _Parser.block,
    Kind.BREAK: _Parser.jump,
    Kind.CONTINUE: _Parser.jump,
    Kind.DEFINE: _Parser.misplaced,
    Kind.ELSE: _Parser.otherwise,
    Kind.END: _Parser.end,
    Kind.IF: _Parser.branch,
    Kind.RANGE: _Parser.branch,
    Kind.TEMPLATE: _Parser.template,
    Kind.WITH: _Parser.branch,
}
_TERMS: Final[dict[Kind, Callable[[_Parser, Token], nodes.Operand]]] = {
    Kind.IDENTIFIER: _Parser.function,
    Kind.DOT: lambda _, token: nodes.Dot(token.position),
    Kind.NIL: lambda _, token: nodes.Nil(token.position),
    Kind.VARIABLE: _Parser.variable,
    Kind.FIELD: lambda _, token: nodes.Field(token.position, [token.text[1:]]),
    Kind.BOOL: lambda _, token: nodes.Bool(token.position, value=token.text == "true"),
    Kind.CHAR_CONSTANT: _Parser.number,
    Kind.COMPLEX: _Parser.number,
    Kind.NUMBER: _Parser.number,
    Kind.LEFT_PAREN: _Parser.parenthesis,
    Kind.STRING: lambda parser, token: nodes.String(token.position, parser.string(token)),
    Kind.RAW_STRING: lambda parser, token: nodes.String(token.position, parser.string(token)),
}
