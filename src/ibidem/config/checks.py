"""What is wrong with settings, all of it at once."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ibidem.config.quantities import commit_rhythm, memory_bytes
from ibidem.config.settings import EXACT_METHODS, KEEP_RULES

if TYPE_CHECKING:
    from ibidem.config.config import Config


def problems_of(config: Config) -> Iterator[str]:
    """Yield what is wrong with the settings of a run, in words."""
    for setting, value in _values(config):
        choices, at_least = setting.metadata["choices"], setting.metadata["at_least"]
        if value == "":
            yield f"{setting.name} is empty"
        if choices and value not in choices:
            yield f"{setting.name} = {value!r} is none of {', '.join(choices)}"
        if at_least is not None and value < at_least:
            yield f"{setting.name} = {value} is below {at_least}"
        if at_least is not None and value > setting.metadata["at_most"]:
            yield f"{setting.name} = {value} is above {setting.metadata['at_most']}"
    if not 0 < config.matches.min_similarity <= 1:
        yield f"min_similarity = {config.matches.min_similarity} is not above 0 and at most 1"
    elif config.matches.min_similarity.denominator > 10**6:
        yield f"min_similarity = {config.matches.min_similarity} has more than six decimals"
    if not 0 <= config.resemblance.min_containment <= 1:
        yield f"min_containment = {config.resemblance.min_containment} is not between 0 and 1"
    elif config.resemblance.min_containment.denominator > 10**6:
        yield f"min_containment = {config.resemblance.min_containment} has more than six decimals"
    if not 0 < config.index.min_score <= 1:
        yield f"min_score = {config.index.min_score} is not above 0 and at most 1"
    elif config.index.min_score.denominator > 10**3:  # three factors have to fit into 64 bits
        yield f"min_score = {config.index.min_score} has more than three decimals"
    if config.index.bits_per_word > config.index.signature_bits:
        yield f"bits_per_word = {config.index.bits_per_word} is above signature_bits = {config.index.signature_bits}"
    if commit_rhythm(config.index.commit_every) is None:
        yield f"commit_every = {config.index.commit_every!r} is neither a number of documents nor seconds like 10s, nor both"
    if config.resemblance.sample_remainder >= config.resemblance.sample_every:
        yield f"sample_remainder = {config.resemblance.sample_remainder} is not below sample_every"
    if config.resemblance.filter_bits not in (0, 64, 128, 256):
        yield f"filter_bits = {config.resemblance.filter_bits} is none of 0, 64, 128, 256"
    if config.resemblance.measure == "order" and config.resemblance.min_containment > 0:
        yield "min_containment is measured without order; leave out measure = order"
    if not config.resemblance.verify and (config.resemblance.method == "pairs" or config.resemblance.measure == "order"):
        yield "verify cannot be left out: nothing but the full comparison says how alike two documents are here"
    if config.resemblance.sample_every > 1 and config.resemblance.method not in EXACT_METHODS:
        yield f"sample_every is for the methods {' and '.join(EXACT_METHODS)}, not for {config.resemblance.method}"
    if config.resemblance.permutations % config.resemblance.bands:
        yield f"permutations = {config.resemblance.permutations} cannot be grouped in {config.resemblance.bands} equal bands"
    if memory_bytes(config.engine.memory) is None:
        yield f"memory = {config.engine.memory!r} is neither auto nor a size like 500MB or 4GB"
    if config.engine.max_disk != "auto" and not memory_bytes(config.engine.max_disk):
        yield f"max_disk = {config.engine.max_disk!r} is neither auto nor a size like 500MB or 4GB"
    if config.engine.resume and config.engine.engine == "spark":
        yield "resume is for the local engine; Spark sees to lost workers by itself"
    if config.alignment.align and config.engine.engine == "spark":
        yield "align is done by the local engine only; leave it out, or compare the pairs that were found"
    keep = config.clusters.keep
    if keep not in KEEP_RULES and not (keep.partition(":")[0] and keep.rpartition(":")[2] in ("max", "min") and ":" in keep):
        yield f"keep = {keep!r} is none of first, longest, earliest, FIELD:max, FIELD:min"
    if config.signatures.antecedents.lstrip("+-").isdecimal() and not config.signatures.antecedents.isdecimal():
        yield f"antecedents = {config.signatures.antecedents} is neither a count nor words"
    if config.signatures.min_idf > config.signatures.max_idf:
        yield f"min_idf = {config.signatures.min_idf} is above max_idf = {config.signatures.max_idf}"


def _values(config: Config) -> Iterator[tuple[dataclasses.Field[Any], Any]]:
    """Yield every setting with its value."""
    for stage in dataclasses.fields(config):
        settings = getattr(config, stage.name)
        yield from ((setting, getattr(settings, setting.name)) for setting in dataclasses.fields(settings))
