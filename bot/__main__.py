"""`signoff`, and `python -m bot`: reads the command line and the settings, hands on, and turns errors into sentences.

Exit codes: 0 done, 1 cannot go on (the sentence is on stderr), 2 wrong usage, 130 interrupted at the keyboard.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from argparse import Namespace
from importlib.metadata import PackageNotFoundError, version
from typing import TextIO

from bot.cli.arguments import build_parser
from bot.clock import SystemClock, new_id
from bot.errors import SettingsError, SignoffError
from bot.logs import configure_logging
from bot.redact import Redactor
from bot.settings import Settings, export_env_file, known_secrets, load_settings
from bot.streams import masked_output
from storage.database import DatabaseError


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line says; the exit code."""
    chosen = build_parser().parse_args(arguments)
    redactor = Redactor({})
    with masked_output(redactor) as stderr:
        return _main(chosen, redactor, stderr)


def _main(chosen: Namespace, redactor: Redactor, stderr: TextIO) -> int:
    """`stderr` is for the logs, which are masked already; `redactor` learns what the settings hold."""
    try:
        if chosen.version:
            print(f"signoff {_version()}")
            return 0
        try:
            settings = load_settings()
        except SettingsError as error:
            if chosen.command != "doctor":
                raise
            return _report_settings(error, chosen)
        export_env_file()
        redactor.learn(known_secrets(settings))
        command = chosen.command or ("run" if settings.token is not None else "playground")
        configure_logging(settings, redactor, stderr, quiet=command != "run")
        code = _do(command, chosen, settings, redactor)
        sys.stdout.flush()
        return code
    except (SignoffError, DatabaseError) as error:
        print(f"signoff: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read our output has had enough; the interpreter's own flush at exit must not complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception:  # the outermost edge: an unknown error is logged, masked, and ends the program
        logging.getLogger("signoff").exception("unexpected error", extra={"action": "crashed"})
        return 1


def _do(command: str, chosen: Namespace, settings: Settings, redactor: Redactor) -> int:
    """Each command imports what it needs: a listing must not wait for Discord's and the model's libraries."""
    if command in {"run", "playground"}:
        from bot.cli import run

        if command == "run":
            return run.run_bot(settings, redactor)
        return run.open_playground(settings, chosen)
    if command == "doctor":
        from bot.cli import checkup

        return asyncio.run(checkup.check(settings, redactor, as_json=chosen.json))
    if command == "migrate":
        from bot.cli import migrate

        return asyncio.run(migrate.migrate(settings))

    if command == "policy":
        from bot.cli import policy

        return policy.test(settings, chosen)

    if command == "resolve":
        from bot.cli import resolving

        return asyncio.run(resolving.resolve(settings, chosen, SystemClock(), redactor))

    from bot.cli import listings

    match command, getattr(chosen, "verb", None):
        case "approvals", "list":
            asyncio.run(listings.list_approvals(settings, chosen))
        case "approvals", "show":
            asyncio.run(listings.show_approval(settings, chosen))
        case "approvals", "cancel":
            asyncio.run(listings.cancel_approval(settings, chosen, SystemClock()))
        case "jobs" | "job", "start":
            from bot.cli import job_start

            asyncio.run(job_start.start(settings, chosen, SystemClock(), new_id))
        case "jobs" | "job", "cancel":
            from bot.cli import job_cancel

            asyncio.run(job_cancel.cancel(settings, chosen, SystemClock()))
        case "jobs" | "job", "list":
            asyncio.run(listings.list_jobs(settings, chosen))
        case "jobs" | "job", "show":
            asyncio.run(listings.show_job(settings, chosen))
        case "schedules", "list":
            from bot.cli import schedules

            asyncio.run(schedules.list_schedules(settings, chosen, SystemClock()))
        case "usage", _:
            from bot.cli import usage

            asyncio.run(usage.list_usage(settings, chosen, SystemClock()))
        case "grants", "list":
            from bot.cli import grants

            asyncio.run(grants.list_grants(settings, chosen, SystemClock()))
        case "audit", "list":
            asyncio.run(listings.list_audit(settings, chosen))
        case "audit", "show":
            asyncio.run(listings.show_timeline(settings, chosen))
        case "audit", "export":
            asyncio.run(listings.export_audit(settings))
        case "audit", "verify":
            return asyncio.run(listings.verify_audit(settings, chosen))
    return 0


def _report_settings(error: SettingsError, chosen: Namespace) -> int:
    from bot.cli import checkup

    return asyncio.run(checkup.report_settings(error, as_json=chosen.json))


def _version() -> str:
    try:
        return version("signoff")
    except PackageNotFoundError:
        return "(run from its source, not installed)"


if __name__ == "__main__":
    sys.exit(main())
