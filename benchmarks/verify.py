"""How well `ibidem verify` judges quotations: word for word, altered in one kind of thing, or invented.

`python benchmarks/verify.py --data DIR` indexes nine tenths of the documents of some collections and makes quotations of 3 to
40 words: a third taken from them as they are, a third altered in one kind of thing, and a third taken from the other documents,
where no five neighbouring words (or not all, if fewer) occur in the index. It prints what was answered for each, whether the
kind of alteration was named, and the processor time per quotation. Rates are given for all quotations, and for those of six
words and more.

With `--more FILE`, JSON lines such as `make_collection.py` writes, the index is large: it has these documents too. They may
contain what was invented, so only the times are printed then.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Sequence
from itertools import islice
from pathlib import Path

import ibidem
from ibidem.alignment.differences import words_of
from make_collection import read_lines, require_data

COLLECTIONS = ("newsgroups20/docs.jsonl.zst", "mail_list/docs.jsonl.zst", "mdn_en/docs.jsonl.zst")
FEWEST, MOST, LONG = 3, 40, 6
KINDS = ("number", "date", "name", "negation", "spelling", "order", "reworded")
_MOST_SHARED = 5  # neighbouring words that an invented quotation must not have in common with the index
_SEPARATE = 10  # one document in so many is not indexed


class Quoted:
    """The words of a document, and the names that occur in any."""

    def __init__(self, name: str, text: str) -> None:
        self.name, self.text = name, text
        self.words, self.places = words_of(text)

    def cut(self, first: int, last: int) -> str:
        """Return words `[first, last)` as they are in the text."""
        return self.text[self.places[first][0] : self.places[last - 1][1]]


def read_documents(data: Path, most: int) -> list[Quoted]:
    """Return documents of all collections."""
    documents = []
    for collection in COLLECTIONS:
        for line in islice(read_lines(data / collection), most):
            record = json.loads(line)
            document = Quoted(f"{collection.split('/')[0]}:{record['id']}", record["text"])
            if len(document.words) > 2 * MOST:
                documents.append(document)
    return documents


def taken(document: Quoted, chance: random.Random) -> tuple[int, int]:
    """Return a stretch of the words of a document."""
    n_words = chance.randint(FEWEST, MOST)
    first = chance.randrange(len(document.words) - n_words)
    return first, first + n_words


def altered(quotation: str, kind: str, chance: random.Random, names: Sequence[str], common: Sequence[str]) -> str | None:
    """Return a quotation with one thing of a kind changed; None if it has no such thing."""
    words, places = words_of(quotation)
    if kind in _STATED:
        own = [match for match in _STATED[kind].finditer(quotation) if kind != "name" or match[0] not in _NO_NAMES]
        if not own:
            return None
        one = chance.choice(own)
        other = other_fact(kind, one[0], chance, names)
        return None if other is None else quotation[: one.start()] + other + quotation[one.end() :]
    if kind == "negation":
        return negated(quotation, chance)
    plain = [at for at, (start, end) in enumerate(places) if quotation[start:end].isascii() and quotation[start:end].islower()]
    if kind == "spelling":
        rows = [at for at in plain if len(words[at]) >= 5 and words[at].isalpha()]
        if not rows:
            return None
        start, end = places[chance.choice(rows)]
        return quotation[:start] + misspelt(quotation[start:end], chance) + quotation[end:]
    if kind == "order":
        rows = [at for at in range(len(words) - 1) if words[at] != words[at + 1]]
        if len(words) < 4 or not rows:
            return None
        at = chance.choice(rows)
        (a, a_end), (b, b_end) = places[at : at + 2]
        return quotation[:a] + quotation[b:b_end] + quotation[a_end:b] + quotation[a:a_end] + quotation[b_end:]
    rows = [at for at in plain if len(words[at]) >= 4 and words[at].isalpha() and words[at] not in _NO_WORDS]
    if not rows:
        return None
    at = chance.choice(rows)
    return quotation[: places[at][0]] + chance.choice(common) + quotation[places[at][1] :]


_MONTHS = ["January", "February", "March", "April", "June", "July", "August", "September", "October", "November", "December"]
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_STATED = {
    "number": re.compile(r"(?<![\w.,:/$#+-])\d{1,3}(?![\w.,:/%-])"),
    "date": re.compile(rf"\b(?:{'|'.join([*_MONTHS, *_DAYS])}|(?:19|20)\d\d)\b(?![.,:/-]\d)"),
    "name": re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}\b(?!['’-])"),
}
_NO_NAMES = {*_MONTHS, *_DAYS}
_NO_WORDS = {"not", "never", "none", "nothing", "without", "cannot", "neither", "nobody", "three", "four", "five", "today"}


def other_fact(kind: str, shown: str, chance: random.Random, names: Sequence[str]) -> str | None:
    """Return another number, date or name instead of one."""
    if kind == "name":
        return chance.choice([name for name in names if name.lower() != shown.lower()])
    for words in (_MONTHS, _DAYS):
        if shown in words:
            return chance.choice([word for word in words if word != shown])
    return shown[:-1] + chance.choice([digit for digit in "123456789" if digit != shown[-1]])


_VERBS = re.compile(r"\b(is|are|was|were|can|could|will|would|should|does|did|has|had|have|do)\b(?!n)", re.IGNORECASE)
_NOT = re.compile(r"\s+not\b|n['’]t\b")


def negated(quotation: str, chance: random.Random) -> str | None:
    """Return a quotation with a `not` more, or one less."""
    there = list(_NOT.finditer(quotation))
    verbs = [match for match in _VERBS.finditer(quotation) if not _NOT.match(quotation, match.end())]
    if there and chance.random() < 0.5:
        gone = chance.choice(there)
        return quotation[: gone.start()] + quotation[gone.end() :]
    if not verbs:
        return None
    verb = chance.choice(verbs)
    return quotation[: verb.end()] + " not" + quotation[verb.end() :]


def misspelt(word: str, chance: random.Random) -> str:
    """Return a word with one letter wrong, left out, doubled or changed with its neighbour; the first letter stays."""
    while True:
        at = chance.randrange(1, len(word) - 1)
        found = chance.choice(
            [
                word[:at] + word[at + 1] + word[at] + word[at + 2 :],
                word[:at] + word[at + 1 :],
                word[:at] + word[at] + word[at:],
                word[:at] + chance.choice("abcdefghijklmnopqrstuvwxyz") + word[at + 1 :],
            ]
        )
        if found.lower() != word.lower():
            return found


def has_run(quotation: str, texts: str, n_words: int) -> bool:
    """Return whether so many neighbouring words of a quotation, or all, occur somewhere, by looking into every text."""
    words = words_of(quotation)[0]
    n_words = min(n_words, len(words))
    return any(f" {' '.join(words[at : at + n_words])} " in texts for at in range(len(words) - n_words + 1))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--documents", type=int, default=2_000, help="Documents of each collection.")
    parser.add_argument("--quotations", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--index", type=Path, help="An index to keep and use again.")
    parser.add_argument("--more", type=Path, help="Further documents of the index, as JSON lines; then only times are printed.")
    parser.add_argument("--show", type=int, default=0, help="Print so many wrong answers.")
    options = parser.parse_args()
    require_data(str(options.data))
    chance = random.Random(options.seed)
    documents = read_documents(options.data, options.documents)
    known = [document for row, document in enumerate(documents) if row % _SEPARATE]
    others = [document for row, document in enumerate(documents) if row % _SEPARATE == 0]
    plain = "|".join(f" {' '.join(document.words)} " for document in known)
    names, common = vocabulary(known, chance)
    folder = options.index or Path(tempfile.mkdtemp())
    with ibidem.Index(folder) as index:
        if not len(index):
            index.add([{"id": document.name, "text": document.text} for document in known])
            if options.more:
                index.add(further(options.more, {document.name for document in documents}))
        asked = []
        while len(asked) < options.quotations:
            truth = ("verbatim", "altered", "absent")[len(asked) % 3]
            document = chance.choice(others if truth == "absent" else known)
            quotation, kind = document.cut(*taken(document, chance)), ""
            if truth == "altered":
                kind = KINDS[(len(asked) // 3) % len(KINDS)]
                made = next(
                    (m for _ in range(300) if (m := altered(quotation_of(known, chance), kind, chance, names, common))), None
                )
                if made is None:
                    raise SystemExit(f"no text with a {kind}")
                quotation = made
            if (truth == "absent" and has_run(quotation, plain, _MOST_SHARED)) or (
                truth == "altered" and has_run(quotation, plain, MOST)
            ):
                continue
            asked.append((truth, kind, quotation))
        index.verify(asked[0][2])
        answers, times = [], []
        for _, _, quotation in asked:
            begin = time.process_time()
            answers.append(index.verify(quotation))
            times.append(1000 * (time.process_time() - begin))
        n_sentences = index.info()["sentences"]
    print(f"{len(known):,} documents, {n_sentences:,} sentences, {len(asked):,} quotations")
    for fewest in () if options.more else (FEWEST, LONG):
        report(asked, answers, fewest)
    report_times("all", times)
    for truth in ("verbatim", "altered", "absent"):
        report_times(truth, [each for (own, _, _), each in zip(asked, times, strict=True) if own == truth])
    for fewest, most in ((FEWEST, LONG - 1), (LONG, 15), (16, MOST)):
        few = [each for (_, _, q), each in zip(asked, times, strict=True) if fewest <= len(words_of(q)[0]) <= most]
        report_times(f"{fewest} to {most} words", few)
    shown = 0
    for (truth, kind, quotation), answer in zip(asked, answers, strict=True):
        if shown < options.show and (truth != answer.status or (kind and kind not in answer.kinds)):
            if len(words_of(quotation)[0]) >= LONG:
                shown += 1
                print(f"\n{truth} {kind} → {answer.status} {answer.kinds} {answer.similarity:.2f}")
                print(f"  {quotation!r}\n  {answer.text!r}")


def further(path: Path, left_out: Container[str]) -> Iterator[dict[str, str]]:
    """Yield the documents of a file of JSON lines but those with certain ids."""
    with open(path, encoding="utf-8") as file:
        yield from (record for record in map(json.loads, file) if record["id"] not in left_out)


def report_times(name: str, times: Sequence[float]) -> None:
    """Print what quotations take, in milliseconds of processor time."""
    ranked = sorted(times)
    shares = ", ".join(f"p{share} {ranked[len(ranked) * share // 100]:.1f}" for share in (50, 90, 95, 99))
    print(f"ms a quotation, {name}: {shares}, longest {ranked[-1]:.1f}")


def quotation_of(documents: Sequence[Quoted], chance: random.Random) -> str:
    """Return a stretch of any of the documents."""
    document = chance.choice(documents)
    return document.cut(*taken(document, chance))


def vocabulary(documents: Sequence[Quoted], chance: random.Random) -> tuple[list[str], list[str]]:
    """Return names and words of the documents, to put in the place of others."""
    names: Counter[str] = Counter()
    words: Counter[str] = Counter()
    for document in chance.sample(list(documents), min(300, len(documents))):
        names.update(match[0] for match in _STATED["name"].finditer(document.text) if match[0] not in _NO_NAMES)
        words.update(word for word in document.words if len(word) >= 4 and word.isascii() and word.isalpha())
    return [name for name, _ in names.most_common(400)], [word for word, _ in words.most_common(2_000)]


def report(asked: Sequence[tuple[str, str, str]], answers: Sequence[ibidem.VerifiedQuotation], fewest: int) -> None:
    """Print what was answered for quotations of so many words and more."""
    rows = [(t, k, a) for (t, k, q), a in zip(asked, answers, strict=True) if len(words_of(q)[0]) >= fewest]
    statuses = ("verbatim", "altered", "absent")
    print(f"\n{len(rows):,} quotations of {fewest} words and more\n{'':10}" + "".join(f"{name:>10}" for name in statuses))
    for truth in statuses:
        counts = Counter(answer.status for own, _, answer in rows if own == truth)
        print(f"{truth:10}" + "".join(f"{counts[name]:>10}" for name in statuses))
    print(f"right: {sum(truth == answer.status for truth, _, answer in rows) / len(rows):.4f}")
    named: dict[str, list[bool]] = defaultdict(list)
    for truth, kind, answer in rows:
        if truth == "altered" and answer.status == "altered":
            named[kind].append(kind in answer.kinds)
    every = [one for own in named.values() for one in own]
    print(
        f"kind of alteration right: {sum(every) / max(1, len(every)):.3f} ("
        + ", ".join(f"{kind} {sum(own)}/{len(own)}" for kind, own in named.items())
        + ")"
    )


if __name__ == "__main__":
    main()
