"""Each rule beside what it must find (`ruleid`) and what it must leave alone (`ok`); never imported, never run."""

# ruff: noqa
# fmt: off


async def no_shell():
    # ruleid: no-shell
    subprocess.run(line, shell=True, env=env)
    # ruleid: no-shell
    await asyncio.create_subprocess_shell(line)
    # ruleid: no-shell
    os.system(line)
    # ok: no-shell
    subprocess.run(words, env=env)


async def child_needs_its_environment():
    # ruleid: child-needs-its-environment
    subprocess.Popen(words)
    # ruleid: child-needs-its-environment
    await asyncio.create_subprocess_exec(*words, stdin=null)
    # ok: child-needs-its-environment
    await asyncio.create_subprocess_exec(*words, env={})


async def message_needs_a_mention_policy():
    # ruleid: message-needs-a-mention-policy
    await channel.send(text)
    # ruleid: message-needs-a-mention-policy
    await interaction.response.send_message(text, ephemeral=True)
    # ok: message-needs-a-mention-policy
    await channel.send(text, allowed_mentions=NOBODY)


def mentions_never_all():
    # ruleid: mentions-never-all
    discord.AllowedMentions.all()
    # ruleid: mentions-never-all
    discord.AllowedMentions(everyone=True)
    # ok: mentions-never-all
    discord.AllowedMentions.none()


async def sql_not_by_formatting():
    # ruleid: sql-not-by-formatting
    await tx.execute(f"UPDATE run SET result = '{result}' WHERE id = ?", id)
    # ruleid: sql-not-by-formatting
    await reader.all("SELECT * FROM run WHERE id = '%s'" % id)
    # ruleid: sql-not-by-formatting
    await reader.one("SELECT * FROM run WHERE id = " + id)
    # ruleid: sql-not-by-formatting
    await reader.one("SELECT * FROM run WHERE id = {}".format(id))
    # ok: sql-not-by-formatting
    await reader.one(f"SELECT * FROM run WHERE id = ? AND {_IS_OPEN}", id)
    # ok: sql-not-by-formatting
    await reader.all(f"SELECT * FROM card WHERE id IN ({marks})", *ids)


def no_code_from_data():
    # ruleid: no-code-from-data
    eval(text)
    # ruleid: no-code-from-data
    import pickle
    # ok: no-code-from-data
    json.loads(text)


def no_secrets_or_arguments_in_logs():
    # ruleid: no-secrets-or-arguments-in-logs
    logger.info("asked", extra={"action": "asked", "arguments": call.arguments})
    # ruleid: no-secrets-or-arguments-in-logs
    logger.debug("connected with %s", settings.token)
    # ok: no-secrets-or-arguments-in-logs
    logger.info("asked", extra={"action": "asked", "approval": call.id})


def environment_is_read_in_settings():
    # ruleid: environment-is-read-in-settings
    os.environ["DISCORD_TOKEN"]
    # ruleid: environment-is-read-in-settings
    os.getenv("HOME")
    # ok: environment-is-read-in-settings
    settings.token


def tasks_are_background():
    # ruleid: tasks-are-background
    asyncio.create_task(work())
    # ok: tasks-are-background
    background.spawn(work(), name="work")


def time_is_an_argument():
    # ruleid: time-is-an-argument
    time.time()
    # ruleid: time-is-an-argument
    datetime.now(UTC)
    # ok: time-is-an-argument
    clock.now()


def chance_is_an_argument():
    # ruleid: chance-is-an-argument
    random.random()
    # ruleid: chance-is-an-argument
    uuid.uuid4()
    # ok: chance-is-an-argument
    new_id()


def names_on_disk_are_not_guessed():
    # ruleid: names-on-disk-are-not-guessed
    tempfile.mktemp()
    # ok: names-on-disk-are-not-guessed
    tempfile.TemporaryFile()


def connections_are_checked():
    # ruleid: connections-are-checked
    httpx.AsyncClient(verify=False)
    # ruleid: connections-are-checked
    context.verify_mode = ssl.CERT_NONE
    # ok: connections-are-checked
    httpx.AsyncClient()


def archives_are_not_unpacked_blindly():
    # ruleid: archives-are-not-unpacked-blindly
    archive.extractall(folder)
    # ok: archives-are-not-unpacked-blindly
    archive.read(name)


def digests_hold():
    # ruleid: digests-hold
    hashlib.sha1(body)
    # ok: digests-hold
    hashlib.sha256(body)


def nothing_is_swallowed():
    # ruleid: nothing-is-swallowed
    try:
        work()
    except Exception:
        pass
    # ruleid: nothing-is-swallowed
    with contextlib.suppress(Exception):
        work()
    # ok: nothing-is-swallowed
    try:
        work()
    except OSError:
        pass


def links_are_not_followed_by_a_walk():
    # ruleid: links-are-not-followed-by-a-walk
    os.walk(folder, followlinks=True)
    # ok: links-are-not-followed-by-a-walk
    os.walk(folder)
