"""The shared parts of all exports, created with the first resource: most daemons have none."""

from collections.abc import Callable

from syncret.config.meta import GroupKind
from syncret.config.resources.kinds import CONFIG_MAP, SECRET
from syncret.config.settings import Settings
from syncret.daemon.engine.exports.evaluator import Evaluator
from syncret.daemon.engine.exports.index import OutputIndex
from syncret.daemon.engine.exports.reconciler import ExportReconciler
from syncret.daemon.engine.exports.secrets import SecretSource
from syncret.daemon.engine.observer import Observer
from syncret.daemon.engine.reconcilers.context import ReconcilerContext
from syncret.daemon.engine.waking import AddListener
from syncret.daemon.engine.work import WorkLimits, WorkThreads
from syncret.providers.secret_apis import SecretApis


class Exports:
    """The reconcilers of kinds that others define, and their parts."""

    def __init__(
        self,
        context: ReconcilerContext,
        settings: Settings,
        *,
        find: Callable[[str], SecretApis | None],
        add_listener: AddListener,
        observer: Observer,
    ) -> None:
        """`find` gives the secret APIs for resources of an API group."""
        limits = WorkLimits.of(settings)._replace(call=settings.exports.evaluation_timeout)
        self._context = context
        self._observer = observer
        self._evaluator = Evaluator(WorkThreads(limits))
        self.secrets = SecretSource(context.home, find, context.sessions.secret_apis_context())
        self._index = OutputIndex()
        self._interval = settings.exports.refresh_interval
        add_listener(self._index, (SECRET.group_kind, CONFIG_MAP.group_kind))

    def reconciler(self, kind: GroupKind) -> ExportReconciler:
        """The reconciler of one kind."""
        return ExportReconciler(
            self._context,
            kind,
            evaluator=self._evaluator,
            secrets=self.secrets,
            index=self._index,
            interval=self._interval,
            observer=self._observer,
        )

    async def close(self) -> None:
        """End what is under way, and all connections."""
        await self._evaluator.close()
        await self.secrets.close()
