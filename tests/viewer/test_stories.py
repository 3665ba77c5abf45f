"""Stories against a twin that looks at one family after another."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ibidem.columns.collection import NO_TIME
from ibidem.viewer.stories import BOILERPLATE, INSIDE, STORY, Placed, Stories, folders_of, outlets_of, stories_of, tell

N_DOCUMENTS = 6
SECOND = 1_000_000
Place = tuple[int, int, int, bool]  # family, document, characters, whether it is a repeat

families = st.dictionaries(
    st.integers(1, 9),
    st.tuples(st.lists(st.tuples(st.integers(0, N_DOCUMENTS - 1), st.integers(1, 40)), min_size=2, max_size=5), st.booleans()),
    max_size=6,
)
groups = st.lists(st.integers(-1, 3), min_size=N_DOCUMENTS, max_size=N_DOCUMENTS)
times = st.lists(st.none() | st.integers(0, 3), min_size=N_DOCUMENTS, max_size=N_DOCUMENTS)


def placed_of(places: list[Place]) -> Placed:
    columns = [np.array([place[k] for place in places], np.int64) for k in range(3)]
    return Placed(*columns, np.array([place[3] for place in places], np.bool_))


def expected(places: list[Place], outlet: list[int], time: list[int | None], n_groups: int) -> dict[int, dict[str, Any]]:
    """Return the stories by their longest family; with groups, only the first of the outlets are such."""
    by_family: dict[int, list[Place]] = defaultdict(list)
    for place in places:
        by_family[place[0]].append(place)
    by_story: dict[Any, list[int]] = defaultdict(list)
    for family, own in by_family.items():
        base = min({place[1] for place in own}, key=lambda d: (time[d] is None, time[d] or 0, d))
        key = (family,) if own[0][3] else (base, frozenset(outlet[place[1]] for place in own), "")
        by_story[key].append(family)
    longest = {family: max(place[2] for place in own) for family, own in by_family.items()}
    found = {}
    for members in by_story.values():
        head = max(members, key=lambda family: (longest[family], -family))
        own = [place for family in members for place in by_family[family]]
        documents = {place[1] for place in own}
        known = [(time[d], outlet[d]) for d in documents if time[d] is not None]
        first = min((moment for moment, _ in known), default=None)
        earliest = {name for moment, name in known if moment == first}
        (start,) = earliest if len(earliest) == 1 else (-1,)
        later = (
            sorted((moment - first, name) for moment, name in known if moment > first and name != start) if start >= 0 else []
        )
        outlets = {outlet[d] for d in documents}
        found[head] = {
            "n_families": len(members),
            "fold": BOILERPLATE if own[0][3] else STORY if len(outlets) > 1 else INSIDE,
            "n_chars": sum(longest[family] for family in members),
            "n_documents": len(documents),
            "n_outlets": len({name for name in outlets if not n_groups or name < n_groups}),
            "n_ends": len(outlets),
            "first_outlet": start if later else -1,
            "follower": later[0][1] if later else -1,
            "seconds": later[0][0] if later else -1,
            "last_seconds": max(moment for moment, _ in known) - first if known else -1,
        }
    return found


@given(families, groups, times)
def test_stories_are_those_of_the_twin(chosen: dict[int, Any], of: list[int], when: list[int | None]) -> None:
    places = [(family, *place, is_repeat) for family, (own, is_repeat) in chosen.items() for place in own]
    outlets = outlets_of(np.array(of, np.int64))
    moments = np.array([NO_TIME if moment is None else moment * SECOND for moment in when], np.int64)
    n_groups = max(*of, -1) + 1
    stories, flows = tell(placed_of(places), outlets, moments, n_groups)
    told = expected(places, outlets.tolist(), when, n_groups)
    names = [name for name in Stories.__dataclass_fields__ if name != "family"]
    rows = zip(*(getattr(stories, name).tolist() for name in names), strict=True)
    assert {
        family: dict(zip(names, row, strict=True)) for family, row in zip(stories.family.tolist(), rows, strict=True)
    } == told
    assert stories_of(placed_of(places), outlets, moments).tolist() == [
        next(head for head in told if head == family or _same(places, family, head, outlets.tolist(), when))
        for family, *_ in places
    ]
    # What flowed came from where the story began, and arrived elsewhere.
    for family, source, target, n_chars in zip(
        *(getattr(flows, name).tolist() for name in flows.__dataclass_fields__), strict=True
    ):
        assert told[family]["fold"] == STORY
        assert source == told[family]["first_outlet"] != target
        assert n_chars > 0
    assert set(flows.family.tolist()) == {
        f for f, story in told.items() if story["fold"] == STORY and story["first_outlet"] >= 0
    }
    # Between groups, documents without one are all the same end.
    between = flows.between_groups(n_groups)
    sources, targets = (np.minimum(ends, n_groups).tolist() for ends in (flows.source, flows.target))
    kept = [(source, target) for source, target in zip(sources, targets, strict=True) if source != target]
    assert list(zip(between.source.tolist(), between.target.tolist(), strict=True)) == kept


def _same(places: list[Place], family: int, head: int, outlet: list[int], time: list[int | None]) -> bool:
    own = {number: [place for place in places if place[0] == number] for number in (family, head)}
    if any(place[3] for each in own.values() for place in each):
        return False
    base = [min({p[1] for p in each}, key=lambda d: (time[d] is None, time[d] or 0, d)) for each in own.values()]
    return base[0] == base[1] and len({frozenset(outlet[p[1]] for p in each) for each in own.values()}) == 1


@given(families, groups, times)
def test_stories_come_first_and_repeats_last(chosen: dict[int, Any], of: list[int], when: list[int | None]) -> None:
    places = [(family, *place, is_repeat) for family, (own, is_repeat) in chosen.items() for place in own]
    moments = np.array([NO_TIME if moment is None else moment * SECOND for moment in when], np.int64)
    stories, _ = tell(placed_of(places), outlets_of(np.array(of, np.int64)), moments)
    order = stories.in_order()
    assert sorted(order.tolist()) == list(range(len(stories.family)))
    assert stories.fold[order].tolist() == sorted(stories.fold.tolist())


def test_a_footer_is_told_after_a_reprint() -> None:
    footer = [(1, document, 120, False) for document in range(20)]
    reprint = [(2, 5, 900, False), (2, 19, 900, False)]
    outlets = np.array([0] * 10 + [1] * 10, np.int64)
    stories, _ = tell(placed_of([*footer, *reprint]), outlets, np.full(20, NO_TIME))
    assert stories.family[stories.in_order()].tolist() == [2, 1]


def test_news_in_many_papers_is_a_story_and_a_footer_is_not() -> None:
    """A text in 30 of 90 documents: once in each of 30 outlets, or in all of three; and a short one."""
    papers = np.arange(90, dtype=np.int64) % 30
    news = [(1, document, 900, False) for document in range(30)]
    footer = [(2, document, 900, False) for document in range(90) if document % 30 < 3] + [
        (2, document, 900, False) for document in range(90) if 3 <= document % 30 < 7
    ]
    slogan = [(3, document, 40, False) for document in range(30, 60)]
    stories, _ = tell(placed_of([*news, *footer, *slogan]), papers, np.full(90, NO_TIME), 30)
    assert stories.fold.tolist() == [STORY, BOILERPLATE, BOILERPLATE]
    stories, _ = tell(placed_of([*news, *footer, *slogan]), np.arange(90), np.full(90, NO_TIME))
    assert set(stories.fold.tolist()) == {BOILERPLATE}  # without groups, nothing tells news from footers


def test_equal_times_give_no_precedence() -> None:
    places = [(1, 0, 50, False), (1, 1, 50, False), (1, 2, 50, False)]
    stories, flows = tell(placed_of(places), np.arange(3), np.array([5, 5, 9]) * SECOND)
    assert stories.first_outlet.tolist() == [-1]
    assert not len(flows.family)


def test_folders() -> None:
    assert folders_of([]) is None
    assert folders_of(["a", "b"]) is None
    assert folders_of(["x/a/1", "x/a/2", "x/b/1", "x/b/2"]) == ["a", "a", "b", "b"]
    assert folders_of(["x/a/1", "x/b/2"]) is None  # a folder for each document says nothing
    deep = [f"root/web/{name}/{n}" for name in ("api", "css", "html") for n in range(4)] + ["root/games/1", "root/games/2"]
    assert folders_of(deep) == [f"web/{name}" for name in ("api", "css", "html") for _ in range(4)] + ["games"] * 2
