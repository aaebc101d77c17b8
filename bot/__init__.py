"""The middle floor: the mind. Knows no Discord and no SQL.

`app` opens every resource once and wires the house together; `engine` holds the verbs; `surface` is all
the mind knows of faces; `agent` is the model loop (the only importer of pydantic_ai); `deferral` stands
between "asked" and "ran"; `toolbox` is what can run; `playground` is the twin guild in its own process.
"""
