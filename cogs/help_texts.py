"""What `/help` says, by topic. The list of commands is not here: it is made of the commands themselves."""

from __future__ import annotations

from enum import StrEnum


class Topic(StrEnum):
    """What somebody may want to know, in the words of the list to pick from."""

    START = "Start"
    CARDS = "Cards and deciding"
    TALKS = "Conversations"
    JOBS = "Work in the background"
    RULES = "What asks and what does not"
    PRIVACY = "What I see and keep"
    TROUBLE = "When something is wrong"
    COMMANDS = "All commands"


TEXTS: dict[Topic, str] = {
    Topic.START: (
        "**Tell me what you need**: `/ask`, a mention, an answer to one of my messages, or a direct message.\n"
        "I can run commands and Python, read and write files in my workspace, fetch pages, and work in the"
        " background. `/tools` lists what I can do here.\n\n"
        "What has consequences does not run by itself: a **card** shows exactly what would run, and somebody who may"
        " decide presses **Approve** or **Deny**. What was approved is what runs, once.\n\n"
        "You need not wait: the answer comes into this channel, and to you directly if you like (`/notify`)."
    ),
    Topic.CARDS: (
        "**A card** shows one call whole, who asked for it, why it asks, what it may touch, and until when it waits.\n"
        "- **Approve**, **Deny**, **Deny with reason…**: for those who may decide. The reason reaches the model.\n"
        "- **Edit…** changes the call. That makes a new one, which waits for an approval of its own.\n"
        "- **Approve and remember…** approves it and the very same call of that person here, for a time. `/grants`"
        " lists what holds, and ends it.\n"
        "- **Cancel** takes back what you asked for. **Extend** puts the deadline off.\n"
        "- **Details** shows everything, for you alone. **Run again** asks once more after an ending.\n\n"
        "Who may decide is looked up when the button is pressed, and once more before anything runs. Some calls need"
        " two people, or somebody who did not ask. A reaction, an answer or a word never decides.\n\n"
        "Nobody decided in time? Then nothing runs: silence is not a yes.\n"
        "`/approvals` lists what waits in this server, and decides from the list. `/why` tells the story of one call."
    ),
    Topic.TALKS: (
        "Each channel, each thread and each person's direct messages have a **conversation** of their own, in which I"
        " remember what was said.\n"
        "- One request at a time: a second one waits until the first has paused or ended, and is told its place.\n"
        "- **Stop** beside a growing answer ends it there, for who asked and for approvers. What it had said stays.\n"
        "- While something waits for a decision you can go on talking. What came of it is told later.\n"
        "- `/ask thread: true` opens a thread and answers there.\n"
        "- **Ask about this**, in a message's menu under Apps, shows me that message with your question.\n"
        "- `/new` begins afresh: what is still open there is cancelled, and named. Nothing said is deleted.\n"
        "- `/fork` goes on in a new thread with all that was said. What is open stays where it is.\n\n"
        "In a server I read only what mentions me, answers me, or is sent to me as a command; in threads that I opened"
        " everything, if this server's bot may read messages."
    ),
    Topic.JOBS: (
        "`/job start` gives me something to do **in the background**. It goes on while you do something else, and over"
        " my restarts; its card shows how far it is.\n"
        "- **Continue in background**, beside an answer that takes long, makes such a job of it where it stands.\n"
        "- On the card: **Stop** (pressed twice), **Extend**, a note for it, its log.\n"
        "- What has consequences asks on a card there, too.\n"
        "- Its result comes once: in the channel, else to you directly, else into your `/inbox`.\n"
        "`/job list`, `/job show` and `/job cancel` do what they say. The list shows commands that run in the"
        " background, too, and stops them.\n"
        "`/schedule add` starts such work **by itself at set times**, in words such as `every weekday at 9`."
    ),
    Topic.RULES: (
        "Each tool **asks** before it runs, is **allowed** without asking, or is **refused**. `/tools` says which, here"
        " and for you, and which rule says so.\n"
        "- What only looks is allowed, as long as no rule says otherwise. What acts asks.\n"
        "- The operator's rules go by tool, arguments, place, person, role and hour; the first that fits counts.\n"
        "- `/policy` shows all rules here in plain sentences. Who manages the server can make them stricter there, and"
        " those whom the operator named can change them; the operator's file is the outer bound.\n"
        "- `/settings` says where cards and results of jobs go here, which model answers, and how much a day.\n"
        "- Shells and interpreters can never be always allowed: no rule can read what a program would do.\n"
        "- A tool of an MCP server whose description changed asks again, whatever the rules say, and the card says"
        " what changed.\n\n"
        "I cannot give myself permission, and neither can anything that I read."
    ),
    Topic.PRIVACY: (
        "I keep what was asked, what I answered, every call with its arguments and result, and who decided: that is"
        " the record that `/why` reads. It lies with whoever runs me, not with Discord.\n"
        "- What you ask goes to the model that the operator chose.\n"
        "- I show a private list only to you, and only what you could open yourself.\n"
        "- Known secrets are masked before anything is stored, shown or sent to the model.\n"
        "- Commands run in a sandbox: no network, none of my keys, writing in the workspace only."
    ),
    Topic.TROUBLE: (
        "- **A card does not appear**: I lack a permission in that channel. `/doctor` names it.\n"
        "- **The button says that I may not**: the sentence names the rule, and who can help.\n"
        "- **A result never came**: `/inbox` has what could not be delivered to you, and why.\n"
        "- **A thread is locked or archived**: decide from `/approvals`.\n"
        "- **Commands look old**: restart Discord (Ctrl+R).\n"
        "- **A budget is spent**: the sentence says until when, and who can raise it; `/usage` shows what you used.\n"
        "- **I was restarted**: open cards go on working. What ran while I died is marked interrupted and never run"
        " again by itself.\n\n"
        "For approvers and those who manage the server: `/doctor` looks at everything and says what to do;"
        " `/drill` finds out who really can decide."
    ),
}
