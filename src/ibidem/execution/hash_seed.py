"""Which seed the hashes of a run are made with, where the user has chosen none."""

from __future__ import annotations

from ibidem.columns.hashes import DRAWN, draw_seed
from ibidem.config import EXACT_METHODS, Config
from ibidem.config.sampling_plan import SamplingPlan

_METHODS = (*EXACT_METHODS, "pairs", "imatch")  # those that find the same with every seed


def with_seed(verb: str, config: Config, plan: SamplingPlan | None = None, earlier: int | None = None) -> Config:
    """Return the settings with a seed: the one that was chosen, that of the `earlier` run that is resumed, or a new secret one.

    Where other hashes lead to other results, and nothing is removed, it is 0: the same inputs give the same results then.
    """
    if config.sentences.hash_seed != DRAWN:
        return config
    if earlier is None:
        earlier = 0 if _depends_on_hashes(verb, config, plan) else draw_seed()
    return Config.of(config, hash_seed=earlier)


def _depends_on_hashes(verb: str, config: Config, plan: SamplingPlan | None) -> bool:
    """Say whether a seed decides what is found: which shingles are sampled, which of equally frequent words count."""
    if verb == "dedup":
        return False  # a text that was made to collide would remove another
    if verb == "cluster":
        settings = config.resemblance
        return plan is not None or settings.sample_every > 1 or settings.method not in _METHODS
    return config.signatures.signature == "spotsigs" or config.alignment.align
