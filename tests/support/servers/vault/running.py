"""The real Vault of a test run: one process for all tests, each with mounts of its own."""

import atexit
import itertools
import json
import os
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from syncret.config.fields import Json
from tests.support.servers.golang import built, need_go

ROOT_TOKEN: Final = "root-token-of-the-tests"
_FLAGS: Final = ("-mod=mod", "-ldflags=-s -w")
_numbers = itertools.count(1)


class Vault:
    """A server, and everything that an administrator does to it. Blocking, and quick."""

    def __init__(self, *arguments: str, trust: str = "") -> None:
        self._process = subprocess.Popen(
            [_program(), "-root-token", ROOT_TOKEN, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        atexit.register(self.stop)
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()
        assert self.url, "the server did not start"
        self._trust = ssl.create_default_context(cadata=trust) if trust else None
        if self._trust is not None:
            self._trust.verify_flags &= ~ssl.VERIFY_X509_STRICT  # the authority of the tests is a plain one

    def stop(self) -> None:
        """The end of the server, and of all that it holds."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def request(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, *, token: str = ROOT_TOKEN
    ) -> tuple[int, dict[str, Any]]:
        """The status and the decoded answer of one request below /v1."""
        request = urllib.request.Request(  # noqa: S310  # our own server
            f"{self.url}/v1/{quote(path, safe='/?=&')}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"X-Vault-Token": token},
        )
        try:
            with urllib.request.urlopen(request, timeout=60, context=self._trust) as answer:  # noqa: S310  # as above
                return answer.status, json.loads(answer.read() or b"{}")
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.loads(error.read() or b"{}")

    def write(self, path: str, **body: Json) -> dict[str, Any]:
        """What an administrator writes must be accepted."""
        for _ in range(100):
            status, answer = self.request("POST", path, body)
            if status < 300:
                return answer
            # A new engine of version 2 needs a moment.
            assert "upgrading" in str(answer).lower(), f"{path}: {status} {answer}"
            time.sleep(0.01)
        raise AssertionError(f"{path} is not ready")

    def read(self, path: str) -> dict[str, Any] | None:
        """The data there, if any."""
        status, answer = self.request("GET", path)
        return answer["data"] if status == 200 else None

    def mount(self, kind: str = "kv", **options: str) -> str:
        """A new engine; its path."""
        path = f"{kind}-{next(_numbers)}"
        self.write(f"sys/mounts/{path}", type=kind, options=options)
        return path

    def login(self, kind: str) -> str:
        """A new login method; its path."""
        path = f"{kind}-{next(_numbers)}"
        self.write(f"sys/auth/{path}", type=kind)
        return path

    def policy(self, **paths: str) -> str:
        """A new policy: for each path (`*` stands for what follows) its capabilities, with spaces between."""
        name = f"policy-{next(_numbers)}"
        rules = "\n".join(
            f'path "{path}" {{ capabilities = {json.dumps(can.split())} }}' for path, can in paths.items()
        )
        self.request("PUT", f"sys/policies/acl/{name}", {"policy": rules})
        return name

    def token(self, *policies: str, **options: Json) -> str:
        """A new token."""
        made = self.write("auth/token/create", policies=list(policies), no_parent=True, **options)
        return str(made["auth"]["client_token"])


def _program() -> str:
    """The server's program: `VAULT_BIN`, or built now."""
    given = os.environ.get("VAULT_BIN")
    if given:
        return given
    need_go()
    return str(built(Path(__file__).parent, packages=("./cmd/vault",), flags=_FLAGS) / "vault")


@cache
def vault() -> Vault:
    """The server of this run. It starts in half a second, once it is built."""
    return Vault()
