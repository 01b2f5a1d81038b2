"""Describes the steps of a Delivery in words, for `plan`, which does not carry them out."""

from collections.abc import Iterator

from syncret.config.resources.delivery.delivery import DeliverySpec
from syncret.config.resources.delivery.steps import DeliveryReload


def then(spec: DeliverySpec) -> str:
    """Its steps in their order, such as `check nginx-check.service, reload nginx.service`; empty: none."""
    return ", ".join(_steps(spec))


def _steps(spec: DeliverySpec) -> Iterator[str]:
    check, reload, healthy = spec.check, spec.reload, spec.healthy
    if check is not None:
        program = " ".join(check.exec or ())
        who = f" as {check.user}" if check.user else ""
        where = " at the live path" if check.view == "mounted" else ""
        yield f"check {check.unit or program}{who}{where}"
    if reload is not None:
        yield _reload(reload)
    if healthy is not None:
        asked = (healthy.http and healthy.http.url) or (healthy.tls and healthy.tls.address)
        yield f"prove {healthy.unit or asked or ' '.join(healthy.exec or ())}"


def _reload(step: DeliveryReload) -> str:
    if step.unit:
        return f"{step.action} {step.unit}"
    if step.signal is not None:
        whom = step.signal.pid_file or step.signal.process or step.signal.container
        return f"send {step.signal.signal} to {whom}"
    if step.http is not None:
        return f"{step.http.method} {step.http.url}"
    return f"run {' '.join(step.exec or ())}"
