"""Unnatural collections: `COLLECTIONS[name](size_bytes)` yields texts of about that many bytes in total."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import combinations, count

_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
SENTENCE = "The ferry to the northern islands leaves the small harbour at seven every morning. "


def word(number: int) -> str:
    """Return a word of three syllables or more; different for different numbers."""
    made = ""
    for _ in range(3):
        number, rest = divmod(number, len(_SYLLABLES))
        made += _SYLLABLES[rest]
    return made + (word(number - 1) if number else "")


def sentence(number: int, n_words: int = 12) -> str:
    """Return a sentence that shares no word with those of other numbers."""
    return " ".join(word(number * n_words + k) for k in range(n_words)).capitalize() + ". "


def _filled(unit: str, size_bytes: int) -> str:
    return unit * (size_bytes // len(unit.encode()) + 1)


def one_text(unit: str) -> Callable[[int], Iterator[str]]:
    """One document: a unit over and over."""
    return lambda size_bytes: iter([_filled(unit, size_bytes)])


def two_texts(unit: str) -> Callable[[int], Iterator[str]]:
    """Two documents of a unit over and over, one of them a little longer."""
    return lambda size_bytes: iter([_filled(unit, size_bytes // 2), _filled(unit, size_bytes // 2) + unit])


def many_texts(unit: str, n_bytes: int) -> Callable[[int], Iterator[str]]:
    """Documents of some `n_bytes`, each longer by a unit than the one before."""
    return lambda size_bytes: (_filled(unit, n_bytes) + unit * number for number in count())


def substituted(first: str, rules: dict[str, str], length: int) -> str:
    """Return the first letters of the word that is its own substitution by the rules."""
    text = first
    while len(text) < length:
        text = "".join(rules[letter] for letter in text)
    return text[:length]


def nested(rules: dict[str, str], n_documents: int) -> Callable[[int], Iterator[str]]:
    """Documents of two sentences in the order of a word that is its own substitution; each begins a little later in it."""

    def make(size_bytes: int) -> Iterator[str]:
        sentences = {"a": sentence(1), "b": sentence(2)}
        letters = substituted("a", rules, size_bytes // len(sentences["a"]) // n_documents + 7 * n_documents)
        for number in range(n_documents):
            yield "".join(sentences[letter] for letter in letters[7 * number :])

    return make


def prefixes(size_bytes: int) -> Iterator[str]:
    """Documents whose sentences are prefixes of one another: one word, two words, … up to a hundred."""
    words = [word(number) for number in range(100)]
    unit = "".join(" ".join(words[: n + 1]).capitalize() + ". " for n in range(100))
    return two_texts(unit)(size_bytes)


def long_prefixes(size_bytes: int) -> Iterator[str]:
    """One document whose sentences are prefixes of one another, without end."""
    n = int((2 * size_bytes / 7) ** 0.5)
    words = [word(number) for number in range(n)]
    yield "".join(" ".join(words[: k + 1]).capitalize() + ". " for k in range(n))


def _de_bruijn(n_letters: int, length: int) -> Iterator[int]:
    """Yield the lexicographically least de Bruijn sequence, from Lyndon words."""
    lyndon = [-1]
    while lyndon:
        lyndon[-1] += 1
        if length % len(lyndon) == 0:
            yield from lyndon
        n = len(lyndon)
        while len(lyndon) < length:
            lyndon.append(lyndon[-n])
        while lyndon and lyndon[-1] == n_letters - 1:
            lyndon.pop()


def de_bruijn(n_letters: int, length: int, words_a_sentence: int, n_documents: int) -> Callable[[int], Iterator[str]]:
    """Documents cut out of a de Bruijn sequence over a few words; 0 words a sentence: no stops."""

    def make(size_bytes: int) -> Iterator[str]:
        letters = _de_bruijn(n_letters, length)
        n_words = size_bytes // 7 // n_documents
        for _ in range(n_documents):
            words = [word(letter) for letter, _ in zip(letters, range(n_words), strict=False)]
            step = words_a_sentence or len(words) or 1
            yield " ".join(" ".join(words[k : k + step]).capitalize() + "." for k in range(0, len(words), step))

    return make


def half_common(size_bytes: int) -> Iterator[str]:
    """Documents that share one half of their text with all the others."""
    common = "".join(sentence(number) for number in range(10))
    for number in count(1):
        yield common + "".join(sentence(10 * number + k) for k in range(10))


def in_places(n_places: int, n_documents: int, opening: str = "") -> Callable[[int], Iterator[str]]:
    """Every sentence is in exactly so many places, in so many documents, in no common order; all may open alike."""

    def make(size_bytes: int) -> Iterator[str]:
        shuffle = random.Random(1)
        n_sentences = size_bytes // len(opening + sentence(1)) // n_places
        sentences = [opening + sentence(number) for number in range(n_sentences)]
        for left in range(n_documents, 0, -1):
            order = sentences * (n_places // n_documents + (left <= n_places % n_documents))
            shuffle.shuffle(order)
            yield "".join(order)

    return make


def staircase(n_documents: int, chain: int, n_words: int = 12) -> Callable[[int], Iterator[str]]:
    """Sentences of which each differs by one word from the one before, in chains of so many, over so many documents."""

    def make(size_bytes: int) -> Iterator[str]:
        n_sentences = size_bytes // (7 * n_words)
        steps = []
        for number in range(n_sentences):
            first = number + number // chain * (n_words + 1)
            steps.append(" ".join(word(k) for k in range(first, first + n_words)).capitalize() + ". ")
        for part in range(n_documents):  # document by document every so-manieth step, so that neighbours meet
            yield "".join(steps[part::n_documents])

    return make


def subsets(size_bytes: int) -> Iterator[str]:
    """Sentences that are the choices of ten out of twenty words: all words alike frequent, all sets alike large."""
    shuffle = random.Random(1)
    n_sentences = min(184_756, size_bytes // 70)
    chosen = [" ".join(word(k) for k in some).capitalize() + ". " for some in combinations(range(20), 10)]
    shuffle.shuffle(chosen)
    for part in range(20):
        yield "".join(chosen[part:n_sentences:20])


def near_copies(size_bytes: int) -> Iterator[str]:
    """Long documents that differ from one another in every seventh word."""
    shuffle = random.Random(1)
    words = [word(number) for number in range(20_000)]
    for _ in count():
        changed = [word(10**6 + shuffle.randrange(10**6)) if k % 7 == 0 else known for k, known in enumerate(words)]
        yield ". ".join(" ".join(changed[k : k + 12]).capitalize() for k in range(0, len(changed), 12)) + "."


def shuffled_blocks(size_bytes: int) -> Iterator[str]:
    """Two documents of the same blocks of words in no common order, every seventh word changed."""
    shuffle = random.Random(1)
    blocks = [[word(60 * number + k) for k in range(60)] for number in range(size_bytes // 2 // (60 * 7))]
    for _ in range(2):
        shuffle.shuffle(blocks)
        changed = [[word(10**7 + shuffle.randrange(10**7)) if k % 7 == 0 else w for k, w in enumerate(b)] for b in blocks]
        yield " ".join(" ".join(block[k : k + 20]).capitalize() + "." for block in changed for k in range(0, 60, 20))


def equal_after_a_short_one(size_bytes: int) -> Iterator[str]:
    """Two documents that share a short sentence at first, then very many of one length that are apart from one another."""
    n = size_bytes // 2 // 170
    for side in range(2):
        own = [sentence(2 * n + 2 * (n * side + k), 12) + sentence(2 * n + 2 * (n * side + k) + 1, 1) * 5 for k in range(n)]
        yield sentence(0, 10) + "".join(mine + sentence(k + 1) for k, mine in enumerate(own))


def reordered(size_bytes: int) -> Iterator[str]:
    """Two documents of the same words, each as often, in no common order, of a small vocabulary."""
    shuffle = random.Random(1)
    words = [word(number % 500) for number in range(size_bytes // 14)]
    for _ in range(2):
        shuffle.shuffle(words)
        yield ". ".join(" ".join(words[k : k + 12]).capitalize() for k in range(0, len(words), 12)) + "."


def different_words(size_bytes: int) -> Iterator[str]:
    """One sentence without a stop: as many different words."""
    yield " ".join(word(number) for number in range(size_bytes // 8))


_COMMON = ["paragraph", "number", "of", "a", "very", "long", "page", "with", "more", "words", "of", "its", "own"]


def templates(n_documents: int, n_own: int, n_values: int = 0, n_templates: int = 1) -> Callable[[int], Iterator[str]]:
    """Sentences of some templates with `n_own` words of their own, each one of `n_values` (0: in no other sentence)."""

    def make(size_bytes: int) -> Iterator[str]:
        chance = random.Random(1)
        n_sentences = size_bytes // (len(" ".join(_COMMON)) + 8 * n_own)
        sentences = []
        for number in range(n_sentences):
            first = 10_000 * (number % n_templates)
            fixed = _COMMON if number % n_templates == 0 else [*_COMMON[:8], *(word(first + k) for k in range(5))]
            own = [word(10**6 + (chance.randrange(n_values) if n_values else n_own * number + k)) for k in range(n_own)]
            sentences.append(" ".join([*fixed[:6], *own, *fixed[6:]]).capitalize() + ". ")
        for part in range(n_documents):
            yield "".join(sentences[part::n_documents])

    return make


def tiny_texts(text: Callable[[int], str]) -> Callable[[int], Iterator[str]]:
    """Very many documents."""
    return lambda size_bytes: (text(number) for number in count())


UNITS = {
    "stops": ".",
    "question marks": "?!",
    "stop and blank": ". ",
    "brackets": "(",
    "closing guillemets": "»",
    "quotes": "“",
    "abbreviations": "Mr. ",
    "letters with stops": "a.",
    "numbers with stops": "1.",
    "decimals": "1.5 ",
    "newlines": "\n",
    "blanks": " ",
    "bullets": "- \n",
    "quoted lines": "> ",
    "hyphens": "-",
    "hyphenated": "a-\n",
    "apostrophes": "'",
    "combining": "e\u0301\u0302\u0303",
    "only combining": "\u0301",
    "joined emoji": "\U0001f469\u200d",
    "right-to-left marks": "\u200f",
    "outside the plane": "\U0001d49c",
    "soft hyphens": "a\u00ad",
    "one long word": "a",
    "folded to many": "\ufdfa",
    "han": "字",
    "thai": "ก",
    "addresses": "http://a.b/",
    "upper and lower": "aB",
    "nul": "\x00",
}
FIBONACCI = {"a": "ab", "b": "a"}
THUE_MORSE = {"a": "ab", "b": "ba"}
COLLECTIONS: dict[str, Callable[[int], Iterator[str]]] = {
    "one word, one document": one_text("word "),
    "one word, many documents": many_texts("word ", 4000),
    "equal sentences, one": one_text(SENTENCE),
    "equal sentences, two": two_texts(SENTENCE),
    "equal sentences, many": many_texts(SENTENCE, 4000),
    "equal short sentences, two": two_texts("No. "),
    "alternating, two": two_texts(sentence(1) + sentence(2)),
    "alternating, many": many_texts(sentence(1) + sentence(2), 4000),
    "period of 101, two": two_texts("".join(sentence(number) for number in range(101))),
    "period of 9999, two": two_texts("".join(sentence(number) for number in range(9999))),
    "fibonacci, two": nested(FIBONACCI, 2),
    "fibonacci, fifty": nested(FIBONACCI, 50),
    "thue-morse, two": nested(THUE_MORSE, 2),
    "thue-morse, fifty": nested(THUE_MORSE, 50),
    "prefixes": prefixes,
    "long prefixes": long_prefixes,
    "de bruijn, two": de_bruijn(4, 12, 12, 2),
    "de bruijn, many": de_bruijn(10, 7, 12, 1000),
    "de bruijn, no stops": de_bruijn(10, 7, 0, 2),
    "half common": half_common,
    "100 places, 100 documents": in_places(100, 100),
    "101 places, 101 documents": in_places(101, 101),
    "100 places, two": in_places(100, 2),
    "101 places, two": in_places(101, 2),
    "100 places, alike openings": in_places(100, 2, "It was said of old that "),
    "equal after a short one": equal_after_a_short_one,
    "shuffled blocks": shuffled_blocks,
    "staircase, two": staircase(2, 10**9),
    "staircase, many": staircase(1000, 10**9),
    "staircases of 100, two": staircase(2, 100),
    "staircases of 100, fifty": staircase(50, 100),
    "one template, one": templates(1, 1),
    "one template, many": templates(1000, 1),
    "one template, far apart": templates(2, 3),
    "two templates, two": templates(2, 1, 0, 2),
    "thirty templates, fifty": templates(50, 1, 0, 30),
    "slots of 50, two": templates(2, 3, 50),
    "slots of 7, many": templates(1000, 6, 7),
    "subsets": subsets,
    "near copies": near_copies,
    "reordered": reordered,
    "different words": different_words,
    "one word a document": tiny_texts(word),
    "one short word a document": tiny_texts(lambda number: "a"),
    "tiny equal": tiny_texts(lambda number: SENTENCE),
    "tiny equal, three sentences": tiny_texts(lambda number: "So it is. It was so. It will be. "),
    **{name: two_texts(unit) for name, unit in UNITS.items()},
    "one combining mark word": one_text("e\u0301\u0302\u0303"),
}
