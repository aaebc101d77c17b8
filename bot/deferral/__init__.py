"""Between "asked" and "ran": keys, digests, authority, policy, and the executor of approved calls.

Usable without Discord and without any model library; `tests/test_floors.py` holds it to that.
"""
