"""List every message that a user can see: `python docs/list_messages.py [--words]`.

A message is a string in the source that contains a space and is neither a docstring, nor SQL, nor a pattern. Each line has its
place, its kind and its text; what a call fills in is shown in braces. Read the list aloud after changing messages. Kinds:

error     text of an exception, including the next step
told      progress, notices, warnings, and what a command prints
skipped   why a record was skipped
summary   lines of summaries and text answers
answer    what the server answers
help      help of settings
label     texts in the pages of the viewer
text      other strings with a space, mostly parts of the above

`--words` shows only messages with words that read oddly in English, and docstrings and comments with such words; it ends with
code 1 if there are any.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).parent.parent / "src" / "ibidem"
LEFT_OUT = {  # no messages
    "alignment/fact_words.py", "sentences/abbreviations.py", "sentences/make_code_points.py", "viewer/database.py",
}  # fmt: skip
SPEAKERS = {"tell", "echo", "secho", "warn", "notice", "notify", "print", "note", "report_line", "abort", "fail"}
ODD = re.compile(
    r"\b(stand|stands|stood|standing|hold|holds|held|holding|told|anew|mend|mended|let go|lets go|wholes|in the end|one a core|"
    r"nobody|thereby|therein|wherein|foreign|kin|behold|nor may|is none of|let expect|"
    r"as it was|of its own accord|is at work|at hand|not to be had|wholly|but for|go on with|goes on with|stepped over)\b",
    re.IGNORECASE,
)
# What reads well although it contains one of these words; names in backticks do not count either.
ALLOWED = re.compile(
    r"stands? out|standing out|lock(s|ing)? nobody out|hold(s|ing)? the interpreter's lock|standard (input|output|error)|"
    r"household\w*|stand-?alone|stand-off markup|(hold|held) for ever",
    re.IGNORECASE,
)


class Message(NamedTuple):
    """A message: where it is in the source, what kind it is, and its text."""

    place: str
    kind: str
    text: str


def main() -> None:
    """Print the list."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", action="store_true", help="only messages with words that read oddly")
    arguments = parser.parse_args()
    found = [message for message in messages() if not arguments.words or is_odd(message.text)]
    if arguments.words:
        found += [prose for prose in docstrings_and_comments() if is_odd(prose.text)]
    for message in found:
        print(f"{message.place}\t{message.kind}\t{message.text}")
    print(f"{len(found):,} messages", file=sys.stderr)
    if arguments.words and found:
        sys.exit(1)


def messages() -> Iterator[Message]:
    """Yield all messages, in the order of files and lines."""
    for path in sorted(SOURCE.rglob("*.py")):
        if str(path.relative_to(SOURCE)) not in LEFT_OUT:
            yield from sorted(messages_of(path), key=lambda message: int(message.place.rsplit(":", 1)[1]))
    for path in sorted((SOURCE / "viewer" / "assets").glob("*.js")):
        yield from labels_of(path)


def is_odd(text: str) -> bool:
    """Return whether a text has a word that reads oddly in English."""
    return bool(ODD.search(ALLOWED.sub("", re.sub(r"`[^`]*`|\{[^{}]*\}", "", text))))


def labels_of(path: Path) -> Iterator[Message]:
    """Yield the strings of a script of the viewer that may be shown on a page, and its comments."""
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        for match in re.finditer(r'"([^"\\]*)"|`([^`\\]*)`|// (.*)', line):
            text = next(group for group in match.groups() if group is not None) if any(match.groups()) else ""
            if is_prose(re.sub(r"\$\{[^{}]*\}", "{}", text)):
                kind = "text" if match[3] else "label"
                yield Message(f"{path.relative_to(SOURCE.parent.parent)}:{number}", kind, " ".join(text.split()))


def docstrings_and_comments() -> Iterator[Message]:
    """Yield the docstrings and comments of the source."""
    for path in sorted(SOURCE.rglob("*.py")):
        source, place = path.read_text("utf-8"), path.relative_to(SOURCE.parent.parent)
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
                yield Message(f"{place}:{node.lineno}", "docstring", " ".join(node.value.value.split()))
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                yield Message(f"{place}:{token.start[0]}", "comment", token.string)


def messages_of(path: Path) -> Iterator[Message]:
    """Yield the messages of a file."""
    waiting: list[tuple[ast.AST, str]] = [(ast.parse(path.read_text("utf-8")), kind_of_file(path))]
    while waiting:
        node, kind = waiting.pop()
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue  # a docstring
        if isinstance(node, ast.keyword) and node.arg == "pattern":
            continue
        text = text_of(node)
        if text is not None:
            if is_prose(text):
                yield Message(f"{path.relative_to(SOURCE.parent.parent)}:{node.lineno}", kind, " ".join(text.split()))
            if isinstance(node, ast.JoinedStr):
                waiting += [(part.value, kind) for part in node.values if isinstance(part, ast.FormattedValue)]
            continue
        kind = kind_of_node(node, kind)
        waiting += [(child, kind) for child in ast.iter_child_nodes(node)]


def kind_of_file(path: Path) -> str:
    """Return the kind of messages of a file, unless the code around them says more."""
    if path.name.endswith("summary.py") or path.name in ("overview.py", "display.py", "index_answers.py"):
        return "summary"
    if path.name == "settings.py":
        return "help"
    return "answer" if "server" in path.parts else "text"


def kind_of_node(node: ast.AST, outer: str) -> str:
    """Return the kind of messages below a node, given the kind around it."""
    if isinstance(node, ast.Raise):
        return "error"
    if isinstance(node, ast.Call):
        name = (
            node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id if isinstance(node.func, ast.Name) else ""
        )
        if name.endswith(("Error", "Exception", "BadParameter")) and name[0].isupper():
            return "error"
        if name in SPEAKERS:
            return "told"
        if name in ("Skipped", "Refused", "skip", "skipped", "Unreadable"):
            return "skipped"
    return outer


def text_of(node: ast.AST) -> str | None:
    """Return the text of a string in the source, with braces where a value is filled in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else "{" + ast.unparse(part.value) + "}"  # type: ignore[attr-defined]
            for part in node.values
        )
    return None


def is_prose(text: str) -> bool:
    """Return whether a string may be meant for people."""
    outside = re.sub(r"\{[^{}]*\}", "{}", text)
    if re.match(
        r"\s*(SELECT|INSERT|CREATE|PRAGMA|WITH|UPDATE|DELETE|ATTACH|BEGIN|AND|ORDER|WHERE|FROM|JOIN|DROP|LEFT)\b", outside
    ):
        return False
    return bool(re.search(r"[A-Za-z}]\S* \S*[A-Za-z{]", outside)) and bool(re.search(r"[a-z]{2}", outside))


if __name__ == "__main__":
    main()
