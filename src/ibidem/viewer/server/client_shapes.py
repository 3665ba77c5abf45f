"""`python -m ibidem.viewer.server.client_shapes` writes ibidem/client/shapes.py: what the client's answers look like.

They are made of the description of the API, so that they are stated once, and the client needs nothing but Python.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ibidem.viewer.server.openapi import description

ANSWERS = ("Pair", "PairDetail", "Document", "Family", "Check", "Arrival", "IndexInfo")  # what methods of the client return
FILE = Path(__file__).parent.parent.parent / "client" / "shapes.py"
_PLAIN = {"integer": "int", "number": "float", "string": "str", "boolean": "bool", "null": "None", "object": "dict[str, Any]"}
_REFERENCE = "#/components/schemas/"
_WIDTH = 128
_HEAD = '''"""What the API answers, as the client returns it.

This file is written by `python -m ibidem.viewer.server.client_shapes`.
"""

from __future__ import annotations

from dataclasses import dataclass
'''


def client_shapes() -> str:
    """Return the source of the module."""
    schemas: dict[str, Any] = json.loads(description())["components"]["schemas"]
    return _HEAD + "".join(_shape(name, schemas[name]) for name in _needed(schemas))


def _needed(schemas: Mapping[str, Any]) -> list[str]:
    """Return the names of the answers and of all they consist of; each comes after what it consists of."""
    names: list[str] = []

    def visit(name: str) -> None:
        for other in _named_in(schemas[name]):
            visit(other)
        if name not in names:
            names.append(name)

    for answer in ANSWERS:
        visit(answer)
    return names


def _named_in(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if "$ref" in schema:
            yield schema["$ref"].removeprefix(_REFERENCE)
        for value in schema.values():
            yield from _named_in(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _named_in(value)


def _shape(name: str, schema: Mapping[str, Any]) -> str:
    lines = [f"\n\n@dataclass(frozen=True)\nclass {name}:", *_docstring(schema["description"]), ""]
    for field, kind in schema["properties"].items():
        lines += textwrap.wrap(kind.get("description", ""), _WIDTH, initial_indent="    # ", subsequent_indent="    # ")
        lines.append(f"    {field}: {_type(kind)}")
    return "\n".join(lines) + "\n"


def _docstring(text: str) -> list[str]:
    summary, _, rest = " ".join(text.split("\n")).replace("  ", "\n\n").partition("\n\n")
    if not rest and len(summary) <= _WIDTH - 10:
        return [f'    """{summary}"""']
    paragraphs = [line for part in (summary, rest) if part for line in ["", *textwrap.wrap(part, _WIDTH - 4)]]
    head, *others = paragraphs[1:]
    return [f'    """{head}', *(f"    {line}".rstrip() for line in others), '    """']


def _type(schema: Mapping[str, Any]) -> str:
    """Return a type as Python writes it. Words from a list are any string: a later server may know more of them."""
    if "$ref" in schema:
        return str(schema["$ref"]).removeprefix(_REFERENCE)
    if "anyOf" in schema:
        return " | ".join(_type(each) for each in schema["anyOf"])
    if schema["type"] == "array":
        if "prefixItems" in schema:
            return f"tuple[{', '.join(_type(each) for each in schema['prefixItems'])}]"
        return f"list[{_type(schema['items'])}]"
    return _PLAIN[schema["type"]]


if __name__ == "__main__":
    FILE.write_text(client_shapes(), encoding="utf-8")
