"""Texts that have fooled people who read them before they approved something: a corpus by name, and what is made of it.

Sources of the kinds: UTS #36 and #39 (bidirectional text, confusables), CVE-2021-42574 (Trojan Source),
tag smuggling, Discord's own markdown reference, and the reports in this project's list of cases.
"""

from __future__ import annotations

import random
import unicodedata

BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
ZERO_WIDTH = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180e\u200b"
    "\u200c\u200d\u2060\u2061\u2062\u2063\u2064\u3164\ufeff\uffa0\ufffc"
)
SPACES = "\u0020\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u2800\u3000"
BREAKS = "\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\u2028\u2029"
CONTROLS = "".join(map(chr, [*range(0x20), *range(0x7F, 0xA0)]))
SELECTORS = "".join(map(chr, [*range(0xFE00, 0xFE10), 0xE0100, 0xE0101, 0xE01EF]))
TAGS = "".join(chr(0xE0000 + ord(char)) for char in "rm -rf ~;approve\x7f")
COMBINING = "\u0300\u0301\u0302\u0303\u0308\u0327\u0336\u0338\u0489\u20d2\u20e3\u1dc0\ufe20"
SURROGATES = "\ud800\udbff\udc00\udfff"
BEYOND = "\ue000\uf8ff\ufdd0\uffff\U0001fffe\U000f0000\U0010ffff"
NOTATION = "↵⇥␠⟨⟩…"

MARKDOWN = {
    "a fence": "```",
    "a fence with a tag": "```sh\n",
    "a fence that closes": "x\n```\n",
    "four backticks": "````",
    "one backtick": "`",
    "two backticks": "``",
    "a backtick in words": "a`b`c",
    "tildes": "~~~\nx\n~~~",
    "bold": "**Approved by Ana**",
    "underlined": "__safe__",
    "italic": "*safe*",
    "struck": "~~rm~~ ls",
    "a spoiler": "||rm -rf /||",
    "a heading": "# Approved",
    "a third heading": "### `shell` · done",
    "small": "-# low risk",
    "a quote": "> Approved",
    "the rest quoted": ">>> Approved",
    "a list": "- [x] approved",
    "a numbered list": "1. yes",
    "a masked link": "[docs](http://evil.example)",
    "a masked link with a title": '[docs](http://evil.example "docs")',
    "the end of a link": "](http://evil.example)",
    "the end of a link in words": "x ] y ](http://evil.example) z",
    "the beginning of a link": "[docs",
    "a link that hides its preview": "<http://evil.example>",
    "a link that looks like another": "[http://a.example](http://b.example)",
    "an escape": "\\`\\*\\_",
    "a trailing backslash": "rm \\",
    "html": "<b>Approved</b><!-- -->",
    "a table": "| a | b |\n|---|---|",
    "ansi": "```ansi\n\u001b[2;31mred\n```",
    "a link to a message": "https://discord.com/channels/1/2/3",
}
MENTIONS = {
    "everyone": "@everyone",
    "here": "@here",
    "a person": "<@1>",
    "a person, the old way": "<@!1>",
    "a role": "<@&1>",
    "a channel": "<#1>",
    "a command": "</approve:1>",
    "a subcommand": "</policy edit:1>",
    "an emoji": "<:ok:1>",
    "a moving emoji": "<a:ok:1>",
    "a time": "<t:1:R>",
    "a time without a style": "<t:1700000000>",
    "a section": "<id:guide>",
    "an e-mail": "a@everyone.example",
    "an everyone with a zero width space": "@\u200beveryone",
    "a sound": "<sound:1:2>",
}
FRAMES = {
    "our own code point": "⟨U+0041⟩",
    "our own count": "⟨9 spaces⟩",
    "our own count of lines": "⟨100 newlines⟩",
    "our own nothing": "⟨empty⟩",
    "our own newline": "ls↵rm",
    "our own tab": "⇥",
    "our own space": "␠",
    "our own end": "ls…",
    "our own remark": "-# 3 characters not shown",
    "our own question": "Asked by <@1> · `abc`",
    "a card of ours": "### `shell` · done\nAsked by <@1>",
    "a button's name": "Approve",
    "our own deadline": "Expires <t:1:R>",
    "a change of ours": "✎ <@1> changed `ls` → `rm`",
    "a warning of ours": "⚠ It is safe.",
    "a consent of ours": "Approved by <@1>. Missing: <@2>.",
}
SHELL = {
    "one word": "reboot",
    "one word and a line": "reboot\necho hi",
    "a language": "text",
    "a language and a line": "text\nrm",
    "a comment that hides": "ls # \u202emr",
    "padding by lines": "ls" + "\n" * 200 + "; rm -rf x",
    "padding by spaces": "ls" + " " * 3000 + "; rm -rf x",
    "padding by tabs": "ls" + "\t" * 300 + "; rm",
    "a carriage return": "rm -rf x\rls -l x",
    "a backspace": "rm\b\bls",
    "a cleared line": "rm x\x1b[2K\x1b[1Als",
    "a title": "\x1b]0;safe\x07ls",
    "a hyperlink": "\x1b]8;;http://x\x1b\\ls\x1b]8;;\x1b\\",
    "a NUL": "ls\x00; rm -rf x",
    "an end of text": "ls\x04rm",
    "a here document": "cat <<'EOF'\nrm\nEOF",
    "long": "x" * 10_000,
    "long, and the point at the end": "true " * 1_500 + "; rm -rf x",
    "long, and the point in the middle": "true; " * 900 + "rm x; " + "true; " * 900,
    "many lines": "\n".join(f"echo {n}" for n in range(500)),
    "indented": "def f():\n" + " " * 40 + "return 1",
    "blank": " ",
    "blank lines": "\n \n",
    "nothing": "",
    "only tabs": "\t\t",
    "spaces at both ends": "  ls  ",
    "a space at the end": "ls ",
    "two spaces": 'rm "a  b"',
    "a path upwards": "../../etc/passwd",
    "a null device": ">/dev/null",
    "a quote": "'\"'\"'",
    "a variable": "$(rm x)${IFS}y",
}
SCRIPTS = {
    "cyrillic a": "p\u0430ypal",
    "cyrillic word": "аpprove",
    "greek": "gοοgle",
    "fullwidth": "ｒｍ －ｒｆ",
    "mathematical": "𝐫𝐦 -rf",
    "script letters": "𝓇𝓂",
    "double struck": "𝕣𝕞",
    "fraktur": "𝖗𝖒",
    "monospace": "𝚛𝚖",
    "turkish i": "ı İ",
    "long s": "ſudo",
    "kelvin": "K",
    "roman": "ⅰⅱ",
    "superscript": "ʳᵐ",
    "circled": "ⓡⓜ",
    "squared": "🅁🄼",
    "negative squared": "🆁🅼",
    "parenthesised": "⒭⒨",
    "a dot that is none": "evil․example",
    "an ideographic dot": "evil。example",
    "a slash that is none": "a∕b⁄c",
    "a colon that is none": "http꞉//x",
    "a dash that is none": "rm ‐rf –rf —rf −rf",
    "a quote that is none": "‘rm’ “x” ′y″",
    "a backtick that is none": "ˋ｀‵",
    "a semicolon that is none": "ls；rm; x",
    "a pipe that is none": "ls｜rm ∣ x",
    "an at that is none": "＠everyone ﹫here",
    "an asterisk that is none": "＊∗",
    "a hash that is none": "＃ x",
    "a greater that is none": "＞ x › y",
    "armenian": "օ ո ս",
    "cherokee": "Ꭱᗰ",
    "coptic": "ⲟⲣ",
    "lisu": "ꓣꓟ",
    "deseret": "𐐬",
    "hebrew": "שלום ls",
    "arabic": "مرحبا rm",
    "arabic digits": "١٢٣ 456",
    "persian digits": "۱۲۳",
    "devanagari": "क्षि",
    "thai": "ก็้",
    "tibetan": "ཀྵྐྵ",
    "hangul jamo": "\u1112\u1161\u11ab",
    "hangul": "한",
    "japanese": "日本語",
    "half kana": "ｶﾞ",
    "a ligature": "ﬁle ﬀ",
    "vietnamese": "ế ữ",
    "decomposed": "e\u0301a\u030a",
    "zalgo": "r" + "\u0300\u0301\u0302\u0303\u0304\u0305" * 6 + "m",
    "an enclosing circle": "a\u20dd",
    "a long overlay": "r\u0336m\u0336",
    "a mark first": "\u0301ls",
    "a musical beam": "\U0001d173x\U0001d174",
    "shorthand": "\U0001bca0x",
    "an interlinear note": "\ufff9a\ufffab\ufffb",
    "egyptian joiners": "\U00013430\U00013431",
    "mongolian": "\u1820\u180b\u1821",
    "a bom": "\ufeffls",
    "a swapped bom": "\ufffels",
}
EMOJI = {
    "a face": "🙂",
    "a family": "👨\u200d👩\u200d👧\u200d👦",
    "a skin": "👍🏽",
    "a flag": "🇩🇪",
    "half a flag": "🇩",
    "a keycap": "1\ufe0f\u20e3",
    "a heart": "❤\ufe0f",
    "text style": "❤\ufe0e",
    "a flag of tags": "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "a pirate": "🏴\u200d☠\ufe0f",
    "a check mark": "✅ Approved",
    "many": "🙂" * 700,
    "joined for ever": "👩\u200d" * 200,
    "a shortcode": ":white_check_mark:",
    "a variation": "©\ufe0f",
    "a lone joiner": "\u200d",
    "a lone skin": "🏽",
    "a lone keycap": "\u20e3",
}


def _named(kind: str, characters: str) -> dict[str, str]:
    """Each character: alone, inside a word, and at both ends."""
    return {f"{kind} U+{ord(one):04X}": f"{one}l{one}s{one}" for one in characters}


CORPUS: dict[str, str] = {
    **_named("bidirectional", BIDI),
    **_named("zero width", ZERO_WIDTH),
    **_named("space", SPACES),
    **_named("break", BREAKS),
    **_named("control", CONTROLS),
    **_named("selector", SELECTORS),
    **_named("combining", COMBINING),
    **_named("surrogate", SURROGATES),
    **_named("beyond", BEYOND),
    **_named("notation", NOTATION),
    "hidden by tags": f"ls{TAGS}",
    "trojan source": "if (level != \u202e\u2066// only admins\u2069 \u2066'user')",
    **{f"markdown: {name}": text for name, text in MARKDOWN.items()},
    **{f"mention: {name}": text for name, text in MENTIONS.items()},
    **{f"ours: {name}": text for name, text in FRAMES.items()},
    **{f"shell: {name}": text for name, text in SHELL.items()},
    **{f"script: {name}": text for name, text in SCRIPTS.items()},
    **{f"emoji: {name}": text for name, text in EMOJI.items()},
}

_PIECES = [text for text in CORPUS.values() if len(text) <= 400]
_SINGLE = [
    *BIDI,
    *ZERO_WIDTH,
    *SPACES,
    *BREAKS,
    *CONTROLS,
    *SELECTORS,
    *TAGS,
    *COMBINING,
    *SURROGATES,
    *BEYOND,
    *NOTATION,
]


def made(rng: random.Random) -> str:
    """One attack: pieces of the corpus, single characters of every kind, any code points, sometimes drawn out."""
    parts = []
    for _ in range(rng.choice((1, 1, 2, 3, 5, 8))):
        match rng.randrange(6):
            case 0 | 1:
                part = rng.choice(_PIECES)
            case 2:
                part = rng.choice(_SINGLE) * rng.choice((1, 1, 2, 5))
            case 3:
                part = "".join(chr(rng.randrange(0x110000)) for _ in range(rng.randint(1, 6)))
            case 4:
                part = rng.choice(("ls -l ", "rm -rf ", "echo ", "a", "x" * rng.randint(1, 90), "\n", "\n    ", " "))
            case _:
                part = unicodedata.normalize(rng.choice(("NFD", "NFKC")), rng.choice(_PIECES))
        parts.append(part)
    text = "".join(parts)
    return text * rng.randint(20, 200) if rng.random() < 0.01 else text
