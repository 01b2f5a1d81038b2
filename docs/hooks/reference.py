"""Writes the reference pages from the code while the site is built, so that they cannot fall behind it."""

import argparse
from collections.abc import Iterable, Iterator

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from syncret.config.schema.field_docs import fields_of, form_of
from syncret.config.schema.shape import shape_of
from syncret.config.settings_table import describe
from syncret.config.text.yaml import to_flow
from syncret.daemon.admission.metrics import WebhookMetrics
from syncret.daemon.cli.commands.providers import CAPABILITIES, generator_rows, note, provider_rows
from syncret.daemon.cli.parser.arguments import parser
from syncret.daemon.install.chart.keys import idle, leaves
from syncret.daemon.install.chart.values import VALUES
from syncret.daemon.operator.metrics import OperatorMetrics
from syncret.daemon.ops.metric_families import FAMILIES
from syncret.daemon.ops.metrics import Metrics
from syncret.providers.azurerm import types as azure
from syncret.providers.registry import Registry

COMMAND_LINE = """\
# Command line

Exit codes are a contract: 0 everything is in sync, 1 a resource failed, 2 a manifest or the usage is invalid,
3 the state or the target cannot be used. Those of `exec` are those of the program; before it runs also 125,
126 and 127, as `env` and `timeout` have them.

## Output

On a terminal, tables and messages fit its width. Names are cut in the middle and paths at the start (`…`),
the status is wrapped, and what does not fit beside the others goes below its row, as remedies always do.
`-o wide` cuts nothing, and names the manifest of each object. What is not in order comes first: its READY
is `NO`.

Where the output is no terminal, nothing is cut, wrapped or coloured: each object is one line, and its
columns are two spaces apart, for `grep`, `less -S` and files. Programs should read `-o json`, which does
not change with the wording. Progress is shown on standard error, if that is a terminal.

`NO_COLOR=1` and `TERM=dumb` turn colours off, `COLUMNS` sets the width. Characters that steer a terminal,
such as escape sequences in the message of a server, are shown as `\\x1b`, in JSON as `\\u001b`.

## Naming an object

`explain` and `refresh` take `KIND/NAME` and `KIND NAME`, as kubectl does, and `KIND/NAMESPACE/NAME`, as
tables and logs show it. Kinds may be plural or short (`es`, `ps`, `ss`, `css`, `ces`, `cps`), in any case.
The scripts of `syncret export completion bash|zsh|fish` complete kinds, names and namespaces of the running
daemon.

"""

SETTINGS = """\
# Settings

A setting is read from four places; a later one wins: the default, the settings file (`--config`), the
environment, the command line (a flag of its own, or `--set NAME=VALUE`). That is so in all commands: what
`syncret run` reads from a settings file, `sync`, `plan`, `validate`, `status` and `template` read from it,
too, and none of them needs a flag for what the file or the environment says. Only `outputDir` and `stateFile`
have no default in `sync` and `plan`: these write nowhere, and remember nothing, unless one of the other three
names a place. `simulate`, `providers`, `export` and `explain --field` read no settings. SIGHUP lets the
daemon read the file again. `syncret export settings` prints this table as a settings file.

A name that is no setting is an error (exit code 2) with the nearest name, also that of a variable that begins
with `SYNCRET_`. Passed over are the variables that Kubernetes sets for Services whose names begin with
`syncret` (`*_SERVICE_HOST`, `*_SERVICE_PORT*`, `*_PORT_9847_*`, and `*_PORT` if its value is an address such
as `tcp://10.0.0.1:9847`), and those of the project's own tests (`SYNCRET_CORPUS`, `SYNCRET_CONFORMANCE_ALL`,
`SYNCRET_KILLS`, `SYNCRET_PROVIDER_TABLE`, `SYNCRET_SEED`).

A duration is written as `30s` or `1h30m`, or as a number of seconds. A file mode is written in octal and in
quotes, as `"0640"`. Paths are a list in the file, and are separated by `:` in the environment. Other lists
are separated by `,` there; a list of objects is written as in the file: `[{path: /a}, /b]`. A name with a dot
is a setting in a group: `egress: {deny: [private]}` in the file, `SYNCRET_EGRESS_DENY=private` in the
environment, `--set egress.deny=private` on the command line.

| in the file | in the environment | takes | default | meaning |
|---|---|---|---|---|
"""

METRICS = """\
# Metrics

The daemon serves `/metrics` at the address of the setting `listen`, in Prometheus' text format. For scraping,
alerts and queries, see [monitoring](../guides/monitoring.md).

Names and labels are those of the External Secrets Operator where it has the metric; syncret's own metrics
begin with `syncret_`. The series of an object disappear with the object. Above 20,000 objects only totals are
exported, and `syncret_objects_untold` says how many objects have no series.

`provider` and `call` have the operator's values where it counts the call (`HashiCorp/Vault`,
`ReadSecretData`), otherwise the provider's name in a manifest and syncret's operation (`fake`, `read`;
`probe` is the check of a store). One call is one operation: a push that reads before it writes counts once,
as the request that writes. For a generator that calls a server, `provider` is its kind, `call` is `generate`
or `cleanup`, and `store` is the generator.

`controller_runtime_*` and `workqueue_*` are what the operator's framework exports: `controller` and `name`
are a kind in lower case. What is different: all kinds share one queue and its workers, so that
`controller_runtime_max_concurrent_reconciles` is the same for each; a run that waits for a secret manager
uses no worker; a failure that only a change can help counts as a terminal error, where the operator counts a
success. Histograms appear with the first run of a kind. What a host does not have is absent: the admission
webhook (in a cluster, with the setting `webhook.enabled`: `webhook` is a path), leader election, requests to
an API server. Labels of the resource are never added.

| name | type | labels | meaning |
|---|---|---|---|
"""

PROVIDERS = """\
# Secret managers and generators

This is what `syncret providers` prints, generated from the code: a capability is a method that the provider's
client has, not a declaration. *Batch* is how many keys one call can read. A vendor's published limit is the
default of the store's [bucket](../concepts/sessions.md#how-requests-are-combined), if it is lower than the
settings: the page of the provider names it. `spec only` means that manifests are validated and can be
[simulated](../concepts/simulate.md#simulated-stores), but that syncret
cannot connect to the manager.

"""

CHART = """\
# Values of the chart

The chart (`charts/syncret`, see [In a cluster](../guides/kubernetes.md#install-it-with-helm)) takes every
value of ESO's chart 2.9, with the same name and mostly the same default. What it makes of a file is also what
`syncret export manifests --values FILE` makes of it, without Helm. A key that is not here is refused.

| value | default | meaning |
|---|---|---|
"""

IDLE = """
## Values without effect

They are accepted, so that a values file can stay as it is; the notes of an installation name those that were
changed.

| value | why |
|---|---|
"""


SECRET_APIS = """\
# Secret APIs of Azure

What an expression of a [dynamic export](../guides/exports.md) finds under `secret`, by the kind of the
resource. A call is made only if an expression uses one of its names, and one call serves them all. Names
without a call come from the resource's status. Calls are POST below `status.id`, which must be of the
resource type.

The names are those of Azure Service Operator, whose kinds these are. `Registry`, `WebPubSub` and
`AutomationAccount` have names of their own, as that exports no secrets of them.

| kind | resource type | call | version | names |
|---|---|---|---|---|
"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that stand in no folder."""
    pages = {
        "cli": COMMAND_LINE + "".join(_commands(parser())),
        "settings": SETTINGS + "".join(_settings()),
        "metrics": METRICS + "".join(_metrics()),
        "chart": CHART + "".join(_chart_values()),
        "providers": PROVIDERS + "".join(_providers(files)),
        "secret-apis": SECRET_APIS + "".join(_secret_apis()),
    }
    for name, text in pages.items():
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    return files


def _commands(top: argparse.ArgumentParser) -> Iterator[str]:
    yield f"```text\n{top.format_help()}```\n"
    for action in top._actions:  # noqa: SLF001  # argparse has no other way to its sub-commands
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for name, command in action.choices.items():
                yield f"\n## {name}\n\n```text\n{command.format_help()}```\n"


def _settings() -> Iterator[str]:
    registry = Registry()
    for setting in describe():
        meaning = _cell(f"{setting.meaning} For example `{setting.example}`.")
        default = f"`{setting.default}`" if setting.default else ""
        yield f"| `{setting.name}` | `{setting.variable}` | {setting.syntax} | {default} | {meaning} |\n"
        inside = f"{setting.name}{'.<key>' if setting.is_map else ''}[]"
        for each in (field for model in setting.objects for field in fields_of(shape_of(model), registry)):
            meaning = _cell(f"{each.text} For example `{to_flow(each.example)}`.")
            yield f"| `{inside}.{each.name}` |  | {form_of(each.shape)} |  | {meaning} |\n"


def _cell(text: str) -> str:
    return text.replace("<", "&lt;").replace("|", "\\|")


def _secret_apis() -> Iterator[str]:
    """A row for each call, and for what needs none."""
    for each in azure.TYPES:
        start = f"| {each.kind} (`{each.group}`) | `{each.type}` |"
        for call in each.calls:
            names = ", ".join(f"`{name}`" for name in call.names)
            yield f"{start} `{call.action}` | {call.version} | {names} |\n"
        if each.fields:
            names = ", ".join(f"`{name}`" for name in each.fields)
            yield f"{start} none | | {names} |\n"


def _metrics() -> Iterator[str]:
    for family in FAMILIES:
        yield _metric(family.name, family.type, family.labels, family.text)
    registry = Metrics(lambda: 0.0).registry
    WebhookMetrics(registry)
    OperatorMetrics(registry)
    for collector in registry._collector_to_names:  # noqa: SLF001  # the labels are nowhere else before a sample is
        for metric in collector.collect():
            suffix = "_total" if metric.type == "counter" else ""
            labels = getattr(collector, "_labelnames", ())
            yield _metric(metric.name + suffix, metric.type, labels, metric.documentation)


def _chart_values() -> Iterator[str]:
    """A row for each value, and for each group or value that has no effect."""
    for path, key in leaves(VALUES):
        if key.has_effect:
            default = "" if key.default is None else f"`{_cell(to_flow(key.default))}`"
            yield f"| `{path}` | {default} | {_cell(key.about)} |\n"
    yield IDLE
    for path, about in idle(VALUES):
        yield f"| `{path}` | {_cell(about.removeprefix('No effect: '))} |\n"


def _providers(files: Files) -> Iterator[str]:
    registry = Registry()
    words = tuple(CAPABILITIES.values())
    yield f"| provider | {' | '.join(words)} | batch | note |\n|---|{'---|' * len(words)}---|---|\n"
    for row in provider_rows(registry):
        guide = f"providers/{row.name.lower()}.md"
        name = f"[{row.name}](../{guide})" if files.get_file_from_path(guide) else row.name
        can = " | ".join("✓" if word in row.can else "" for word in words)
        batch = row.batch if row.reachable and row.batch > 1 else ""
        yield f"| {name} | {can} | {batch} | {note(row)} |\n"
    yield "\n| generator | draws | cleans up | note |\n|---|---|---|---|\n"
    for each in generator_rows(registry):
        draws, cleans = ("✓" if fact else "" for fact in (each.reachable, each.cleans_up))
        yield f"| {each.kind} | {draws} | {cleans} | {note(each)} |\n"


def _metric(name: str, kind: str, labels: Iterable[str], text: str) -> str:
    return f"| `{name}` | {kind} | {' '.join(f'`{label}`' for label in labels)} | {text} |\n"
