"""`cluster` from texts to duplicates and clusters: equal to comparing everything with everything."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import ibidem
from ibidem.errors import RepeatedIdError
from tests import cluster_twins as twins
from tests.cluster_twins import clusters, limits, listed, named, records, shingle_sizes, word_lists
from tests.texts import documents, text, word

METHODS = st.sampled_from(["join", "shingling", "pairs"])
SKETCHES = ["minhash", "simhash", "imatch", "spotsigs"]
MEASURES = st.sampled_from(["resemblance", "order"])
styles = st.lists(st.integers(0, 11), min_size=1, max_size=4)


def ids(items: Sequence[dict[str, Any]]) -> list[str]:
    return [item["id"] for item in items]


def hashes(result: ibidem.ClusterResult) -> list[list[int]]:
    known = result.backing.documents.known_by  # type: ignore[attr-defined]
    return [known.hashes[a:b].tolist() for a, b in zip(known.first[:-1], known.first[1:], strict=True)]


# Duplicates.


@settings(max_examples=300, deadline=None)
@given(word_lists(), styles, limits, shingle_sizes, METHODS)
def test_duplicates_are_those_of_comparing_all_pairs(
    words: list[list[str]], style: list[int], limit: str, size: int, method: str
) -> None:
    items = records(words, styles=style)
    result = ibidem.cluster(items, min_similarity=limit, shingle_size=size, method=method, workers=1)
    expected = twins.duplicates([twins.shingles(w, size) for w in words], Fraction(limit))
    assert listed(result) == named(expected, ids(items))


@settings(max_examples=100, deadline=None)
@given(word_lists(), st.one_of(st.none(), word_lists(5)), styles, st.integers(-1, 1))
def test_identical_documents_are_those_with_the_same_words(
    words: list[list[str]], others: list[list[str]] | None, style: list[int], seed: int
) -> None:
    items, known = records(words, styles=style), records(others or [], "r", styles=style[::-1])
    against = known if others else None
    result = ibidem.cluster(items, against=against, method="identical", hash_seed=seed, workers=1)
    expected = twins.identical(words + (others or []), len(words) if others else None)
    assert listed(result) == named(expected, ids(items + known))


def test_identical_is_not_the_same_set_of_shingles() -> None:
    """Shingles of one word neither count nor order the words."""
    items = records([["lum", "besk"], ["besk", "lum"], ["lum", "besk", "lum"], ["lum", "besk"]], styles=(0, 1, 2, 3))
    call: dict[str, Any] = {"min_similarity": "1", "shingle_size": 1}
    assert len(listed(ibidem.cluster(items, **call))) == 6
    assert list(listed(ibidem.cluster(items, method="identical", **call))) == [("d0", "d3")]


def test_identical_compares_no_shingles() -> None:
    with pytest.raises(ibidem.UsageError, match=r"min_containment does not work with method=.identical., which compares"):
        ibidem.cluster(records([["lum"]]), method="identical", min_containment="0.5")


@settings(max_examples=150, deadline=None)
@given(word_lists(), limits, limits, shingle_sizes, METHODS)
def test_containment_either_way_counts_too(
    words: list[list[str]], limit: str, containment: str, size: int, method: str
) -> None:
    items = records(words)
    result = ibidem.cluster(
        items, min_similarity=limit, min_containment=containment, shingle_size=size, method=method, workers=1
    )
    expected = twins.duplicates([twins.shingles(w, size) for w in words], Fraction(limit), Fraction(containment))
    assert listed(result) == named(expected, ids(items))


@pytest.mark.parametrize("method", ["join", "pairs", "shingling"])
@settings(max_examples=100, deadline=None)
@example(words=[["lum"] * 4 + [last] for last in ("orda", "fenn")], limit="0.8", size=1, filter_bits=256)
@given(words=word_lists(), limit=limits, size=shingle_sizes, filter_bits=st.sampled_from([0, 64, 256]))
def test_duplicates_by_order_are_those_of_comparing_all_pairs(
    method: str, words: list[list[str]], limit: str, size: int, filter_bits: int
) -> None:
    items = records(words)
    result = ibidem.cluster(
        items, measure="order", min_similarity=limit, shingle_size=size, method=method, filter_bits=filter_bits, workers=1
    )
    expected = twins.duplicates([twins.shingles(w, size) for w in words], Fraction(limit), measure="order")
    assert listed(result) == named(expected, ids(items))


@pytest.mark.parametrize("with_copies", [False, True])
@settings(max_examples=120, deadline=None)
@example([["lum"], ["lum"]], [["orda"]], "1", 1, "resemblance", False)
@example([["lum"], ["lum"]], [["lum"], ["lum"]], "1", 1, "resemblance", True)
@given(word_lists(6), word_lists(6), limits, shingle_sizes, MEASURES, st.booleans())
def test_against_a_reference_only_pairs_of_both_sides_count(
    with_copies: bool, given_words: list[list[str]], other_words: list[list[str]], limit: str, size: int, measure: str,
    chains: bool,
) -> None:  # fmt: skip
    if not with_copies:
        given_words, other_words = ([list(w) for w in dict.fromkeys(map(tuple, side))] for side in (given_words, other_words))
    items, others = records(given_words, "a"), records(other_words, "b")
    result = ibidem.cluster(
        items, against=others, min_similarity=limit, shingle_size=size, measure=measure, chains=chains, workers=1
    )
    everything = [twins.shingles(w, size) for w in [*given_words, *other_words]]
    expected = twins.duplicates(everything, Fraction(limit), measure=measure, n_input=len(items))
    pairs = named(expected, ids([*items, *others]))
    assert listed(result) == pairs
    # What stays is always the reference's.
    clustered = (twins.chained_clusters if chains else twins.led_clusters)(pairs, ids([*others, *items]))
    assert {stays: set(members) for stays, members in clusters(result).items()} == clustered


alphabets = st.sampled_from(["velmo tarrin. ", "山水人口日月火木", "กขคงจฉชซ", "ひらがなカタ", "ab 山กข. ", "é\u0301ÉＡa ß"])


@settings(max_examples=120, deadline=None)
@given(st.data(), limits, shingle_sizes)
def test_any_script_in_tokens_of_its_own(data: st.DataObject, limit: str, size: int) -> None:
    signs = st.text(data.draw(alphabets), min_size=1, max_size=24)
    template = data.draw(signs)
    edits = data.draw(st.lists(st.tuples(st.integers(0, 24), signs), max_size=5))
    texts = [template, *(template[:place] + new[:3] + template[place:] for place, new in edits), data.draw(signs)]
    items = documents("velmo", *[f"{t}." for t in texts])
    result = ibidem.cluster(items, min_similarity=limit, shingle_size=size, workers=1)
    expected = twins.duplicates([twins.shingles(twins.tokens(item["text"]), size) for item in items], Fraction(limit))
    assert listed(result) == named(expected, ids(items))


@pytest.mark.parametrize("sign", ["山川河海天地人口日月火木金土水石田竹米糸", "กขคงจฉชซญดตถทธนบปผพฟ"])
def test_scripts_without_spaces(sign: str) -> None:
    whole, other = ("".join(sign[i] for i in np.random.default_rng(seed).integers(0, 20, 120)) for seed in (1, 2))
    texts = {"whole": whole, "cut": whole[:-4], "other": other}
    found = listed(ibidem.cluster(documents(**texts), shingle_size=3))
    assert list(found) == [("whole", "cut")]
    assert 0.9 < found["whole", "cut"][0] < 1 == found["whole", "cut"][2]


@settings(max_examples=60, deadline=None)
@given(word_lists(), limits, shingle_sizes, MEASURES, st.randoms())
def test_the_order_of_documents_changes_no_pair(
    words: list[list[str]], limit: str, size: int, measure: str, random: Any
) -> None:
    items = records(words)
    turned = random.sample(items, len(items))
    one, other = (
        ibidem.cluster(some, min_similarity=limit, shingle_size=size, measure=measure, workers=1) for some in (items, turned)
    )
    assert {frozenset(pair): scores[0] for pair, scores in listed(one).items()} == {
        frozenset(pair): scores[0] for pair, scores in listed(other).items()
    }


def test_what_is_left_out_and_what_is_wrong() -> None:
    items = [*documents(a=text(1, 2), b="", c=text(1, 2), d="***", e="***"), {"id": "f"}]
    result = ibidem.cluster(items)
    assert list(listed(result)) == [("a", "c")]
    assert [record.id for record in result.skipped] == ["b", "f"]
    with pytest.raises(RepeatedIdError, match="'a'"):
        ibidem.cluster([*items, *documents(a=text(3))])
    with pytest.raises(ibidem.InputError, match="the reference contains no documents"):
        ibidem.cluster(items, against=documents(""))


@pytest.mark.parametrize("call", [{}, {"method": "shingling"}, {"sample_every": 2}], ids=str)
def test_a_collection_without_words(call: dict[str, Any]) -> None:
    assert len(ibidem.cluster(documents("***", "…"), **call)) == 0
    assert len(ibidem.cluster(documents("***", "…"), against=documents("***"), **call)) == 0


def test_the_size_of_shingles_is_ten_words_unless_it_is_said() -> None:
    nine_in_common = [" ".join(map(word, range(9))) + f" {word(100 + i)}" for i in range(2)]
    assert len(ibidem.cluster(documents(*nine_in_common), min_similarity="0.01")) == 0
    assert len(ibidem.cluster(documents(*nine_in_common), min_similarity="0.01", shingle_size=9)) == 1


# Clusters.


def by_keeping(items: Sequence[dict[str, Any]], keep: str) -> list[str]:
    """The ids in the order in which they stay."""

    def place(numbered: tuple[int, dict[str, Any]]) -> tuple[Any, ...]:
        number, item = numbered
        if keep == "longest":
            return -len(item["text"]), number
        if keep == "first":
            return (number,)
        field, sign = ("time", 1) if keep == "earliest" else (keep.split(":")[0], -1 if keep.endswith("max") else 1)
        value = item.get(field)
        return value is None, 0 if value is None else sign * value, number

    return [item["id"] for _, item in sorted(enumerate(items), key=place)]


keeps = st.sampled_from(["first", "longest", "earliest", "score:max", "score:min"])
maybe_numbers = st.lists(st.one_of(st.none(), st.integers(-3, 12)), min_size=8, max_size=8)


@settings(max_examples=250, deadline=None)
@given(word_lists(), styles, limits, shingle_sizes, MEASURES, keeps, maybe_numbers, maybe_numbers, st.booleans())
def test_clusters_around_the_document_that_stays(
    words: list[list[str]], style: list[int], limit: str, size: int, measure: str, keep: str,
    times: list[int | None], scores: list[int | None], chains: bool,
) -> None:  # fmt: skip
    items = records(words, styles=style)
    for item, time, score in zip(items, times, scores, strict=False):
        item |= {"time": time, "score": score}
    call = {"min_similarity": limit, "shingle_size": size, "measure": measure, "keep": keep, "chains": chains, "workers": 1}
    field = {"earliest": "time", "score:max": "score", "score:min": "score"}.get(keep)
    if field and all(item[field] is None for item in items):
        with pytest.raises(ibidem.InputError, match="no record has a"):
            ibidem.cluster(items, **call)
        return
    result = ibidem.cluster(items, **call)
    found, pairs = clusters(result), listed(result)
    in_order = by_keeping(items, keep)
    duplicates = set(pairs) | {(b, a) for a, b in pairs}
    paired, clustered = ({i for pair in pairs for i in pair}, {i for members in found.values() for i in members})
    assert clustered <= paired
    # A document whose duplicates all belong to others stays alone; none of these others is a duplicate of it.
    assert not any((one, stays) in duplicates for one in paired - clustered for stays in found)
    assert paired == clustered or not chains
    for stays, members in found.items():
        assert stays == min(members, key=in_order.index)
        if not chains:
            assert all(other == stays or (stays, other) in duplicates for other in members)
    if not chains:
        assert not any(pair in duplicates for pair in combinations(found, 2))
    expected = (twins.chained_clusters if chains else twins.led_clusters)(pairs, in_order)
    assert {stays: set(members) for stays, members in found.items()} == expected


def test_who_stays_by_a_field() -> None:
    items = [{"id": name, "text": text(1, 2), "score": score} for name, score in zip("abc", (9, 10, "9.5"), strict=True)]
    assert list(clusters(ibidem.cluster(items, keep="score:max"))) == ["b"]
    assert list(clusters(ibidem.cluster(items, keep="score:min"))) == ["a"]
    for item, score in zip(items, ("pear", "apple", None), strict=True):
        item["score"] = score
    assert list(clusters(ibidem.cluster(items, keep="score:max"))) == ["a"]
    assert list(clusters(ibidem.cluster(items, keep="score:min"))) == ["b"]
    with pytest.raises(ibidem.InputError, match=r"'rank'.*\n.*keep"):
        ibidem.cluster(items, keep="rank:min")
    with pytest.raises(ibidem.InputError, match="time_field"):
        ibidem.cluster(items, keep="earliest")
    dated = [{**item, "time": time} for item, time in zip(items, (None, "2020-01-02", "2020-01-01"), strict=True)]
    assert list(clusters(ibidem.cluster(dated, keep="earliest"))) == ["c"]


def sliding(n: int, width: int = 40, step: int = 3) -> list[dict[str, str]]:
    """Templates of which each is a little different from the one before, and the last has nothing of the first."""
    return documents(*[" ".join(map(word, range(step * i, step * i + width))) for i in range(n)])


def test_a_chain_of_templates_is_not_one_cluster() -> None:
    items = sliding(15)
    call: dict[str, Any] = {"shingle_size": 1, "min_similarity": "0.8"}
    result = ibidem.cluster(items, **call)
    neighbours = {(f"d{i}", f"d{i + 1}") for i in range(14)}
    assert set(listed(result)) == neighbours
    assert clusters(result) == {f"d{i}": [f"d{i}", f"d{i + 1}"] for i in range(0, 14, 2)}
    assert clusters(ibidem.cluster(items, chains=True, **call)) == {"d0": ids(items)}
    middle = [{**item, "score": int(item["id"] == "d7")} for item in items]
    assert clusters(ibidem.cluster(middle, keep="score:max", **call))["d7"] == ["d6", "d7", "d8"]
    assert list(clusters(ibidem.cluster(middle, keep="score:max", chains=True, **call))) == ["d7"]


# Shingles that very many documents have.


@settings(max_examples=120, deadline=None)
@given(word_lists(), limits, shingle_sizes, st.integers(2, 4), MEASURES)
def test_common_shingles_lose_pairs_but_no_truth(
    words: list[list[str]], limit: str, size: int, most: int, measure: str
) -> None:
    items = records(words)
    result = ibidem.cluster(
        items, min_similarity=limit, shingle_size=size, max_shingle_documents=most, measure=measure, workers=1
    )
    expected = named(twins.duplicates([twins.shingles(w, size) for w in words], Fraction(limit), measure=measure), ids(items))
    assert listed(result).items() <= expected.items()
    found = clusters(result)
    for stays, members in found.items():
        assert all(other == stays or tuple(sorted((stays, other))) in expected for other in members)
    home = {doc_id: stays for stays, members in found.items() for doc_id in members}
    for (i, a), (j, b) in combinations(enumerate(words), 2):
        assert not a or a != b or home[f"d{i}"] == home[f"d{j}"], "copies are in one cluster"


def test_a_crowd_of_near_copies_is_one_cluster_without_a_square_of_pairs() -> None:
    shared = " ".join(map(word, range(60)))
    items = documents(*[f"{shared} {word(1000 + i)}" for i in range(300)])
    result = ibidem.cluster(items, shingle_size=2, max_shingle_documents=50, keep="id:max")
    assert clusters(result) == {"d99": ids(items)}
    assert len(result) < 5 * len(items)
    assert len(ibidem.cluster(items, shingle_size=2)) == 300 * 299 // 2
    copies = documents(*[shared] * 60)
    result = ibidem.cluster(copies, max_shingle_documents=50)
    assert set(listed(result)) == {("d0", f"d{i}") for i in range(1, 60)}
    assert clusters(result) == {"d0": ids(copies)}


def test_a_crowd_against_a_crowd() -> None:
    shared = " ".join(map(word, range(60)))
    items, others = (records([[shared, word(n + i)] for i in range(40)], name) for name, n in (("a", 1000), ("b", 2000)))
    result = ibidem.cluster(items, against=others, shingle_size=2, max_shingle_documents=10)
    assert all((a[0], b[0]) == ("a", "b") for a, b in listed(result))
    assert {doc_id for members in clusters(result).values() for doc_id in members} >= set(ids(items))
    assert all(stays[0] == "b" for stays in clusters(result))


# Samples.


@settings(max_examples=150, deadline=None)
@given(word_lists(), limits, shingle_sizes, st.sampled_from([2, 3, 4, 7]), st.data())
def test_samples_are_taken_by_hash(words: list[list[str]], limit: str, size: int, every: int, data: st.DataObject) -> None:
    items = records(words)
    remainder = data.draw(st.integers(0, every - 1))
    call: dict[str, Any] = {"min_similarity": limit, "shingle_size": size, "workers": 1}
    sample = {"sample_every": every, "sample_remainder": remainder}
    exact = listed(ibidem.cluster(items, **call))
    verified = listed(ibidem.cluster(items, **call, **sample))
    assert verified.items() <= exact.items()
    guessed = ibidem.cluster(items, **call, **sample, verify=False)
    expected = twins.sampled_duplicates(words, hashes(guessed), [every] * len(words), remainder, Fraction(limit))
    assert listed(guessed) == named(expected, ids(items))
    # Whatever the sample takes for duplicates is compared, and stays if it is true.
    assert verified.items() >= {pair: exact[pair] for pair in listed(guessed) if pair in exact}.items()


@settings(max_examples=150, deadline=None)
@given(word_lists(), limits, shingle_sizes, st.sampled_from([(1, 2, 4), (2, 2, 8), (1, 1, 4)]), st.booleans())
def test_a_plan_compares_pairs_by_the_smaller_sample(
    words: list[list[str]], limit: str, size: int, every: tuple[int, ...], with_order: bool
) -> None:
    items = records(words)
    plan = ibidem.SamplingPlan((0, 6, 10), every, {})
    call: dict[str, Any] = {"min_similarity": limit, "shingle_size": size, "workers": 1}
    guessed = ibidem.cluster(items, plan=plan, verify=False, **call)
    known = hashes(guessed)
    of_document = [every[(len(mine) >= 6) + (len(mine) >= 10)] for mine in known]
    expected = twins.sampled_duplicates(words, known, of_document, 0, Fraction(limit))
    assert listed(guessed) == named(expected, ids(items))
    call["measure"] = "order" if with_order else "resemblance"
    verified = listed(ibidem.cluster(items, plan=plan, **call))
    assert verified.items() <= listed(ibidem.cluster(items, **call)).items()


# The known sketches.


@settings(max_examples=120, deadline=None)
@given(word_lists(), limits, shingle_sizes, st.sampled_from(SKETCHES), MEASURES, st.booleans())
def test_sketches_find_true_pairs_only(
    words: list[list[str]], limit: str, size: int, method: str, measure: str, with_reference: bool
) -> None:
    call: dict[str, Any] = {"min_similarity": limit, "shingle_size": size, "measure": measure, "workers": 1}
    if with_reference:
        words = [list(w) for w in dict.fromkeys(map(tuple, words))]
        call["against"] = records([*words[::2], ["orda"]], "b")
    items = records(words)
    found = listed(ibidem.cluster(items, method=method, **call))
    assert found.items() <= listed(ibidem.cluster(items, **call)).items()
    copies = {(f"d{i}", f"d{j}") for (i, a), (j, b) in combinations(enumerate(words), 2) if a and a == b}
    copies |= {(f"d{i}", f"b{i // 2}") for i, a in enumerate(words) if a and with_reference and i % 2 == 0}
    assert found.keys() >= copies or method in ("imatch", "spotsigs"), "those two may know nothing of a document"


def article(number: int, n_words: int = 200) -> list[str]:
    """Words of its own, every fourth of them one that all articles have."""
    return ["lo" if i % 4 == 3 else word(400 * number + i) for i in range(n_words)]


@pytest.mark.parametrize("method", SKETCHES)
@pytest.mark.parametrize("verify", [True, False])
def test_sketches_find_near_copies(method: str, verify: bool) -> None:
    words = [article(n) for n in range(20)]
    words += [w[:-1] for w in words[:10]]  # ends with "lo": the rest is the same
    words += [list(words[15])]
    # SpotSigs wants words that open its spots, I-Match ignores those that occur nearly everywhere.
    result = ibidem.cluster(records(words), method=method, verify=verify, shingle_size=2, antecedents="lo")
    found = listed(result)
    assert found.keys() == {(f"d{i}", f"d{20 + i}") for i in range(10)} | {("d15", "d30")}
    assert found["d15", "d30"] == (1, 1, 1)
    if verify:
        assert found["d0", "d20"] == tuple(map(float, twins.resemblance(*(twins.shingles(words[d], 2) for d in (0, 20)))))


def test_copies_keep_no_near_copy_from_its_bucket() -> None:
    content = text(*range(12))
    items = documents(short=content, long=f"{content} !!!", near=f"{content} Lo.")
    call: dict[str, Any] = {"method": "minhash", "keep": "longest", "shingle_size": 2, "max_shingle_documents": 2}
    assert len(ibidem.cluster(items[1:], **call)) == 1
    assert clusters(ibidem.cluster(items, **call)) == {"long": ids(items)}


def test_estimates_of_minhash_are_shares_of_its_permutations() -> None:
    words = [[word(i) for i in range(100 + shift) if i >= shift] for shift in (0, 5, 10, 20)]
    call: dict[str, Any] = {"method": "minhash", "min_similarity": "0.5", "shingle_size": 1, "permutations": 256, "bands": 64}
    guessed, verified = (listed(ibidem.cluster(records(words), verify=verify, **call)) for verify in (False, True))
    assert len(verified) == 6
    for pair, scores in guessed.items():
        assert 256 * scores[0] == int(256 * scores[0])
        assert abs(scores[0] - verified[pair][0]) < 0.1
    assert guessed != verified


# Nothing depends on how the work is done.


def mixture(n: int = 120) -> list[dict[str, Any]]:
    random = np.random.default_rng(3)
    templates = random.integers(0, 2000, (10, 80))
    items = []
    for i in range(n):
        words = templates[i % 10].copy()
        places = random.integers(0, 80, i // 10)
        words[places] = random.integers(0, 2000, len(places))
        items.append({"id": f"d{i}", "text": " ".join(map(word, words.tolist())), "time": 1_000_000 + i % 7})
    return items + [{**item, "id": item["id"] + "-copy"} for item in items[::9]]


@pytest.mark.parametrize(
    "call",
    [
        {},
        {"measure": "order"},
        {"method": "minhash"},
        {"method": "simhash", "max_bits_apart": 8},
        {"method": "identical"},
        {"method": "imatch"},
        {"method": "spotsigs"},
        {"sample_every": 4},
        {"max_shingle_documents": 5},
    ],
    ids=str,
)
def test_workers_memory_and_batches_change_nothing(call: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    items = mixture()
    call = {"shingle_size": 2, "min_similarity": "0.3", "keep": "earliest", "hash_seed": 1} | call
    plain = ibidem.cluster(items, workers=1, **call)
    assert len(plain) > 0
    runs = [ibidem.cluster(items, workers=n, **call) for n in (2, 3)]
    runs.append(ibidem.cluster([items[:50], iter(items[50:])], workers=2, **call))
    monkeypatch.setattr("ibidem.formats.records.MAX_BATCH_BYTES", 3000)
    monkeypatch.setattr("ibidem.formats.reader.MIN_BATCH_BYTES", 1)
    runs += [ibidem.cluster(items, workers=n, **call) for n in (1, 3)]
    assert len(runs[-1].backing.documents.batches) > 5
    for result in runs:
        assert result.duplicates.equals(plain.duplicates)
        assert result.clusters.equals(plain.clusters)


@pytest.mark.parametrize(
    "call",
    [{}, {"measure": "order"}, {"method": "spotsigs"}, {"method": "imatch"}, {"method": "minhash"}, {"method": "identical"}],
    ids=str,
)
def test_little_memory_changes_nothing(call: dict[str, Any], tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    items = mixture()
    call = {"shingle_size": 2, "min_similarity": "0.3"} | call
    plain = ibidem.cluster(items, **call)
    monkeypatch.setattr("ibidem.formats.records.MAX_BATCH_BYTES", 3000)
    monkeypatch.setattr("ibidem.formats.reader.MIN_BATCH_BYTES", 1)
    for memory in ("1kB", "20 kB"):  # with the second some batches fit
        with ibidem.cluster(items, memory=memory, tmp_dir=str(tmp_path), **call) as spilled:
            if call.get("method") == "imatch":  # it keeps the collection in memory, except for a column
                assert isinstance(spilled.backing.documents.known_by.hashes, np.memmap)
                assert not isinstance(plain.backing.documents.known_by.hashes, np.memmap)
            else:
                assert spilled.backing.storage == "disk"
            assert spilled.duplicates.to_pylist() == plain.duplicates.to_pylist()
            assert spilled.clusters.to_pylist() == plain.clusters.to_pylist()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ibidem.ResourceError, match="tmp_dir"):
        ibidem.cluster(items, memory="1kB", tmp_dir=str(tmp_path / "absent"), **call)


def test_result_says_what_it_holds() -> None:
    result = ibidem.cluster(sliding(4), shingle_size=1)
    assert repr(result) == "<ClusterResult: 3 pairs, 2 clusters of 4 documents>"
    run = result.run()
    assert {"documents": 4, "shingles": 160, "duplicates": 3, "clusters": 2, "clustered": 4, "skipped": 0}.items() <= run[
        "counts"
    ].items()
    assert set(run["timings_seconds"]) == {"shingles", "pairs", "clusters", "tables"}
