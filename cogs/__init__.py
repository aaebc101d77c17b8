"""The top floor: Discord. Receives and hands on; holds no decisions.

If a line here needs an `if` about the state of an approval or a run, it belongs below, in `bot`.
"""
