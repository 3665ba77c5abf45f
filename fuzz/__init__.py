"""Fuzzing: arbitrary bytes go into everything that reads outside data, and invariants are checked.

    make fuzz                                    # all targets, thirty minutes each
    python -m fuzz splitter readers --minutes 5  # some of them
    python -m fuzz readers --again FILE          # one case that was found, in this process

A *target* is a function that takes bytes, raises if something is wrong, and returns in a few words what happened, by which the
mutation loop knows a case of a new kind. Each has its own module; `targets.py` lists them. Cases come from atheris where that
is installed and the target is Python for the greater part, otherwise from a seeded mutation loop (`mutating.py`). Each runs in
a process of its own, so that crashes and hangs are findings too.

Texts that take too much time, memory or rows are looked for apart, by `python -m fuzz.complexity` (`complexity.py`).
"""
