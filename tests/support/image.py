"""The container image, built by buildah from the Dockerfile, on a base made of Debian's packages or another.

python -m tests.support.image FOLDER [BASE]    writes the image into the folder, as an archive
"""

import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.support.debian import ROOT, missing_tools, root_tar, run, wheels

PACKAGES = ("ca-certificates", "libstdc++6", "python3", "python3-venv")
TOOLS = ("buildah", "mmdebstrap")
[BASE] = re.findall(r"^ARG BASE=(\S+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
"""The Dockerfile's default; in a storage of ours, the base that was made here: no registry is asked."""
IMAGE = "localhost/syncret"


@dataclass(frozen=True)
class Storage:
    """A folder of images."""

    folder: Path

    def buildah(self, *arguments: str | Path) -> str:
        """What one command of buildah prints."""
        places = (f"--root={self.folder}/root", f"--runroot={self.folder}/run", "--storage-driver=vfs")
        return run("buildah", *places, *arguments, BUILDAH_ISOLATION="chroot").strip()

    def make_base(self) -> None:
        """The base, of Debian's packages."""
        base = self.buildah("from", "scratch")
        self.buildah("add", "--quiet", base, root_tar(PACKAGES, variant="essential"), "/")
        self.buildah("commit", "--quiet", "--rm", base, BASE)

    def build(self, base: str = "") -> None:
        """The image, on that base or on ours, for which the libraries are in a folder."""
        if base:
            arguments = [f"--build-arg=BASE={base}"]
        else:
            arguments = [f"--volume={wheels()}:/wheels:ro"]
            arguments += ["--build-arg=PIP_NO_INDEX=1", "--build-arg=PIP_FIND_LINKS=/wheels"]
        self.buildah("bud", "--quiet", *arguments, f"--tag={IMAGE}", ROOT)

    def remove(self) -> None:
        self.buildah("rm", "--all")
        self.buildah("rmi", "--all", "--force")


def main(folder: str, base: str = "") -> None:
    """Build and write `syncret-image.tar`, or say why not: wheels are built everywhere, images are not."""
    missing = missing_tools(*(TOOLS[:1] if base else TOOLS))
    if missing:
        sys.stdout.write(f"the image is not built: {missing}\n")
        return
    archive = Path(folder, "syncret-image.tar")
    archive.parent.mkdir(parents=True, exist_ok=True)
    archive.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as name:
        storage = Storage(Path(name))
        try:
            if not base:
                storage.make_base()
            storage.build(base)
            storage.buildah("push", "--quiet", IMAGE, f"docker-archive:{archive}:syncret:latest")
        finally:
            storage.remove()
    sys.stdout.write(f"{archive}: load it with `docker load --input {archive}`\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
