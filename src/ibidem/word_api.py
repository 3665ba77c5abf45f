"""The function `words` behind `import ibidem`; the others are in `api.py`."""

from __future__ import annotations

from typing import Any

from ibidem import pipeline
from ibidem.config import Config
from ibidem.config.checks import check_at_least
from ibidem.config.keywords import carried_out_by
from ibidem.execution.progress import Progress
from ibidem.execution.run import MemoryRun
from ibidem.formats.python_inputs import settle
from ibidem.formats.word_tables import WordTable
from ibidem.model import Inputs, Setting


def _words(
    inputs: Any, *, min_documents: int = 1, max_words: int = 0, config: Config | None = None,
    progress: Progress | None = None, **settings: Setting,
) -> WordTable:  # fmt: skip
    check_at_least(min_documents=(min_documents, 1), max_words=(max_words, 0))
    with MemoryRun(settle(inputs), None, Config.of(config, **settings), progress or Progress()) as run:
        return pipeline.words(run).cut(min_documents, max_words)


@carried_out_by(_words)
def words(
    inputs: Inputs, *, min_documents: int = 1, max_words: int = 0, config: Config | None = None,
    progress: Progress | None = None,
    # settings of words
    text_field: str = "text", id_field: str = "id", query: str = "none", html: bool = False, main_content: bool = False,
    text_path: str = "auto", encoding: str = "utf-8", lang: str = "auto", max_sentence_words: int = 120, workers: int = 0,
    strict: bool = False,
    # end of settings
) -> WordTable:  # fmt: skip
    """Count in how many documents each word occurs, and how often, for `word_counts` and `stop_words` of other calls.

    Words of fewer than `min_documents` documents are left out; `max_words`, unless it is 0, keeps only the most frequent ones.

    >>> import ibidem
    >>> ibidem.words(["The harbour was closed on Monday.", "The mayor closed the harbour."]).to_arrow().to_pylist()[1]
    {'word': 'the', 'documents': 2, 'occurrences': 3}
    """
    raise NotImplementedError
