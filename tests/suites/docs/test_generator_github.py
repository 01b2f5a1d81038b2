"""The guide of GithubAccessToken does what it says, at a server that verifies what it is sent."""

import os
import time
from pathlib import Path
from textwrap import indent

from aiohttp import web

from syncret.config.settings import Settings
from syncret.daemon.one_pass import one_pass
from syncret.providers.registry import Registry
from tests.suites.docs.pages import ROOT, blocks
from tests.support.jwts import pem, private_key, verified
from tests.support.served import all_to, served

PAGE = ROOT / "docs" / "providers" / "github.md"
SHOWN = {block.title: block.text for block in blocks(PAGE) if block.title}
KEY = private_key("github-app")


async def test_the_guide(tmp_path: Path) -> None:
    asked: list[object] = []

    async def issue(request: web.Request) -> web.StreamResponse:
        token = request.headers["Authorization"].removeprefix("Bearer ")
        claims = verified(token, lambda _kid: KEY.public_key(), now=time.time())
        asked.append((request.path, claims["iss"], await request.json()))
        return web.json_response({"token": "ghs_16C7e42F292c69"}, status=201)

    manifests = tmp_path / "manifests"
    manifests.mkdir()
    [example] = [line for line in SHOWN["token.yaml"].splitlines() if "as GitHub gave it" in line]
    key = indent(pem(KEY), "    ").rstrip()
    async with served(all_to(issue)) as url:
        text = SHOWN["token.yaml"].replace(example, key).replace("url: https://github.example", f"url: {url}")
        (manifests / "token.yaml").write_text(text)
        settings = Settings(
            manifests=(os.fspath(manifests),), output_dir=os.fspath(tmp_path / "out"), state_file=""
        )
        result = await one_pass(settings, Registry())
    held = (tmp_path / "out" / "default" / "git" / "credentials").read_text()

    assert (result.problems, result.failures) == ([], {})
    assert f"credentials: {held}\n" == SHOWN["result"]
    wanted = {"repositories": ["web", "api"], "permissions": {"contents": "read"}}
    assert asked == [("/api/v3/app/installations/7891011/access_tokens", "123456", wanted)]
