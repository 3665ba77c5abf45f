"""Documents from files of any common format, from stdin and from Python objects."""

from ibidem.formats.inputs import describe_inputs, input_size, is_changed, resolve_inputs, sources_described
from ibidem.formats.reader import read, read_batches

__all__ = [
    "describe_inputs",
    "input_size",
    "is_changed",
    "read",
    "read_batches",
    "resolve_inputs",
    "sources_described",
]
