"""`syncret template`: renders one Go template, and writes exactly what it rendered."""

import os
import sys
from argparse import Namespace
from datetime import datetime

from syncret.config.errors import ConfigError
from syncret.config.visible import printable
from syncret.daemon.cli.exit_codes import FAILED, INVALID, OK
from syncret.daemon.cli.given_files import print_file_problems, read_file, read_value, values_of_manifest
from syncret.daemon.cli.settings import settings_of
from syncret.daemon.cli.terminal import print_text
from syncret.daemon.core.templating.functions.contract import Context
from syncret.daemon.core.templating.golang.budget import Budget
from syncret.daemon.core.templating.golang.errors import TemplateError
from syncret.daemon.core.templating.golang.template import NO_FUNCTIONS, Functions, Template
from syncret.daemon.core.templating.golang.values import Value, string_map, text_of
from syncret.providers.errors import OverBudget
from syncret.providers.work import Work


def run(options: Namespace) -> int:
    """Render the template, or only parse it. Nothing is written if it fails."""
    try:
        text = text_of(read_file(options.file))
        data: Value = {} if options.data is None else _data(options.data)
        budget = _budget(options)
    except ConfigError as error:
        print_file_problems(error)
        return INVALID
    try:
        template = Template.parse(options.file, text, Work(), _functions(options.functions), options.delims)
        if not options.check:
            context = Context(now=datetime.now().astimezone(), random=os.urandom, budget=budget)
            sys.stdout.buffer.write(template.render(data, context, missing_key=options.missing_key))
            sys.stdout.buffer.flush()
    except (TemplateError, OverBudget) as error:
        message = f"error: {error}" + (f" ({error.hint})" if error.hint else "")
        print_text(sys.stderr, printable(message))
        return FAILED
    return OK


def _budget(options: Namespace) -> Budget:
    """The limits of the rendering, by the settings. Raises ConfigError."""
    settings = settings_of(options)
    return Budget(
        seconds=settings.template_time, memory=settings.template_memory, keys=settings.template_keys
    )


def _functions(which: str) -> Functions:
    if which == "go":
        return NO_FUNCTIONS
    from syncret.daemon.core.templating.operator import FUNCTIONS

    return FUNCTIONS


def _data(file: str) -> Value:
    """The value of `.` in the template. Raises ConfigError."""
    value = read_value(file)
    values = values_of_manifest(file, value)
    return value if values is None else string_map(values)
