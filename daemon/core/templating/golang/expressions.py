"""Compiles operands and pipelines to functions of the rendering and the dot."""

from typing import Final, cast

from syncret.daemon.core.templating.functions.contract import Function, FunctionTable
from syncret.daemon.core.templating.golang import calls, nodes, types
from syncret.daemon.core.templating.golang.calls import ABSENT, Call, compile_call
from syncret.daemon.core.templating.golang.errors import FunctionError, Place
from syncret.daemon.core.templating.golang.execution import Expression, MissingKey, Run
from syncret.daemon.core.templating.golang.types import Kind, Type
from syncret.daemon.core.templating.golang.values import (
    NO_VALUE,
    GoObject,
    NamedInteger,
    Value,
    type_of,
    zero_of,
)

_NAMED_BY_STRINGS: Final = frozenset({Kind.STRING, Kind.INTERFACE})
_NOT_A_FUNCTION: Final = "can't give argument to non-function"


class Expressions:
    """Compiles the operands of one template."""

    def __init__(self, name: str, text: str, functions: FunctionTable) -> None:
        self.name = name
        self.text = text
        self.functions = functions

    def place(self, position: int) -> Place:
        return Place(self.name, self.text, position)

    def pipeline(self, pipe: nodes.Pipe) -> Expression:
        """Compile a pipeline and the assignment to its variables. A nil counts as no value here."""
        first = self.command(pipe.commands[0])
        rest = [self.command(command) for command in pipe.commands[1:]]
        if not rest and not pipe.variables:

            def run_single(run: Run, dot: Value) -> Value:
                value = first(run, dot, ABSENT)
                return NO_VALUE if value is None else value

            return run_single
        names, assigns, place = pipe.variables, pipe.assigns, self.place(pipe.position)

        def run_pipeline(run: Run, dot: Value) -> Value:
            value = first(run, dot, ABSENT)
            for stage in rest:
                value = stage(run, dot, NO_VALUE if value is None else value)
            if value is None:
                value = NO_VALUE
            for name in names:
                if not assigns:
                    run.names.append(name)
                    run.values.append(value)
                    continue
                index = run.find(name)
                if index < 0:
                    raise place.error(f"undefined variable: {name}")
                run.values[index] = value
            return value

        return run_pipeline

    def command(self, command: nodes.Command) -> Call:
        """Compile one command. Its errors are reported at the position of its first operand."""
        first, rest = command.operands[0], command.operands[1:]
        function = ""
        if isinstance(first, nodes.Identifier):
            function = first.name
            run = compile_call(self.functions[first.name], rest, self.operand)
        elif isinstance(first, nodes.Field):
            run = self.chain(self.dot, first.names, rest)
        elif isinstance(first, nodes.Chain):
            run = self.chain(self.chained(first), first.fields, rest)
        elif isinstance(first, nodes.Variable) and first.fields:
            run = self.chain(self.variable(first), first.fields, rest)
        else:
            run = self.bare(self.operand(first), has_arguments=bool(rest))
        return _with_place(run, self.place(first.position), function)

    @staticmethod
    def bare(expression: Expression, *, has_arguments: bool) -> Call:
        def run_bare(run: Run, dot: Value, final: object) -> Value:
            if has_arguments or final is not ABSENT:
                raise FunctionError(_NOT_A_FUNCTION)
            return expression(run, dot)

        return run_bare

    @staticmethod
    def dot(_run: Run, dot: Value) -> Value:
        return dot

    def operand(self, node: nodes.Operand) -> Expression:
        """Compile an operand that is a command of its own, or an argument."""
        if isinstance(node, nodes.Dot):
            return self.dot
        if isinstance(node, nodes.Pipe):
            return self.pipeline(node)
        if isinstance(node, nodes.Variable) and not node.fields:
            return self.variable(node)
        if isinstance(node, nodes.Bool | nodes.Number | nodes.String):
            return lambda _run, _dot: calls.ideal_constant(node)
        if isinstance(node, nodes.Nil):
            return _nil
        alone = self.command(nodes.Command(node.position, [node]))
        return lambda run, dot: alone(run, dot, ABSENT)

    def chained(self, chain: nodes.Chain) -> Expression:
        """Compile the operand in which a chain's fields are looked up."""
        return self.operand(chain.operand)

    def variable(self, variable: nodes.Variable) -> Expression:
        name, place = variable.name, self.place(variable.position)

        def run_variable(run: Run, _dot: Value) -> Value:
            index = run.find(name)
            if index < 0:
                raise place.error(f"undefined variable: {name}")
            return run.values[index]

        return run_variable

    def chain(self, start: Expression, names: list[str], rest: list[nodes.Operand]) -> Call:
        """Compile fields of fields; the last one may be a method with arguments."""
        inner, last = names[:-1], names[-1]
        compile_operand = self.operand

        def run_chain(run: Run, dot: Value, final: object) -> Value:
            receiver = start(run, dot)
            for name in inner:
                found = member(receiver, name, run.missing_key)
                if isinstance(found, Function):
                    found = compile_call(found, (), compile_operand)(run, dot, ABSENT)
                receiver = found
            found = member(receiver, last, run.missing_key)
            if isinstance(found, Function):
                return compile_call(found, rest, compile_operand)(run, dot, final)
            if rest or final is not ABSENT:
                return check_arguments(found, receiver, last, has_arguments=receiver is not NO_VALUE)
            return found

        return run_chain


def member(receiver: Value, name: str, missing_key: MissingKey) -> Value:
    """Look up a key of a map, or a field or a method (a Function) of an object."""
    if receiver is NO_VALUE:
        if missing_key == "error":
            raise FunctionError(f'nil data; no entry for key "{name}"')
        return NO_VALUE
    if receiver is None:
        raise FunctionError(f"nil pointer evaluating interface {{}}.{name}")
    go_type = type_of(receiver)
    if go_type.key is not None and go_type.key.kind in _NAMED_BY_STRINGS:
        items = cast("dict[Value, Value]", receiver)
        return items[name] if name in items else _missing_key(name, items, missing_key)
    found = receiver.member(name) if isinstance(receiver, GoObject | NamedInteger) else NO_VALUE
    if found is NO_VALUE:
        raise FunctionError(f"can't evaluate field {name} in type {go_type}")
    return found


def _missing_key(name: str, items: dict[Value, Value], missing_key: MissingKey) -> Value:
    if missing_key == "error":
        raise FunctionError(f'map has no entry for key "{name}"', hint=_known_keys(name, items))
    if missing_key == "zero":
        return zero_of(cast("Type", type_of(items).element))
    return NO_VALUE


def _known_keys(name: str, items: dict[Value, Value]) -> str:
    """A hint with keys that are there; none of a map that was read from a value: its keys may be secret."""
    if type_of(items) is not types.STRING_MAP:
        return ""
    from syncret.daemon.core.templating.remedies import for_key  # only for a mistake

    return for_key(name, map(str, items))


def check_arguments(found: Value, receiver: Value, name: str, *, has_arguments: bool) -> Value:
    """The value found. Raises FunctionError if it has arguments but is not a method."""
    if has_arguments and not isinstance(found, Function):
        what = "is not a method but has arguments"
        if type_of(receiver).kind is not types.MAP.kind:
            what = "has arguments but cannot be invoked as function"
        raise FunctionError(f"{name} {what}")
    return found


def _nil(_run: Run, _dot: Value) -> Value:
    raise FunctionError("nil is not a command")


def _with_place(run: Call, place: Place, function: str) -> Call:
    def run_placed(state: Run, dot: Value, final: object) -> Value:
        try:
            return run(state, dot, final)
        except FunctionError as error:
            raise place.error(error.message, function, error.hint) from None

    return run_placed
