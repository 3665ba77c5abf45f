"""Documents from files of any common format, from stdin and from Python objects."""

from ibidem.formats.inputs import describe_inputs, input_size, resolve_inputs
from ibidem.formats.reader import read, read_batches
from ibidem.formats.sources import is_changed, sources_described, under_described_names

__all__ = [
    "describe_inputs",
    "input_size",
    "is_changed",
    "read",
    "read_batches",
    "resolve_inputs",
    "sources_described",
    "under_described_names",
]
