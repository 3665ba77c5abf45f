"""Cuts over many partitions: which passages or sentences go because they stand earlier and stay there.

The outcome is that of `clusters.cuts`, which decides documents one after the other. Where equal rows match, rows are decided
side by side instead:

All rows have an order: the document first by rank, then by number, then by row. A *slot* is a place in a window, named by
the window's key and the distance from its first row; the rows of a slot are those that stand there in any window with that
key. A row s *may give* to a row r if the two share a slot and s lies in an earlier document, or, with `same_document`, in the
same one and at least `min_sentences` rows before. Then r goes exactly if a row that may give to it stays, and its source is
the first such row: that is the definition of `clusters.cuts`, whose windows match if their keys are equal. Every row that may
give to r comes before r, so this settles all rows one after the other, in their order, in one way only. And it can be
settled in any other order of work in which a row is decided by what is known for certain:

- r stays as soon as all rows that may give to it are known to go, and goes as soon as one of them is known to stay. Both are
  what the definition says of r, whoever else is still undecided. The first undecided row of all has only decided rows before
  it, so each round decides a row at least, and the rounds end.
- The rows of a slot that may give to r are the beginning of the slot, up to some row: those of documents before r's, and
  those of its own that lie far enough before. So of all rows that are known to stay, or not known to go, the first one of the
  slot tells enough: if it does not give to r, then none does. These two are all that a slot has to know.
- The source of r is the first row that stays in any of r's slots. It is known once it is the first not known to go in all
  of r's slots together: whoever comes before it goes.
- Windows of too few words have no key, as in `clusters.cuts`. Neither has a window with a row that interrupts: such a row has
  a class of its own and stands nowhere else. Windows of one document alone give to nobody and have no slots, unless
  `same_document` is set. Sentences are windows of one row.
- With a reference all rows of it stay and no others give, so the first row of the reference in each slot decides at once.

Most rows are decided in the first two rounds: what is the first of its text stays, and what is a copy of it goes. A chain of
documents, each of which waits for the one before, takes a round for each of them. So when few rows are left, one task decides
them all; and what is left after `MOST_ROUNDS` rounds is decided by components (`cuts_left`).

What is bounded: no partition is sent more than two rows by another one for a slot or a window, and more than one for the
place of a source, in any round, however many places a text has. After the first round only rows that wait are read and sent.
What is left after the rounds is sent as it is, each row once for each of its slots.
"""

from __future__ import annotations

from ibidem.clusters.exchange.cut_components import similar_spans
from ibidem.clusters.exchange.cut_remainder import decide_left
from ibidem.clusters.exchange.cut_rounds import first_round, more_rounds
from ibidem.clusters.exchange.cut_spans import spans_of
from ibidem.clusters.exchange.cut_windows import Rule, repeated_rows, repeated_windows
from ibidem.config import Config
from ibidem.execution.flow import Flow, PartedTable
from ibidem.execution.layout import Layout

MOST_ROUNDS = 30
MOST_AT_ONCE = 1 << 20  # rows, counted once for each of their slots, that one task decides: a second, and some 100 MB


def cuts_flow(flow: Flow, documents: PartedTable, ranks: PartedTable, layout: Layout, config: Config) -> PartedTable:
    """Return what goes out of the documents (`tables.CLASSED` or `EQUAL`), `cuts_spans.SPANS`, at home and in reading order.

    `ranks` holds (document, rank_key) at home: of two documents the one with the lower key stays, or the first of equal ones.
    """
    rule = Rule.of(config)
    repeated = repeated_windows(flow, documents, layout, rule)
    if rule.similar:
        return similar_spans(flow, documents, ranks, repeated, layout, rule)
    rows, windows = repeated_rows(flow, documents, ranks, repeated, layout, rule)
    cuts, left = more_rounds(flow, first_round(flow, rows, windows, layout, rule), MOST_ROUNDS, MOST_AT_ONCE, rule)
    if left.n_pairs:
        cuts.append(decide_left(flow, left, left.n_pairs <= MOST_AT_ONCE, layout, rule))
    return spans_of(flow, rows, cuts, layout)
