"""The playground: a whole guild on this machine, so that Signoff can be tried before anybody has a token.

It is a *twin* of Discord in a process of its own. `simcord` brings the world (guilds, members, messages,
permissions, limits, error codes) and the renderer; this package puts a real HTTP and WebSocket face in front
of it, keeps it across restarts, draws a frame of people and channels around it, and starts the bot as an
ordinary child process that knows nothing of all this but two addresses (`twin_address`). The same twin, with
faults added at its HTTP face (`faults`), is the bed for the wire tests.

**The pin.** `simcord` is a test library; it offers neither a wall clock, nor a second process, nor more than
one view at a time. What we need beyond its public surface are some thirty private names. Therefore the extra
`play` pins `simcord==3.2.1` exactly, all uses are in this one package, and each is marked with a comment
`# private: <name>` and its reason, so that an upgrade is a search for that word and one browser test. simcord
itself refuses to be imported when discord.py's internals moved.

**What may not happen here.** The twin listens on 127.0.0.1 only, checks Host and Origin of every request, and
shows nothing without a secret; a real token never goes to the twin, and a playground token never to Discord.

Importing this package imports nothing else: `twin_address` needs discord.py only, all the rest the extra.
"""
