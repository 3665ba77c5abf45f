"""Documents from files of any common format, from stdin and from Python objects."""

from ibidem.documents.inputs import describe_inputs, input_size, is_changed, resolve_inputs, sources_described
from ibidem.documents.reader import read, read_batches
from ibidem.documents.repeated import find_repeated_id

__all__ = [
    "describe_inputs",
    "find_repeated_id",
    "input_size",
    "is_changed",
    "read",
    "read_batches",
    "resolve_inputs",
    "sources_described",
]
