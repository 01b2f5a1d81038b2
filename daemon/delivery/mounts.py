"""Finds targets that are also mounted elsewhere: a mount goes on showing the old files."""

from collections.abc import Iterator

from syncret.config.resources.delivery.delivery import DeliverySpec
from syncret.daemon.core.delivery.file_targets import bare_targets
from syncret.daemon.delivery.paths import PREVIOUS
from syncret.daemon.files.mounts import mounted_elsewhere


def blind_mounts(spec: DeliverySpec) -> Iterator[str]:
    """A warning for each such mount. Blocking."""
    for target in bare_targets(spec):
        if target.layout == "links" or target.named:  # links: T itself stays; named: a private folder
            continue
        name = target.path.rpartition("/")[2]
        remedy = "use layout: links" if target.layout == "swap" else "mount its folder instead"
        for place in mounted_elsewhere(target.path, PREVIOUS + name):
            by = f" by {place.process}" if place.process else ""
            yield f"{target.path} is mounted at {place.point}{by}, where a new set is not seen ({remedy})"
