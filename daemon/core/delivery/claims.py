"""Which Delivery writes to which path: no path has two, and none is inside another's."""

from collections.abc import Collection, Iterator

from syncret.config.meta import ObjectRef


class Claims:
    """The paths of all Deliveries; the first Delivery to claim a path has it."""

    def __init__(self) -> None:
        self._of: dict[ObjectRef, tuple[str, ...]] = {}
        self._paths: dict[str, ObjectRef] = {}
        self._above: dict[str, dict[ObjectRef, None]] = {}
        """The folders above claimed paths, with the Deliveries that have paths below."""

    def claim(self, ref: ObjectRef, paths: Collection[str]) -> tuple[str, ObjectRef] | None:
        """Replace the claims of a Delivery; returns a path and its holder if another Delivery has it."""
        self.release(ref)
        for path in paths:
            other = self._holder(path)
            if other is not None:
                return path, other
        self._of[ref] = tuple(paths)
        for path in paths:
            self._paths[path] = ref
            for folder in _folders(path):
                self._above.setdefault(folder, {})[ref] = None
        return None

    def release(self, ref: ObjectRef) -> None:
        """Release all paths of a Delivery."""
        for path in self._of.pop(ref, ()):
            del self._paths[path]
            for folder in _folders(path):
                below = self._above.get(folder, {})
                below.pop(ref, None)
                if not below:
                    self._above.pop(folder, None)

    def _holder(self, path: str) -> ObjectRef | None:
        for each in (path, *_folders(path)):
            if each in self._paths:
                return self._paths[each]
        return next(iter(self._above.get(path, ())), None)


def _folders(path: str) -> Iterator[str]:
    """The folders above a path, but for the root."""
    while "/" in path[1:]:
        path = path.rpartition("/")[0]
        yield path
