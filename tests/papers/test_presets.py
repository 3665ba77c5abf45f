"""`--as PAPER`: each preset from end to end against a plain twin of what is printed; what it sets, and where it is refused."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ibidem
from ibidem.config import Config, setting_fields
from ibidem.config.papers import PRESETS
from ibidem.config.settings import PAPERS
from tests import cluster_twins, index_twins
from tests.cli.test_find import Run, run, write_jsonl
from tests.execution.parity import rows_of
from tests.execution.random_collections import random_records
from tests.index_twins import Frequencies, bit_signature, records_of, temporary_folder
from tests.matches import sentence_twins
from tests.oracles import maximal_runs
from tests.texts import text

__all__ = ["run"]
few = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
WORDS = index_twins.WORDS


@few
@given(st.integers(0, 10**6), st.integers(2, 12), st.sampled_from(["imatch", "shingles"]))
def test_pdc_mr(seed: int, n_documents: int, signature: str) -> None:
    """Alg. 1 and 2: equal keys, or J ≥ τ, of two documents; all maximal diagonals of more than three cells."""
    records = random_records(seed, n_documents)
    found = ibidem.find(records, as_paper="pdc-mr", signature=signature, sentence_pairs=True, postings=True)
    places = sentence_twins.places_of(records)
    known = sentence_twins.known_by(places, signature, paper=True, shingle_size=4)
    tau, by_sets = Fraction(9, 10), signature == "shingles"
    pairs, _ = sentence_twins.sentence_pairs(places, known, tau, by_sets, max_places=10**9)
    assert (rows_of(found.sentence_pairs), found.counts["sentences_left_out"]) == (pairs, 0)
    cells = {(row["a_id"], row["a_sentence"], row["b_id"], row["b_sentence"]) for row in pairs}
    lengths = {record["id"]: len(ibidem.split_sentences(record["text"])) for record in records}
    expected = set()
    for a, b in combinations(lengths, 2):
        runs = maximal_runs(lengths[a], lengths[b], lambda i, j, a=a, b=b: (a, i, b, j) in cells)
        expected |= {(a, i, b, j, n) for i, j, n in runs if n > 3}
    names = ("a_id", "a_sentence", "b_id", "b_sentence", "n_sentences")
    assert {tuple(row[name] for name in names) for row in rows_of(found.passages)} == expected
    assert found.repeats.num_rows == 0


@few
@given(cluster_twins.word_lists(), st.sampled_from(["0.5", "0.6", "2/3", "0.8"]), st.integers(1, 3))
def test_swlr(words: list[list[str]], limit: str, size: int) -> None:
    """Eq. 6: r = 2 |LCS| / (|A| + |B|) > q, over all pairs. From q = 1/2 on, the printed filter loses nothing."""
    records = cluster_twins.records(words)
    found = ibidem.cluster(records, as_paper="swlr", min_similarity=limit, shingle_size=size)
    every = cluster_twins.duplicates([cluster_twins.shingles(w, size) for w in words], Fraction(limit), measure="order")
    above = {pair: scores for pair, scores in every.items() if scores[0] > Fraction(limit)}
    assert cluster_twins.listed(found) == cluster_twins.named(above, [record["id"] for record in records])


@few
@given(st.data())
def test_qsign(data: Any) -> None:
    """Fig. 5: candidates within d bits of the signature, and of these the sentences whose score reaches θ."""
    sentences = st.lists(st.sampled_from(WORDS[:14]), min_size=1, max_size=9).map(tuple)
    documents = data.draw(st.lists(st.lists(sentences, min_size=1, max_size=4), min_size=1, max_size=8))
    queries = data.draw(st.lists(st.lists(sentences, min_size=1, max_size=4), min_size=1, max_size=3))
    radius = data.draw(st.sampled_from([0, 1, 5]))
    snapshot = Frequencies.of(documents)
    expected = set()
    for q, query in enumerate(queries):
        for i, mine in enumerate(query):
            for d, document in enumerate(documents):
                for j, other in enumerate(document):
                    n_apart = (bit_signature(mine, 32, 2) ^ bit_signature(other, 32, 2)).bit_count()
                    if n_apart <= radius and index_twins.is_hit(mine, other, "product", Fraction(1, 2), snapshot):
                        expected.add((f"q{q}", i, f"d{d}", j))
    with temporary_folder() as folder, ibidem.Index(folder, as_paper="qsign", radius=radius, hash_seed=0, workers=1) as index:
        index.add(records_of(documents))
        hits = index.query(records_of(queries, "q")).hits.to_pylist()
    assert {(hit["a_id"], hit["a_sentence"], hit["b_id"], hit["b_sentence"]) for hit in hits} == expected


@few
@given(st.data())
def test_yoon(data: Any) -> None:
    """Sect. 2: words of more than 0.6 of the documents go, the rest is sorted; more than δ = 3 collisions are a duplicate."""
    sentences = st.lists(st.sampled_from(WORDS[:9]), min_size=1, max_size=4).map(tuple)
    documents = data.draw(st.lists(st.lists(sentences, min_size=1, max_size=3), min_size=17, max_size=24))
    queries = data.draw(st.lists(st.lists(sentences, min_size=3, max_size=7), min_size=1, max_size=4))
    counts, most = Frequencies.of(documents).document_counts, Fraction(6, 10) * len(documents)

    def fingerprint(sentence: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(sorted(word for word in sentence if counts.get(word, 0) <= most))

    table = {fingerprint(sentence) for document in documents for sentence in document} - {()}
    expected = [sum(fingerprint(sentence) in table for sentence in query) for query in queries]
    with temporary_folder() as folder, ibidem.Index(folder, as_paper="yoon", workers=1) as index:
        index.add(records_of(documents))
        verdicts = index.check(records_of(queries, "q"))
    assert [verdict.n_known for verdict in verdicts] == expected
    assert [verdict.duplicated for verdict in verdicts] == [n > 3 for n in expected]


@pytest.mark.parametrize(("n_places", "is_known"), [(300, True), (301, False)])
def test_yoon_leaves_out_sentences_of_more_than_300_places(n_places: int, is_known: bool, tmp_path: Path) -> None:
    records = [{"id": str(n), "text": text(7, 1000 + n)} for n in range(n_places)] + [
        {"id": f"other {n}", "text": text(2000 + n)} for n in range(n_places)
    ]
    with ibidem.Index(tmp_path / "index", as_paper="yoon") as index:
        index.add(records)
        assert index.check({"id": "new", "text": text(7)}).n_known == is_known


@few
@given(st.data())
def test_ye(data: Any) -> None:
    """Sect. 3: the resemblance of the sets of shingles reaches the threshold; all shingles of all documents count."""
    words = st.sampled_from(["don't", "we’ll", "lum", "orda", "it"])
    template = data.draw(st.lists(words, min_size=12, max_size=40))
    texts = [template]
    for _ in range(data.draw(st.integers(1, 5))):
        copy = list(template)
        for place in data.draw(st.lists(st.integers(0, 39), max_size=2)):
            copy[place % len(copy)] = data.draw(words)
        texts.append(copy)
    records = [{"id": str(n), "text": " ".join(copy)} for n, copy in enumerate(texts)]
    found = ibidem.cluster(records, as_paper="ye")
    sets = [{tuple(copy[i : i + 10]) for i in range(len(copy) - 9)} for copy in texts]
    expected = {
        (str(a), str(b)): len(sets[a] & sets[b]) / len(sets[a] | sets[b]) for a, b in combinations(range(len(texts)), 2)
    }
    listed = {(row["a_id"], row["b_id"]): row["similarity"] for row in rows_of(found.duplicates)}
    assert listed == {pair: likeness for pair, likeness in expected.items() if likeness >= 0.85}


def test_ye_tunes_a_plan_and_clusters_by_it(run: Run, tmp_path: Path) -> None:
    copies = [{"id": f"{n}-{k}", "text": text(*range(40 * n, 40 * n + 39 + k), count=12)} for n in range(12) for k in range(2)]
    write_jsonl(tmp_path / "crawl.jsonl", copies)
    assert run("tune", "crawl.jsonl", "--as", "ye", "-o", "plan.json").code == 0
    assert json.loads((tmp_path / "plan.json").read_text("utf-8"))["made_for"]["min_precision"] == 0.85
    assert run("cluster", "crawl.jsonl", "-o", "out", "--as", "ye", "--plan", "plan.json", "--format", "jsonl").code == 0
    rows = [json.loads(line) for line in (tmp_path / "out" / "duplicates.jsonl").read_text("utf-8").splitlines()]
    assert {(row["a_id"], row["b_id"]) for row in rows} == {(f"{n}-0", f"{n}-1") for n in range(12)}


# What presets set, and where they are refused.


@pytest.mark.parametrize("name", PAPERS)
def test_a_preset_sets_what_it_lists(name: str, tmp_path: Path) -> None:
    config, defaults = Config.of(as_paper=name), Config()
    stages = {setting.name: stage for stage, setting in setting_fields()}
    for printed in PRESETS[name].settings:
        value = getattr(getattr(config, stages[printed.setting]), printed.setting)
        assert value == (Fraction(str(printed.value)) if isinstance(value, Fraction) else printed.value)
        ours = getattr(getattr(defaults, stages[printed.setting]), printed.setting)
        assert printed.why_not or value == ours or printed.setting == "paper", "say why the default is another one"
    (tmp_path / "settings.toml").write_text(config.to_toml(), "utf-8")
    assert Config.from_toml(tmp_path / "settings.toml") == config
    assert list(PRESETS) == list(PAPERS)


def test_what_is_given_beside_a_preset_wins_and_is_noted(run: Run, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "d.jsonl", [{"id": "a", "text": text(1, 2, 3)}, {"id": "b", "text": text(1, 2, 3)}])
    answer = run("find", "d.jsonl", "-o", "out", "--as", "pdc-mr", "--min-sentences", "2", "--max-places", "50")
    assert answer.code == 0
    described = json.loads((tmp_path / "out" / "run.json").read_text("utf-8"))
    assert described["paper"] == {
        "name": "pdc-mr",
        "changed": {"min_sentences": {"printed": 3, "used": 2}, "max_places": {"printed": 10**9, "used": 50}},
    }
    assert described["counts"]["passages"] == 1
    assert run("find", "d.jsonl", "-o", "out", "--as", "pdc-mr", "--overwrite").code == 0
    described = json.loads((tmp_path / "out" / "run.json").read_text("utf-8"))
    assert (described["paper"]["changed"], described["counts"]["passages"]) == ({}, 0)
    quotes = ibidem.find(str(tmp_path / "d.jsonl"), as_paper="pdc-mr", min_quote_words=5)
    assert "quote" in {passage.kind for passage in quotes}


VERBS = {"find": ["pdc-mr"], "cluster": ["swlr", "ye"], "dedup": ["swlr", "ye"], "tune": ["ye"]}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name", PAPERS)
def test_verbs_refuse_the_papers_of_others(run: Run, tmp_path: Path, verb: str, name: str) -> None:
    shared = text(*range(30), count=12)
    path = write_jsonl(tmp_path / "d.jsonl", [{"id": "a", "text": shared}, {"id": "b", "text": shared + " Nu."}])
    answer = run(verb, path, "--as", name, *(["-o", "out"] if verb != "tune" else []))
    if name in VERBS[verb]:
        assert answer.code == 0, answer.err
    else:
        assert answer.code == 2
        assert f"`--as {name}` belongs to `ibidem {PRESETS[name].verbs[0]}`" in answer.err
        assert f"not to `{verb}`" in answer.err
        assert not (tmp_path / "out").exists()


def test_an_index_refuses_the_papers_of_other_verbs(run: Run, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "d.jsonl", [{"id": "a", "text": text(1, 2, 3)}])
    assert "`--as ye` belongs to `ibidem cluster`" in run("index", "add", "x.idx", path, "--as", "ye").err
    assert not (tmp_path / "x.idx").exists()
    assert run("index", "add", "x.idx", path, "--as", "yoon").code == 0
    assert run("index", "check", "x.idx", path, "--as", "yoon").code == 0
    answer = run("index", "query", "x.idx", path, "--as", "qsign")
    assert (answer.code, "--signature-bits is 64 in the index, not 32" in answer.err) == (4, True)
    with pytest.raises(ibidem.UsageError, match="belongs to `ibidem find`, not to `compare`"):
        ibidem.compare(text(1), text(1), as_paper="pdc-mr")


def test_dedup_of_passages_is_no_paper(run: Run, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "d.jsonl", [{"id": "a", "text": text(1, 2, 3)}])
    assert "compares whole documents" in run("dedup", path, "-o", "out", "--level", "passage", "--as", "ye").err


def test_the_list_of_papers(run: Run) -> None:
    answer = run("papers")
    assert (answer.code, answer.err) == (0, "")
    for name, paper in PRESETS.items():
        assert f"\n{name}: " in f"\n{answer.out}"
        assert f"run by: ibidem {paper.verbs[0]}" in answer.out
        for printed in paper.settings:
            assert printed.where in answer.out or printed.setting == "paper"
            assert printed.why_not.split()[-1:] == [] or printed.why_not.split()[-1] in answer.out
    assert run("papers", "yoon").out in answer.out
    assert all(len(line) <= 120 for line in answer.out.splitlines())
    assert "must be one of pdc-mr" in run("papers", "broder").err


def test_the_old_flag_is_hidden_but_works(run: Run, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "d.jsonl", [{"id": name, "text": text(1, 2, 3)} for name in "ab"])
    assert "--paper" not in run("find", "--help-all").out
    assert "--as PAPER" in run("find", "--help-all").out
    assert run("find", path, "-o", "out", "--paper", "-q").code == 0
    assert json.loads((tmp_path / "out" / "run.json").read_text("utf-8"))["counts"]["passages"] == 0
