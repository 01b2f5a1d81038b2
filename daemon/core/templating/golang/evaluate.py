"""Compiles the nodes of a template to functions that take the rendering and the dot, and write output."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final, cast

from syncret.daemon.core.templating.functions.contract import FunctionTable
from syncret.daemon.core.templating.golang import nodes
from syncret.daemon.core.templating.golang.comparison import sorted_keys, truth
from syncret.daemon.core.templating.golang.errors import FunctionError, Place
from syncret.daemon.core.templating.golang.execution import Run, Step
from syncret.daemon.core.templating.golang.expressions import Expressions
from syncret.daemon.core.templating.golang.printf import sprint
from syncret.daemon.core.templating.golang.values import NO_VALUE, Integer, Uint8, Value, type_of

_ACTION_COST: Final = 3
_TURN_COST: Final = 2
_INVOCATION_COST: Final = 10


class _Break(Exception):
    """`break`: leaves the innermost loop."""


class _Continue(Exception):
    """`continue`: ends an iteration of the innermost loop."""


def compile_nodes(name: str, text: str, body: list[nodes.Node], functions: FunctionTable) -> Step:
    """Compile a template's nodes to one step."""
    return _Statements(name, text, functions).sequence(body)


class _Statements:
    def __init__(self, name: str, text: str, functions: FunctionTable) -> None:
        self.expressions = Expressions(name, text, functions)

    def place(self, node: nodes.Node) -> Place:
        return self.expressions.place(node.position)

    def sequence(self, body: Iterable[nodes.Node]) -> Step:
        steps = [self.step(node) for node in body]
        if len(steps) == 1:
            return steps[0]

        def run_sequence(run: Run, dot: Value) -> None:
            for step in steps:
                step(run, dot)

        return run_sequence

    def step(self, node: nodes.Node) -> Step:
        compiler = cast("Callable[[_Statements, nodes.Node], Step]", _COMPILERS[type(node)])
        return compiler(self, node)

    def text(self, node: nodes.Text) -> Step:
        text, place = node.text, self.place(node)
        size = len(text.encode("utf-8", "surrogateescape"))

        def run_text(run: Run, _dot: Value) -> None:
            run.out.append(text)
            run.budget.output -= size
            if run.budget.output < 0:
                _spend(run, place)

        return run_text

    def action(self, node: nodes.Action) -> Step:
        value_of, place = self.expressions.pipeline(node.pipe), self.place(node)
        declares = bool(node.pipe.variables)

        def run_action(run: Run, dot: Value) -> None:
            value = value_of(run, dot)
            try:
                run.budget.step(_ACTION_COST)
                if not declares:
                    run.write(value if type(value) is str else sprint(value, run.budget))
            except FunctionError as error:
                raise place.error(error.message) from None

        return run_action

    def branch(self, node: nodes.If | nodes.With) -> Step:
        value_of = self.expressions.pipeline(node.pipe)
        body = self.sequence(node.body)
        otherwise = None if node.otherwise is None else self.sequence(node.otherwise)
        sets_dot = isinstance(node, nodes.With)

        def run_branch(run: Run, dot: Value) -> None:
            mark = len(run.names)
            value = value_of(run, dot)
            if truth(value):
                body(run, value if sets_dot else dot)
            elif otherwise is not None:
                otherwise(run, dot)
            run.forget(mark)

        return run_branch

    def loop(self, node: nodes.Range) -> Step:
        value_of, place = self.expressions.pipeline(node.pipe), self.place(node)
        body = self.sequence(node.body)
        otherwise = None if node.otherwise is None else self.sequence(node.otherwise)
        variables, assigns = node.pipe.variables, node.pipe.assigns

        def bind(run: Run, mark: int, index: Value, element: Value) -> None:
            """Set the loop's variables for this iteration; of two, the first is the index."""
            for offset, name in enumerate(variables):
                value = index if len(variables) > 1 and offset == 0 else element
                run.values[run.find(name) if assigns else mark - len(variables) + offset] = value

        def run_loop(run: Run, dot: Value) -> None:
            start = len(run.names)
            value = value_of(run, dot)
            mark = len(run.names)
            ran = False
            try:
                for index, element in _pairs(value, len(variables)):
                    ran = True
                    run.budget.step(_TURN_COST)
                    bind(run, mark, index, element)
                    with suppress(_Continue):
                        body(run, element)
                    run.forget(mark)
            except FunctionError as error:
                raise place.error(error.message) from None
            except _Break:
                pass
            if not ran and otherwise is not None:
                otherwise(run, dot)
            run.forget(start)

        return run_loop

    def invocation(self, node: nodes.Invocation) -> Step:
        value_of = None if node.pipe is None else self.expressions.pipeline(node.pipe)
        name, place = node.name, self.place(node)

        def run_invocation(run: Run, dot: Value) -> None:
            template = run.templates.get(name)
            if template is None:
                raise place.error("the template that is called here is not defined")
            if run.depth >= run.budget.depth:
                raise place.error(f"templates call one another more than {run.budget.depth} deep")
            try:
                run.budget.step(_INVOCATION_COST)
            except FunctionError as error:
                raise place.error(error.message) from None
            inner = NO_VALUE if value_of is None else value_of(run, dot)
            outside = run.names, run.values
            run.names, run.values = ["$"], [inner]
            run.depth += 1
            template(run, inner)
            run.depth -= 1
            run.names, run.values = outside

        return run_invocation

    def leave(self, node: nodes.Break | nodes.Continue) -> Step:
        jump = _Break if isinstance(node, nodes.Break) else _Continue

        def run_jump(_run: Run, _dot: Value) -> None:
            raise jump

        return run_jump


def _spend(run: Run, place: Place) -> None:
    try:
        run.budget.write(0)
    except FunctionError as error:
        raise place.error(error.message) from None


def _pairs(value: Value, variables: int) -> Iterable[tuple[Value, Value]]:
    """Index and element of each iteration."""
    if value is NO_VALUE or value is None:
        return ()
    if isinstance(value, bytes):
        return enumerate(map(Uint8, value))
    if isinstance(value, list):
        return enumerate(cast("list[Value]", value))
    if isinstance(value, dict):
        items = cast("dict[Value, Value]", value)
        return [(key, items[key]) for key in sorted_keys(items)]
    if isinstance(value, int) and not isinstance(value, bool):
        if variables > 1:
            raise FunctionError("can't iterate a number over more than one variable")
        counted: type[int] = type(value) if isinstance(value, Integer) else int
        return ((NO_VALUE, counted(turn)) for turn in range(value))
    raise FunctionError(f"range can't iterate over a value of type {type_of(value)}")


_COMPILERS: Final[dict[type, object]] = {
    nodes.Text: _Statements.text,
    nodes.Action: _Statements.action,
    nodes.If: _Statements.branch,
    nodes.With: _Statements.branch,
    nodes.Range: _Statements.loop,
    nodes.Invocation: _Statements.invocation,
    nodes.Break: _Statements.leave,
    nodes.Continue: _Statements.leave,
}
