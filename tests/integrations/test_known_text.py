"""What an index says about texts: the same as `find`, proven before anything is cut, and in any process."""

from __future__ import annotations

import copy
import os
import pickle
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ibidem
from ibidem import Index
from ibidem.errors import IndexSettingsError, NoIndexError, SettingsError, UsageError
from ibidem.integrations.known_text import Known, KnownText, id_of
from tests.forking import forking_process
from tests.integrations.conftest import KNOWN, NEW, REMAINING
from tests.texts import changed, text

SENTENCE = st.tuples(st.integers(0, 5), st.booleans()).map(lambda s: changed(s[0], 1, 12) if s[1] else text(s[0], count=12))
TEXTS = st.lists(st.lists(SENTENCE, min_size=1, max_size=6).map(" ".join), min_size=1, max_size=5)


def words(sentence: str) -> list[str]:
    return re.findall(r"\w+", sentence.lower())


def test_what_is_known_and_what_remains(index_path: Path) -> None:
    known = KnownText(index_path)
    found = known.look_up(NEW, cuts=True)
    assert [each.is_known for each in found] == KNOWN
    assert [each.remaining(value) for each, value in zip(found, NEW, strict=True)] == REMAINING
    (span,) = found[2].spans
    assert (NEW[2][span.start : span.end], span.matched_id, span.kind) == (text(20, 21, 22, count=12), "old 2", "exact")
    assert found[2].covered_share == pytest.approx((span.end - span.start) / len(NEW[2]))
    assert [each.spans for each in known.look_up(NEW)] == [each.spans for each in found]
    assert known.look_up([None, "  ", "\ud800 lone."]) == [Known()] * 3


def test_any_passage_can_make_a_text_known(index_path: Path) -> None:
    found = KnownText(index_path, min_covered_share=0).look_up(NEW)
    assert [each.is_known for each in found] == [False, True, True, True, True, False]
    only_runs = KnownText(index_path, min_covered_share=0, min_quote_words=0).look_up(NEW)
    assert [each.is_known for each in only_runs] == [False, True, True, True, False, False]


@given(TEXTS, TEXTS)
@settings(max_examples=30)
def test_known_is_what_find_reports_and_cuts_are_in_a_document_word_for_word(
    tmp_path_factory: pytest.TempPathFactory, old: list[str], new: list[str]
) -> None:
    documents = [{"id": f"o{n}", "text": value} for n, value in enumerate(old)]
    path = tmp_path_factory.mktemp("index")
    with Index(path) as index:
        index.add(documents)
    known = KnownText(path)
    found = known.look_up(new, cuts=True)
    # Where passages tie, ids decide.
    result = ibidem.find(
        [{"id": name, "text": value} for name, value in {id_of(value): value for value in new}.items()],
        against=documents,
        align=False,
    )
    covered_in: dict[str, set[int]] = {}
    for passage in result:
        covered_in.setdefault(passage.a.id, set()).update(range(passage.a.start, passage.a.end))
    covered = [covered_in.get(id_of(value), set()) for value in new]
    there = [words(value[start:end]) for value in old for start, end in ibidem.split_sentences(value)]
    for value, each, places in zip(new, found, covered, strict=True):
        assert {place for span in each.spans for place in range(span.start, span.end)} == places
        assert each.covered_share == len(places) / len(value)
        assert each.is_known == (len(places) >= 0.8 * len(value))
        wanted = [
            (start, end)
            for start, end in ibidem.split_sentences(value)
            if words(value[start:end]) in there and set(range(start, end)) <= places
        ]
        cut = {place for start, end in each.cuts for place in range(start, end) if not value[place].isspace()}
        assert cut == {place for start, end in wanted for place in range(start, end) if not value[place].isspace()}
        # No text is left out of the evidence, and no piece of evidence is superfluous.
        for span in each.spans:
            others = [set(range(s.start, s.end)) for s in each.spans if s != span]
            assert not any(set(range(span.start, span.end)) <= other for other in others)
    known.close()


def test_an_answer_depends_on_the_text_alone(tmp_path: Path) -> None:
    value = " ".join(changed(n, 1, 12) if n % 2 else text(n, count=12) for n in (2, 2, 0, 4, 0))
    with Index(tmp_path) as index:
        index.add(
            [{"id": "o", "text": " ".join((changed(2, 1, 12), text(5, count=12), text(4, 0, 2, count=12), changed(4, 1, 12)))}]
        )
    known = KnownText(tmp_path)
    answers = [known.look_up(texts, cuts=True) for texts in ([value], [value], [text(9), value], [value, text(8), value])]
    assert {each for answer in answers for each in answer if each.spans} == {answers[0][0]}
    assert answers[3][0] == answers[3][2]


@given(TEXTS)
@settings(max_examples=40)
def test_with_exact_sentences_cutting_is_what_dedup_does_against_a_reference(
    tmp_path_factory: pytest.TempPathFactory, new: list[str]
) -> None:
    old = [{"id": "old", "text": text(0, 1, 2, 3, 4, 5, count=12)}]
    path = tmp_path_factory.mktemp("index")
    with Index(path, signature="exact") as index:
        index.add(old)
    known = KnownText(path, min_quote_words=0, max_gap_sentences=0)
    left = [each.remaining(value) for value, each in zip(new, known.look_up(new, cuts=True), strict=True)]
    cleaned = ibidem.dedup([{"id": str(n), "text": value} for n, value in enumerate(new)], against=old, level="passage")
    remaining = {int(document.id): document.text for document in cleaned.remaining()}
    assert [value.split() for value in left] == [remaining.get(n, "").split() for n in range(len(new))]
    known.close()


def test_nothing_is_cut_without_proof(tmp_path: Path) -> None:
    with Index(tmp_path, texts=False) as index:
        index.add([{"id": "a", "text": NEW[1]}])
    known = KnownText(tmp_path)
    assert known.look_up([NEW[1]])[0].is_known
    with pytest.raises(IndexSettingsError, match="does not keep"):
        known.check_texts()
    with pytest.raises(IndexSettingsError, match="nothing proves"):
        known.look_up([NEW[1]], cuts=True)


def test_it_can_be_pickled_and_copied(index_path: Path) -> None:
    known = KnownText(index_path)
    for other in (pickle.loads(pickle.dumps(known)), copy.deepcopy(known)):
        assert [each.is_known for each in other.look_up(NEW)] == KNOWN
    assert pickle.dumps(known) == pickle.dumps(KnownText(index_path))


def test_a_pickle_changes_when_the_index_grows(tmp_path: Path) -> None:
    known = KnownText(tmp_path / "new.idx", create=True)
    empty = pickle.dumps(known)
    assert known.look_up([NEW[1]]) == [Known()]
    with Index(tmp_path / "new.idx") as index:
        index.add([{"id": "a", "text": NEW[1]}])
    assert pickle.dumps(known) != empty
    assert known.look_up([NEW[1]])[0].is_known


def test_it_survives_a_change_of_folder(index_path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(index_path.parent)
    pickled = pickle.dumps(KnownText(index_path.name))
    monkeypatch.chdir(tmp_path)
    assert pickle.loads(pickled).look_up(NEW[1:2])[0].is_known


FORKS = """
import sys
from ibidem.integrations.known_text import KnownText
from tests.forking import fork
from tests.integrations.conftest import KNOWN, NEW
import os
known = KnownText(sys.argv[1])
assert [each.is_known for each in known.look_up(NEW)] == KNOWN
children = []
for _ in range(2):
    child = fork()
    if not child:
        os._exit(int([each.is_known for each in known.look_up(NEW)] != KNOWN))
    children.append(child)
assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]
assert [each.is_known for each in known.look_up(NEW)] == KNOWN
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_it_survives_a_fork(index_path: Path) -> None:
    done = subprocess.run(**forking_process("-c", FORKS, str(index_path)), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_reading_waits_for_no_writer(tmp_path: Path) -> None:
    with Index(tmp_path) as index:
        index.add([{"id": "a", "text": NEW[1]}])
        watching = index.watch([{"id": "b", "text": NEW[0]}, {"id": "c", "text": NEW[2]}])
        next(watching)  # from now on it has the lock
        known = KnownText(tmp_path)
        assert known.look_up(NEW[1:2])[0].is_known
        watching.close()


def test_threads_share_it(index_path: Path) -> None:
    known, answers = KnownText(index_path), []
    threads = [
        threading.Thread(target=lambda: answers.append([each.is_known for each in known.look_up(NEW)])) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [KNOWN] * 4


def test_admitting_keeps_the_first_of_each_text(tmp_path: Path) -> None:
    known = KnownText(tmp_path / "new.idx", create=True)
    texts = [NEW[1], NEW[0], NEW[1], NEW[3], text(30, 31, 32, 33, count=12)]
    found = known.admit(texts, [f"n{n}" for n in range(5)])
    assert [each.is_known for each in found] == [False, False, True, False, True]
    assert found[2].spans[0].matched_id == "n0"
    with Index(tmp_path / "new.idx", create=False) as index:
        assert [f"n{n}" in index for n in range(5)] == [True, True, False, True, False]
    assert all(each.is_known for each in known.admit(texts, [f"m{n}" for n in range(5)]))
    # Another text under a known id replaces the old one.
    assert not known.admit([NEW[4]], ["n1"])[0].is_known
    assert [each.is_known for each in known.look_up([NEW[0], NEW[4]])] == [False, True]


@given(TEXTS, st.integers(1, 5))
@settings(max_examples=15)
def test_admitting_one_by_one_is_the_same_as_together(
    tmp_path_factory: pytest.TempPathFactory, new: list[str], size: int
) -> None:
    answers = []
    for together in (1, size, len(new)):
        known = KnownText(tmp_path_factory.mktemp("index") / "new.idx", create=True)
        pieces = [range(begin, min(begin + together, len(new))) for begin in range(0, len(new), together)]
        answers.append(
            [each.is_known for piece in pieces for each in known.admit([new[n] for n in piece], [str(n) for n in piece])]
        )
        known.close()
    assert answers[0] == answers[1] == answers[2]


def test_adding_waits_for_another_writer(tmp_path: Path) -> None:
    known = KnownText(tmp_path / "new.idx", create=True)
    with Index(tmp_path / "new.idx") as index:
        watching = index.watch([{"id": "b", "text": NEW[0]}, {"id": "c", "text": NEW[2]}])
        next(watching)
        timer = threading.Timer(0.3, watching.close)
        timer.start()
        assert not known.admit([NEW[1]], ["a"])[0].is_known
        timer.join()
        assert len(index) == 2


def test_what_is_wrong_shows_at_once(tmp_path: Path, index_path: Path) -> None:
    with pytest.raises(NoIndexError):
        KnownText(tmp_path / "missing.idx")
    with pytest.raises(SettingsError, match="min_covered_share must be between 0 and 1, not 80"):
        KnownText(index_path, min_covered_share=80)
    with pytest.raises(SettingsError):
        KnownText(index_path, min_sentence=3)
    with pytest.raises(UsageError, match="text 1 must be a string, not int"):
        KnownText(index_path).look_up(["a", 7])  # type: ignore[list-item]


def test_no_library_is_loaded_unless_asked() -> None:
    code = (
        "import sys, ibidem.integrations.frames; "
        "print(sorted({'ray', 'datasets', 'datatrove', 'langchain_core', 'llama_index', 'polars'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=dict(os.environ))
    assert done.stdout == "[]\n"
