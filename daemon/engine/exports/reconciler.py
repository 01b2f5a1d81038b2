"""The exports of one resource: reads secrets, evaluates expressions, writes the objects, and reports.

Resources are of kinds that others define, and their status belongs to their operators: so the result of the
exports is reported by events of the resource.
"""

import asyncio
import re
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from syncret.config.meta import Document, GroupKind, ObjectRef, member
from syncret.daemon.core.exports.cel.messages import Evaluation
from syncret.daemon.core.exports.evaluation import has_engine, no_engine
from syncret.daemon.core.exports.export import encoded
from syncret.daemon.core.exports.objects import output_ref, prune, write
from syncret.daemon.core.exports.outputs import Made, outputs
from syncret.daemon.core.exports.owner import Owner
from syncret.daemon.core.exports.plan import plan
from syncret.daemon.core.exports.problems import ExportProblem, Failure
from syncret.daemon.core.exports.spec import Exports, read_exports
from syncret.daemon.core.exports.verdict import error_of, joined, report
from syncret.daemon.core.ownership import Refusal
from syncret.daemon.core.plan.actions import Action
from syncret.daemon.core.schedule.refresh import slot
from syncret.daemon.engine.exports.evaluator import Evaluator
from syncret.daemon.engine.exports.index import OutputIndex
from syncret.daemon.engine.exports.secrets import SecretSource
from syncret.daemon.engine.observer import ExportRun, Observer
from syncret.daemon.engine.reconciler import VALUES, Dependency, Outcome
from syncret.daemon.engine.reconcilers.apply import apply, publish
from syncret.daemon.engine.reconcilers.context import ReconcilerContext
from syncret.daemon.engine.writes import Writes
from syncret.daemon.homes.contract import Conflict, Forbidden, StoredObject
from syncret.providers.errors import Malformed, SyncError, Unavailable

MOST_DECISIONS: Final = 5
_OTHER_FIELDS: Final = re.compile(
    r"\b(?:self|resource)\b(?!\s*\.\s*\??\s*(?:status|metadata|kind|apiVersion)\b)"
)
"""An expression that may read what a watch does not keep: the spec."""


class _Metadata(msgspec.Struct, rename="camel"):
    deletion_timestamp: str | None = None


class _Head(msgspec.Struct):
    metadata: _Metadata


class ExportReconciler:
    """The exports of the resources of one kind."""

    def __init__(
        self,
        context: ReconcilerContext,
        group_kind: GroupKind,
        *,
        evaluator: Evaluator,
        secrets: SecretSource,
        index: OutputIndex,
        interval: float,
        observer: Observer,
    ) -> None:
        """`interval`: seconds after which secrets are read again."""
        self.group_kind = group_kind
        self.context = context
        self.evaluator = evaluator
        self.secrets = secrets
        self.index = index
        self.interval = interval
        self.observer = observer

    def dependencies(self, stored: StoredObject) -> Iterable[Dependency]:
        """Its outputs, its credentials, and the Secret that it claims to have written."""
        if not _has_exports(stored):
            return
        resource = stored.document
        namespace = stored.ref.namespace
        exports = read_exports(resource)
        for output in dict.fromkeys(entry.output for entry in exports.entries):
            yield Dependency(ObjectRef("", output.kind, namespace, output.name), VALUES)
        if exports.entries:
            for secret in self.secrets.named(resource, stored.ref):
                yield Dependency(secret, VALUES)

    async def reconcile(self, ref: ObjectRef, writes: Writes) -> Outcome:
        """Bring the outputs in line with the resource."""
        stored = self.context.inventory.get(ref)
        if stored is None:
            self.context.memory.forget(ref)
            self.evaluator.forget(ref)
            return Outcome()
        is_leaving = stored.as_type(_Head).metadata.deletion_timestamp
        if is_leaving or not (_has_exports(stored) or self.index.of(ref)):
            self.context.memory.succeeded(ref)
            return Outcome()
        return await _Run(self, writes, stored).reconcile()


def _has_exports(stored: StoredObject) -> bool:
    """Whether it may have any, without decoding it: most resources have none."""
    return b"Expressions" in stored.data or b'"dynamic' in stored.data


class _Run:
    """One run for one version of a resource."""

    def __init__(self, parts: ExportReconciler, writes: Writes, stored: StoredObject) -> None:
        self._parts = parts
        self._context = parts.context
        self._writes = writes
        self._stored = stored
        self._resource: Document = stored.document
        self._encoded = stored.data
        api_version = str(self._resource.get("apiVersion", ""))
        self._owner = Owner(stored.ref, api_version, stored.uid)
        self._due: float | None = None
        self._refused = ""
        self._apis: Sequence[str] = ()
        self._begin = asyncio.get_running_loop().time()

    async def reconcile(self) -> Outcome:
        """Evaluate all, then write all, then report."""
        self._writes.check_asks()
        await self._writes.check_newest(self._stored)
        error: Exception | None = None
        try:
            exports = read_exports(self._resource)
            await self._write(exports, await self._made(exports))
        except (SyncError, Refusal) as failure:
            error = failure
            self._refused = self._refused or type(failure).__name__.lower()
        seconds = asyncio.get_running_loop().time() - self._begin
        self._parts.observer.exported(ExportRun(self._stored.ref, seconds, self._refused, self._apis))
        request = self._context.memory.refresh_request(self._stored.ref)
        if error is None:
            self._context.memory.clear_refresh_request(self._stored.ref, request)
        result = report(error, self._context.clock.now(), self._due)
        return await publish(self._context, self._writes, self._stored, result)

    async def _made(self, exports: Exports) -> Sequence[Made]:
        """The objects to write. Raises SyncError."""
        if not exports.entries and not exports.problems:
            return ()
        if not self._stored.ref.namespace:
            raise Malformed(
                "the resource is cluster-scoped, and exports go to the resource's own namespace",
                hint="export from a resource in a namespace",
            )
        if not has_engine():
            raise no_engine()
        texts = tuple(each.text for each in exports.expressions)
        checked = await self._parts.evaluator.check(texts)
        verdict = plan(exports, checked, with_static=False)
        if verdict.problems or isinstance(checked, Failure):
            raise self._error_of(verdict.problems)
        if any(_OTHER_FIELDS.search(text.source) for text in texts):
            self._resource = await self._whole()
            self._encoded = encoded(self._resource)
        secrets: dict[str, str] = {}
        if verdict.hints:
            self._refresh_later()
            read = await self._parts.secrets.read(self._owner, self._resource, verdict.hints)
            secrets, self._apis = dict(read.values), read.apis
        self._context.memory.note(self._stored.ref, _notes(verdict.hints, self._apis))
        evaluation = Evaluation(self._encoded, secrets, texts)
        results = await self._parts.evaluator.evaluate(self._stored.ref, evaluation)
        secretive = {
            expression.path
            for expression, each in zip(exports.expressions, checked, strict=True)
            if each.hints
        }
        found = outputs(exports, results, {}, secretive)
        if found.problems:
            raise self._error_of(found.problems)
        return found.made

    def _error_of(self, problems: Sequence[ExportProblem]) -> SyncError:
        self._refused = problems[0].kind
        return error_of(problems)

    async def _whole(self) -> Document:
        """The resource with its spec, of which the watch may keep a part."""
        found = await self._context.home.get(self._stored.ref)
        if found is None or found.uid != self._stored.uid:
            raise Conflict(f"{self._stored.ref}: deleted during the run")
        document = found.document
        member(document, "metadata").pop("managedFields", None)
        return document

    def _refresh_later(self) -> None:
        now, interval = self._context.clock.now(), self._parts.interval
        if interval > 0:
            spread = self._context.options.spread
            key = "/".join(self._stored.ref)
            self._due = slot(now, interval, key) if spread else now + interval

    # ------------------------------------------------------------------------------------------------ writing
    async def _write(self, exports: Exports, made: Sequence[Made]) -> None:
        """Write each object; one that is refused stops no other. Raises the errors of all, as one."""
        shared = {each.output for each in exports.static}
        errors: list[Exception] = []
        for each in made:
            ref = output_ref(self._owner, each)
            await self._bring(ref, each, is_shared=each.output in shared, errors=errors)
        wanted = {output_ref(self._owner, each) for each in made}
        for ref in self._parts.index.of(self._stored.ref):
            if ref not in wanted:
                await self._bring(ref, None, is_shared=False, errors=errors)
        if errors:
            raise joined(errors)

    async def _bring(
        self, ref: ObjectRef, made: Made | None, *, is_shared: bool, errors: list[Exception]
    ) -> None:
        """Decide on the object as it is, and write; where another came between, decide again."""
        get, is_absent = self._writes.get, made is not None and self._context.home.is_absent(ref)
        for _ in range(MOST_DECISIONS):
            found = None if is_absent else await get(ref)
            try:
                action = self._decide(ref, made, found, is_shared=is_shared)
                if action is None:
                    return
                refused = await apply(self._context, self._writes, self._stored.ref, (action,))
            except Refusal as refusal:
                errors.append(refusal)
                return
            except Conflict:
                get, is_absent = self._writes.get_after_write, False
                continue
            if refused is not None:
                if isinstance(refused.error, Forbidden):
                    raise refused.error
                errors.append(Unavailable(f"writing the {ref.kind} {ref.name}: {refused.error}"))
            return
        errors.append(Unavailable(f"{ref.kind} {ref.name}: others change it before every write"))

    def _decide(
        self, ref: ObjectRef, made: Made | None, found: StoredObject | None, *, is_shared: bool
    ) -> Action | None:
        document = None if found is None else found.document
        if made is not None:
            return write(self._owner, made, document, is_shared=is_shared)
        return None if document is None else prune(self._owner, ref, document)


def _notes(hints: Sequence[str], apis: Sequence[str]) -> tuple[str, ...]:
    """The notes of `explain` about the secrets."""
    if not hints:
        return ("uses no secret",)
    called = f"called for them: {', '.join(apis)}" if apis else "no API was called for them"
    return (f"uses the secrets {', '.join(hints)}", called)
