"""What is said about background jobs."""

from __future__ import annotations

from bot.texts.entry import text

ENTRIES = {
    "log_file": text("The whole of job `{id}`, for you alone.", de="Alles von Auftrag `{id}`, nur für dich."),
}
