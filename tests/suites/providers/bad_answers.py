"""What something in a manager's place may answer: a page, bytes, JSON of another API, far too much."""

from aiohttp import web

CANARY = "canary-4e1b"
"""Stands in each answer, and may be told by nobody."""


def page(_request: web.Request) -> web.StreamResponse:
    return web.Response(text=f"<html>{CANARY}", content_type="text/html")


def missing_page(_request: web.Request) -> web.StreamResponse:
    return web.Response(text=f"<html>{CANARY}", content_type="text/html", status=404)


def binary(_request: web.Request) -> web.StreamResponse:
    return web.Response(body=b"\x00\xff" + CANARY.encode(), content_type="application/json")


def no_utf_8(_request: web.Request) -> web.StreamResponse:
    return web.Response(body=b'{"a": "\xff' + CANARY.encode() + b'"}', content_type="application/json")


def of_another_api(_request: web.Request) -> web.StreamResponse:
    return web.json_response({"a": [CANARY, {"b": CANARY}]})


def huge(_request: web.Request) -> web.StreamResponse:
    return web.json_response({"a": CANARY * 10**6})


def elsewhere(_request: web.Request) -> web.StreamResponse:
    return web.Response(status=302, headers={"Location": "http://127.0.0.2:1/login"})


def too_many(_request: web.Request) -> web.StreamResponse:
    return web.json_response({"message": CANARY, "status": 429}, status=429)


def broken(_request: web.Request) -> web.StreamResponse:
    return web.Response(text=CANARY, status=500)
