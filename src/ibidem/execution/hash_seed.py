"""The seed for the hashes of a run, if the user has not chosen one."""

from __future__ import annotations

from ibidem.columns.hashes import DRAWN, draw_seed
from ibidem.config import EXACT_METHODS, Config
from ibidem.config.sampling_plan import SamplingPlan
from ibidem.config.settings import IDENTICAL

_METHODS = (*EXACT_METHODS, IDENTICAL, "pairs", "imatch")  # these find the same with every seed


def with_seed(verb: str, config: Config, plan: SamplingPlan | None = None, earlier: int | None = None) -> Config:
    """Return the settings with a seed: the one that was chosen, that of the `earlier` run that is resumed, or a new secret one.

    If the results depend on the hashes and nothing is removed, it is 0, so that the same inputs give the same results.
    """
    if config.sentences.hash_seed != DRAWN:
        return config
    if earlier is None:
        earlier = 0 if _depends_on_hashes(verb, config, plan) else draw_seed()
    return Config.of(config, hash_seed=earlier)


def _depends_on_hashes(verb: str, config: Config, plan: SamplingPlan | None) -> bool:
    """Return whether the seed influences what is found: which shingles are sampled, which of equally frequent words count."""
    if verb in ("dedup", "decontaminate"):
        return False  # a crafted collision would remove another text
    if verb == "cluster":
        settings = config.resemblance
        is_sampled = plan is not None or settings.sample_every > 1 or settings.sampling != "modulo"
        return is_sampled or settings.method not in _METHODS
    return config.signatures.signature == "spotsigs" or bool(config.alignment.align)
