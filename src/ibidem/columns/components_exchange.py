"""Connected components of a graph too large for one machine: rounds of small stars and large stars (Kiveris and others, 2014).

Nodes are compared by their *labels*, which are mixed numbers: a chain of neighbouring documents, which would take many rounds
in order, becomes a chain in random order. Mixing can be undone, so labels cost nothing. The home of a node is the partition of
its label. A *link* leads from a node to one of smaller label and is stored at the home of the former.

In a round, every partition joins what its links connect, and links each of those nodes to the smallest label among them: this
is the small star, for all nodes at once. It then asks, once for each node that its own nodes link to, where that node links to,
and receives the answer in the next round: this is the large star. The paper moves the leaves of a star to the centre; one
question per partition does the same, however many leaves there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ibidem.columns.components import numbers_by_first
from ibidem.columns.hashes import FACTOR, SEED, mix
from ibidem.columns.kernels import union_find as kernels
from ibidem.columns.ragged import starts_of
from ibidem.execution.flow import Flow, PartedTable, Sent, route_by_hash
from ibidem.execution.layout import Layout

EDGES = pa.schema([("a", pa.uint64()), ("b", pa.uint64())])
ROOTS = pa.schema([("node", pa.uint64()), ("root", pa.uint64())])
# Documents in components, with the smallest document and the number of each.
CLUSTERED = pa.schema([("document", pa.int64()), ("root", pa.int64()), ("cluster", pa.int64())])
# The number of clusters whose first member is in a partition.
COUNTED = pa.schema([("partition", pa.int64()), ("n_clusters", pa.int64())])

_LINKS = pa.schema([("label", pa.uint64()), ("smaller", pa.uint64())])
# Where does the node of this label lead? `least` is the smallest node that leads to it from the asking partition.
_QUESTIONS = pa.schema([("label", pa.uint64()), ("asker", pa.int32()), ("least", pa.uint64())])
_ANSWERS = pa.schema([("label", pa.uint64()), ("smaller", pa.uint64()), ("least", pa.uint64())])
_COUNTS = pa.schema([(name, pa.int64()) for name in ("n_sent", "n_changed", "n_open", "n_few")])
# Decisions that depend on memory are made once and stored: a resumed run may have a different amount.
_LIMITS = pa.schema([("most_closed", pa.int64())])

_MOST_ROWS = 1 << 21  # edges contracted at a time: 32 MB, and about ten times as much during the work
_FEW = 1 << 16  # links of a mapper that are also sent to the one partition that may close them
_BYTES_A_LINK = 64  # for one task to close links: the links, a table of their nodes, and the output
_SLOTS_AT_A_TIME = 1 << 20
_FIRST_CLOSE = 4  # the first round after which it may: most graphs finish early, and closing takes four more

Labels = NDArray[np.uint64]
_UNMIX = np.uint64(pow(FACTOR, -1, 1 << 64))


def connect(flow: Flow, name: str, edges: PartedTable | Sequence[PartedTable]) -> PartedTable:
    """Return the component of every node that has an edge to another node: rows of ROOTS, at `home_of_nodes`.

    The root is the smallest node of the component, and is also a row. Edges may be anywhere, in any order, repeated, and lead
    from a node to itself. `name` is the prefix of stage names.

    Bounds: mappers contract edges before sending them, so for each of its nodes a partition receives at most one link from each
    mapper, and in later rounds one link and one question from each other partition, whatever the number of neighbours. Once the
    remaining relevant links fit into one task, one partition decides them. So the number of rounds depends on how soon they are
    few, not on the longest chain. Most graphs are small enough from the start.
    """
    n_partitions = flow.n_partitions
    contract = partial(_contract, n_partitions, flow.n_task_bytes // _BYTES_A_LINK)
    outputs = {"links": _LINKS, "few": _LINKS, "counts": _COUNTS, "limits": _LIMITS}
    contracted = flow.map(f"{name}-contract", edges, contract, outputs)
    most_closed = max(flow.collect(contracted.pop("limits"))["most_closed"].to_pylist(), default=0)
    _, _, n_links, n_few = _sums(flow, contracted["counts"])
    if n_links <= most_closed:
        links = contracted["few"]
        if n_few < n_links:
            links = flow.map(f"{name}-gather", contracted["links"], _gather, {"links": _LINKS})["links"]
        return flow.reduce(f"{name}-close", {"links": links}, partial(_close, n_partitions), {"roots": ROOTS})["roots"]

    state: dict[str, PartedTable | Sequence[PartedTable]] = {"links": contracted["links"]}
    outputs = {"links": _LINKS, "questions": _QUESTIONS, "answers": _ANSWERS, "few": _LINKS, "counts": _COUNTS}
    all_at_home = False
    next_close = _FIRST_CLOSE
    shorten = partial(_shorten, n_partitions, 4 * most_closed // n_partitions)
    for number in count(1):
        stored = flow.reduce(f"{name}-round-{number}", state, shorten, outputs)
        counts = _sums(flow, stored["counts"])
        n_sent, n_changed, n_open, _ = counts
        state = {tag: stored[tag] for tag in ("links", "questions", "answers")}
        # The answers of this round cover all links only if none was in transit when the questions were asked.
        if all_at_home and n_sent == n_changed == 0:
            break
        all_at_home = n_sent == 0
        if n_open and number >= next_close and _can_be_closed(counts, most_closed):
            join = partial(_join_open, n_partitions)
            closed = flow.reduce(f"{name}-close-{number}", {"links": stored["few"]}, join, {"links": _LINKS})["links"]
            state["links"] = [stored["links"], closed]
            all_at_home = False
            next_close = number + 6  # it takes some rounds to reach all nodes
    final = {"links": state["links"], "answers": state["answers"]}
    return flow.reduce(f"{name}-roots", final, partial(_name_roots, n_partitions), {"roots": ROOTS})["roots"]


def routed_roots(flow: Flow, name: str, edges: PartedTable, route: Callable[[Labels], NDArray[np.int64]]) -> PartedTable:
    """Return the root of every node that has an edge, `(node, root)`, sent where `route` puts the node."""

    def send(tables: Iterator[pa.Table]) -> Iterator[Sent]:
        for table in tables:
            yield Sent("roots", table, route(table["node"].to_numpy()))

    return flow.map(f"{name}-roots", connect(flow, f"{name}-components", edges), send, {"roots": ROOTS})["roots"]


def number_components(flow: Flow, name: str, edges: Sequence[PartedTable], layout: Layout) -> PartedTable:
    """Return the number of every connected document's component, in reading order of their first members; at home."""
    roots = connect(flow, f"{name}-components", edges)

    def go_home(tables: Iterator[pa.Table]) -> Iterator[Sent]:
        for table in tables:
            yield Sent("roots", table, layout.home(table["root"].to_numpy().astype(np.int64)))

    def tally(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        yield Sent("counted", pa.table([[partition], [len(np.unique(_numbers(tables["roots"], "root")))]], schema=COUNTED), 0)

    members = flow.map(f"{name}-members", roots, go_home, {"roots": ROOTS})["roots"]
    counted = flow.reduce(f"{name}-counted", {"roots": members}, tally, {"counted": COUNTED})["counted"]
    before = numbers_before(flow.collect(counted), layout)

    def number(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        document, root = (_numbers(tables["roots"], name).astype(np.int64) for name in ROOTS.names)
        table = pa.table([document, root, before[partition] + numbers_by_first(root)], schema=CLUSTERED)
        yield Sent("clustered", table, layout.home(document))

    return flow.reduce(f"{name}-numbers", {"roots": members}, number, {"clustered": CLUSTERED})["clustered"]


def numbers_before(counted: pa.Table, layout: Layout) -> NDArray[np.int64]:
    """Return the first cluster number of each partition, given the counts: rows of `COUNTED`."""
    n_clusters = np.zeros(layout.n_partitions, np.int64)
    np.add.at(n_clusters, counted["partition"].to_numpy(), counted["n_clusters"].to_numpy())
    return starts_of(n_clusters)[:-1]


def home_of_nodes(nodes: NDArray[np.uint64], n_partitions: int) -> NDArray[np.int64]:
    """Return the home partition of each node, a number or a hash."""
    return route_by_hash(_label(nodes), n_partitions)


def _contract(n_partitions: int, most_closed: int, tables: Iterator[pa.Table]) -> Iterator[Sent]:
    """Send a minimal set of links that connects what edges connect, for as many edges at a time as memory allows."""
    yield Sent("limits", pa.table([[most_closed]], schema=_LIMITS), 0)
    links = (np.empty(0, np.uint64), np.empty(0, np.uint64))
    waiting: list[tuple[Labels, Labels]] = []
    n_waiting = 0
    for table in tables:
        waiting.append((_label(_numbers(table, "a")), _label(_numbers(table, "b"))))
        n_waiting += table.num_rows
        if n_waiting >= _MOST_ROWS:
            links = _spanning([links, *waiting])
            waiting, n_waiting = [], 0
            if len(links[0]) > _MOST_ROWS:
                yield from _send_contracted(*links, n_partitions)
                links = (links[0][:0], links[1][:0])
    yield from _send_contracted(*_spanning([links, *waiting]), n_partitions)


def _send_contracted(labels: Labels, smaller: Labels, n_partitions: int) -> Iterator[Sent]:
    links = pa.table([labels, smaller], schema=_LINKS)
    yield Sent("links", links, route_by_hash(labels, n_partitions))
    yield from _send_counts(0, 0, links, _FEW)


def _gather(tables: Iterator[pa.Table]) -> Iterator[Sent]:
    """Send all links to one partition."""
    yield from (Sent("links", table, 0) for table in tables)


def _send_counts(n_sent: int, n_changed: int, links: pa.Table, most_few: int) -> Iterator[Sent]:
    """Send what the driver counts, and the open links if they are few here; whether they are few in total is not yet known."""
    n_few = links.num_rows if links.num_rows <= most_few else 0
    yield Sent("few", links.slice(0, n_few), 0)
    yield Sent("counts", pa.table([[n] for n in (n_sent, n_changed, links.num_rows, n_few)], schema=_COUNTS), 0)


def _can_be_closed(counts: NDArray[np.int64], most_closed: int) -> bool:
    _, _, n_open, n_few = counts.tolist()
    return bool(n_open == n_few <= most_closed)


def _close(n_partitions: int, partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
    """Return the component of every node, at the partition with all links."""
    links = tables["links"]
    ends = ((_node(_numbers(batch, "label")), _node(_numbers(batch, "smaller"))) for batch in links.to_batches())
    for nodes, roots in _components(ends, links.num_rows):
        yield Sent("roots", pa.table([nodes, roots], schema=ROOTS), home_of_nodes(nodes, n_partitions))


def _join_open(n_partitions: int, partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
    """Link the nodes of open links to the smallest label that these connect them with."""
    links = tables["links"]
    for labels, smaller in _components(map(_links, links.to_batches()), links.num_rows):
        leads = labels != smaller
        table = pa.table([labels[leads], smaller[leads]], schema=_LINKS)
        yield Sent("links", table, route_by_hash(labels[leads], n_partitions))


def _shorten(n_partitions: int, most_few: int, partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
    """Link the nodes of a partition to smaller labels: one round, see above.

    Counts the links that leave the partition, and the links and answers that are new.
    """
    before = _links(tables["links"])
    answered = _links(tables["answers"]) if "answers" in tables else (before[0][:0], before[0][:0])
    labels, roots = _join([before, answered])
    leads = labels != roots
    linked, smaller = labels[leads], roots[leads]

    routes = route_by_hash(linked, n_partitions)
    at_home = routes == partition
    # The partition that gave an answer already knows it.
    known = ~at_home & _stand_in(linked, smaller, answered)
    linked, smaller, routes, at_home = linked[~known], smaller[~known], routes[~known], at_home[~known]
    yield Sent("links", pa.table([linked, smaller], schema=_LINKS), routes)

    asked, least, _ = _least_by(smaller[at_home], _node(linked[at_home]))
    to_ask = pa.table([asked, np.full(len(asked), partition, np.int32), least], schema=_QUESTIONS)
    yield Sent("questions", to_ask, route_by_hash(asked, n_partitions))

    n_news = 0
    questions = tables["questions"] if "questions" in tables else _QUESTIONS.empty_table()
    if questions.num_rows:
        answers, askers = _answer(partition, questions, linked, smaller)
        n_news = int(pc.sum(pc.not_equal(answers["label"], answers["smaller"])).as_py())
        yield Sent("answers", answers, askers)
    n_kept = int((at_home & _stand_in(linked, smaller, before)).sum())
    n_changed = max(int(at_home.sum()), len(before[0])) - n_kept + n_news
    yield from _send_counts(int((~at_home).sum()), n_changed, _open_links(*before, _numbers(questions, "label")), most_few)


def _open_links(labels: Labels, smaller: Labels, asked: Labels) -> pa.Table:
    """Return the links of nodes that lead to several others, or that others lead to. The rest only wait for these."""
    distinct, of_link, n_links = np.unique(labels, return_inverse=True, return_counts=True)
    is_open = ((n_links > 1) | np.isin(distinct, asked))[of_link]
    return pa.table([labels[is_open], smaller[is_open]], schema=_LINKS)


def _answer(partition: int, questions: pa.Table, linked: Labels, smaller: Labels) -> tuple[pa.Table, NDArray[np.int64]]:
    """Return where the nodes in question lead, the smallest of all nodes that lead to them, and which partitions to inform.

    This partition is always informed, even if none of its nodes leads to them, since they are its own.
    """
    askers = questions["asker"].to_numpy().astype(np.int64)
    asked, least, of_question = _least_by(_numbers(questions, "label"), _numbers(questions, "least"))
    least = np.minimum(least, _node(asked))
    lead_to = asked.copy()
    at, found = _look_up(asked, linked)
    lead_to[found] = smaller[at[found]]
    told = np.zeros(len(asked), bool)
    told[of_question[askers == partition]] = True
    rows = np.concatenate([of_question, np.flatnonzero(~told)])
    askers = np.concatenate([askers, np.full(len(rows) - len(askers), partition)])
    return pa.table([asked[rows], lead_to[rows], least[rows]], schema=_ANSWERS), askers


def _name_roots(n_partitions: int, partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
    """Return the component of every node from the answers about its root."""
    labels, smaller = _links(tables["links"])
    roots, first = np.unique(_numbers(tables["answers"], "label"), return_index=True)
    least = _numbers(tables["answers"], "least")[first]
    own = np.flatnonzero(route_by_hash(roots, n_partitions) == partition)
    labels = np.concatenate([labels, roots[own]])
    rows = np.concatenate([np.searchsorted(roots, smaller), own])
    yield Sent("roots", pa.table([_node(labels), least[rows]], schema=ROOTS), partition)


def _join(links: Sequence[tuple[Labels, Labels]]) -> tuple[Labels, Labels]:
    """Return all labels, each once and in order, and the smallest label that each one is connected with."""
    labels, roots = _connected(links)
    order = np.argsort(labels)
    return labels[order], roots[order]


def _spanning(links: Sequence[tuple[Labels, Labels]]) -> tuple[Labels, Labels]:
    """Return links that connect the same labels, one for each label except the smallest of each component."""
    labels, roots = _connected(links)
    leads = labels != roots
    return labels[leads], roots[leads]


def _connected(links: Sequence[tuple[Labels, Labels]]) -> tuple[Labels, Labels]:
    """Return all labels with links to others, each once, and the smallest label that each one is connected with."""
    found = list(_components(links, sum(len(a) for a, _ in links)))
    labels, roots = (np.concatenate([np.empty(0, np.uint64), *side]) for side in zip(*found, strict=True))
    return labels, roots


def _components(edges: Iterable[tuple[Labels, Labels]], n_edges: int) -> Iterator[tuple[Labels, Labels]]:
    """Yield the nodes with edges to others, each once, and the smallest node of their component, some at a time."""
    n_slots = 5 * n_edges // 2 + 1  # a fifth is free if no two edges have a node in common
    nodes, parent = np.empty(n_slots, np.uint64), np.full(n_slots, -1, np.int32 if n_slots < 1 << 31 else np.int64)
    for a, b in edges:
        kernels.unite_nodes(a, b, nodes, parent)
    for begin in range(0, n_slots, _SLOTS_AT_A_TIME):
        end = min(begin + _SLOTS_AT_A_TIME, n_slots)
        known, roots = np.empty(end - begin, np.uint64), np.empty(end - begin, np.uint64)
        n = kernels.list_roots(begin, end, nodes, parent, known, roots)
        yield known[:n], roots[:n]


def _least_by(keys: Labels, values: NDArray[np.uint64]) -> tuple[Labels, NDArray[np.uint64], NDArray[np.int64]]:
    """Return the distinct keys in order, the smallest value of each, and the key of each row."""
    distinct, of_row = np.unique(keys, return_inverse=True)
    least = np.full(len(distinct), np.iinfo(np.uint64).max, np.uint64)
    np.minimum.at(least, of_row, values)
    return distinct, least, of_row


def _look_up(wanted: Labels, labels: Labels) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the position of each label among sorted labels, and whether it is there."""
    if not len(labels):
        return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), bool)
    at = np.minimum(np.searchsorted(labels, wanted), len(labels) - 1)
    return at, labels[at] == wanted


def _stand_in(labels: Labels, smaller: Labels, links: tuple[Labels, Labels]) -> NDArray[np.bool_]:
    """Return whether each link, with sorted distinct labels, is among other links."""
    at, found = _look_up(links[0], labels)
    stands = np.zeros(len(labels), bool)
    if len(labels):
        stands[at[found & (smaller[at] == links[1])]] = True
    return stands


def _sums(flow: Flow, counts: PartedTable) -> NDArray[np.int64]:
    table = flow.collect(counts)
    return np.array([table[name].to_numpy().sum() for name in counts.schema.names], np.int64)


def _links(table: pa.Table | pa.RecordBatch) -> tuple[Labels, Labels]:
    return _numbers(table, "label"), _numbers(table, "smaller")


def _numbers(table: pa.Table | pa.RecordBatch, column: str) -> NDArray[np.uint64]:
    numbers: NDArray[np.uint64] = table[column].to_numpy()
    return numbers


def _label(nodes: NDArray[np.uint64]) -> Labels:
    fold: Any = mix.py_func  # over a whole array at once
    labels: Labels = fold(SEED, nodes)
    return labels


def _node(labels: Labels) -> NDArray[np.uint64]:
    """Return the nodes of labels, by undoing the mixing step by step."""
    nodes: NDArray[np.uint64] = ((labels ^ (labels >> np.uint64(32))) * _UNMIX) ^ SEED
    return nodes
