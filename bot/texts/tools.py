"""What `/tools` says of each tool."""

from __future__ import annotations

from bot.texts.entry import text

ENTRIES = {
    "allowed": text("runs without asking", de="läuft ohne Fragen"),
    "asks": text("asks first", de="fragt erst"),
    "asks_you": text("asks you a question", de="stellt dir eine Frage"),
    "waits_elsewhere": text("waits for a result from elsewhere", de="wartet auf ein Ergebnis von anderswo"),
    "refused": text("refused here", de="hier verweigert"),
    "see_why": text("an approver sees why in this list", de="ein Genehmiger sieht in dieser Liste, warum"),
    "page": text(", page {page} of {pages}", de=", Seite {page} von {pages}"),
    "head": text(
        "### {n} tools{page}\n-# What follows holds for you, in this place, at this moment.",
        de="### {n} Werkzeuge{page}\n-# Was folgt, gilt für dich, an diesem Ort, in diesem Augenblick.",
    ),
    "lost": text(
        "lost ({why}); I keep trying to reach it", de="verloren ({why}); ich versuche weiter, ihn zu erreichen"
    ),
    "connected_changed": text(
        "connected; {n} of its tools changed since they were taken for good",
        de="verbunden; {n} seiner Werkzeuge haben sich geändert, seit sie für gut befunden wurden",
    ),
    "server": text("MCP server {name}: {state}.", de="MCP-Server {name}: {state}."),
    "servers": text(
        "-# {n} servers in all, {lost} of them lost.", de="-# {n} Server insgesamt, davon {lost} verloren."
    ),
    "server_says": text("The MCP server {name} says: {text}", de="Der MCP-Server {name} sagt: {text}"),
    "why": text("-# Why: {reason}", de="-# Warum: {reason}"),
    "depends": text(
        "-# For some arguments {rule} decides instead.", de="-# Bei manchen Argumenten entscheidet stattdessen {rule}."
    ),
    "may_touch": text("-# May touch: {what}", de="-# Darf anfassen: {what}"),
    "changed": text(
        "⚠ It is not what it was: {what}. It asks until a call is approved.",
        de="⚠ Es ist nicht mehr, was es war: {what}. Es fragt, bis ein Aufruf genehmigt ist.",
    ),
    "will_not_run": text("⚠ Off at this moment: {problem}", de="⚠ Im Augenblick aus: {problem}"),
    "connected": text("connected", de="verbunden"),
    "server_gone": text(
        "the MCP server {server} is not there: {problem}", de="der MCP-Server {server} ist nicht da: {problem}"
    ),
    "search_off": text(
        "-# `web_search` is off: there is no key for it (`SIGNOFF_TAVILY_KEY`).",
        de="-# `web_search` ist aus: dafür gibt es keinen Schlüssel (`SIGNOFF_TAVILY_KEY`).",
    ),
    "no_interpreter": text(
        "its interpreter is not installed (the package pydantic-monty-runtime)",
        de="sein Interpreter ist nicht installiert (das Paket pydantic-monty-runtime)",
    ),
}
