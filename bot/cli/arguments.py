"""What can be typed after `signoff`, and what `--help` says about it."""

from __future__ import annotations

import argparse
from pathlib import Path

_ABOUT = """\
An AI agent in your Discord server that does nothing consequential without a person's sign-off.

Without a command: runs the bot, when DISCORD_TOKEN or DISCORD_TOKEN_FILE is set; else opens the playground,
a whole guild on this machine to try it in. Settings come from the environment, .env and signoff.toml in the
current folder; .env.example lists them all.
"""

_AFTER = """\
exit codes: 0 done; 1 cannot go on, and one sentence on standard error says why; 2 wrong usage.
"""

_JSON = "print one JSON array of objects, each with an `id`; times are milliseconds since 1970 UTC"


class _Help(argparse.RawDescriptionHelpFormatter):
    """Leaves the paragraphs as they are, and room for the commands' names."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=24, width=110)


def build_parser() -> argparse.ArgumentParser:
    """The whole command line. `command` in the result is None when nothing was typed."""
    parser = argparse.ArgumentParser(prog="signoff", description=_ABOUT, epilog=_AFTER, formatter_class=_Help)
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    commands.add_parser("run", help="run the bot on Discord (needs a token)")
    _playground(commands.add_parser("playground", help="open a guild on this machine and run the bot in it"))
    _approvals(commands.add_parser("approvals", help="look at what waits for a decision, and what became of it"))
    _resolve(commands.add_parser("resolve", help="hand in the result of a call that waits for one from elsewhere"))
    _jobs(commands.add_parser("jobs", aliases=["job"], help="start background work, look at it, or stop it"))
    _schedules(commands.add_parser("schedules", help="look at what starts by itself at set times"))
    _grants(
        commands.add_parser("grants", help="look at what runs without asking, because people allowed it for a time")
    )
    _audit(commands.add_parser("audit", help="who did what, and whether that record is whole"))

    _usage(commands.add_parser("usage", help="what the model was asked for: tokens, cost and calls"))

    _policy(commands.add_parser("policy", help="try the rules about what runs without asking"))

    doctor = commands.add_parser("doctor", help="check settings, data, sandbox, model and Discord, and say what to do")
    doctor.add_argument("--json", action="store_true", help=_JSON)
    commands.add_parser("migrate", help="bring the database to this version's form (the bot does it at its start too)")
    return parser


def _playground(parser: argparse.ArgumentParser) -> None:
    parser.description = "Opens a guild in your browser with the real bot in it. Nothing reaches Discord."
    parser.add_argument("--port", type=int, default=8484, help="its port on 127.0.0.1 (8484; a free one if taken)")
    parser.add_argument(
        "--state", type=Path, metavar="DIR", help="where the guild is kept (playground/ beside the database)"
    )
    parser.add_argument("--no-browser", action="store_true", help="print the address, open nothing")


def _approvals(parser: argparse.ArgumentParser) -> None:
    parser.description = "Reads the database, also while the bot runs. Deciding is done on the cards, by people."
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    _listing(verbs.add_parser("list", help="what waits for a decision or runs"))
    _one(verbs.add_parser("show", help="everything about one request, its arguments included"))
    cancel = verbs.add_parser("cancel", help="take back a request that still waits: nothing will run")
    cancel.add_argument("id", help="its id, or the beginning of it")


def _resolve(parser: argparse.ArgumentParser) -> None:
    parser.description = "Counts once, also while the bot runs or is down. Secrets that signoff knows are masked."
    parser.add_argument("id", help="the call's id as its card shows it, or the beginning of it")
    result = parser.add_mutually_exclusive_group()
    result.add_argument("--text", help="the result; with --failed, why there is none")
    result.add_argument("--file", type=Path, metavar="PATH", help="a UTF-8 file with the result; - for standard input")
    parser.add_argument("--failed", action="store_true", help="there is no result: it failed")


def _jobs(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    _listing(verbs.add_parser("list", help="jobs that have not ended"))
    _one(verbs.add_parser("show", help="everything about one job"))
    cancel = verbs.add_parser("cancel", help="stop one, and what it still asks; the running bot tells the people")
    cancel.add_argument("id", help="its id, or the beginning of it")
    start = verbs.add_parser("start", help="start one; the running bot takes it up, shows it and announces its end")
    start.add_argument("goal", help="what it is to do, complete in itself")
    start.add_argument("--in", dest="place", required=True, metavar="CHANNEL", help="a channel's link, or its place")
    start.add_argument("--for", dest="person", required=True, metavar="ID", help="whose job it is: a numeric user id")
    start.add_argument("--notify", choices=("channel", "dm", "both"), help="where its result goes (as they set it)")
    start.add_argument("--budget", type=int, metavar="MINUTES", help="compute time, if less than the usual hour")


def _schedules(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    _listing(verbs.add_parser("list", help="schedules that run or are paused, and their next times"))


def _grants(parser: argparse.ArgumentParser) -> None:
    parser.description = "Reads the database, also while the bot runs. Grants are made on cards and revoked in /grants."
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    _listing(verbs.add_parser("list", help="exact calls that are allowed for a time, whose, and by whom"))


def _audit(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    listing = verbs.add_parser("list", help="the newest entries, oldest first")
    listing.add_argument("--approval", metavar="ID", help="only what concerns this request (id, or its beginning)")
    listing.add_argument("--limit", type=int, default=200, metavar="N", help="how many of the newest (200)")
    listing.add_argument("--all", action="store_true", help="every entry")
    listing.add_argument("--json", action="store_true", help=_JSON)
    _one(verbs.add_parser("show", help="the whole story of one request: asked, shown, pressed, decided, run, told"))
    verify = verbs.add_parser("verify", help="check the chain of hashes; exits 1 and names the row if it is broken")
    verify.add_argument("--json", action="store_true", help="print the finding as a JSON object")
    verbs.add_parser("export", help="print every entry as a line of JSON, with its hash")


def _policy(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    test = verbs.add_parser("test", help="try the examples in signoff.toml; exits 1 if one is not as expected")
    test.add_argument("--json", action="store_true", help="print one JSON array, an object for each example")


def _usage(parser: argparse.ArgumentParser) -> None:
    parser.description = "Adds up what calls of the model took, today included; days are those of UTC."
    parser.add_argument("--days", type=int, default=30, metavar="N", help="how many days back (30; 400 are kept)")
    by = ("person", "place", "guild", "model", "day")
    parser.add_argument("--by", choices=by, default="person", help="what to add up by (person)")
    parser.add_argument("--json", action="store_true", help=_JSON)


def _listing(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="also what has ended")
    parser.add_argument("--json", action="store_true", help=_JSON)


def _one(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", help="its id, or the beginning of it")
    parser.add_argument("--json", action="store_true", help="print it as a JSON object")
