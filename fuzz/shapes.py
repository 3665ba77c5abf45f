"""Texts of a grammar: a shape says how sentences are made and how they come again, a genome deals them out to documents.

A genome is a few numbers and names, so it can be drawn at random, changed a little, and written down as JSON. The same genome
gives the same texts, and a larger size only more of them.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields, replace
from functools import cache, lru_cache
from itertools import count
from typing import Any

from benchmarks.hostile_texts import FIBONACCI, THUE_MORSE, UNITS, substituted, word

_MOST_WORDS, _MOST_TEMPLATES = 300, 300
# Words of templates, of sentences, and those that replace one have numbers of their own; small ones give short words.
_FIRST_OWN, _FIRST_CHANGED = _MOST_WORDS * _MOST_TEMPLATES, 10**8
_LETTERS = 1 << 14  # of a nested order; then it begins again
_THAI = [consonant + vowel for consonant in "กขคงจชซดตทนบปพมยรลวส" for vowel in "าิีุู"]


def _han(number: int) -> str:
    return chr(0x4E00 + number % 20_000) + chr(0x4E00 + (number // 20_000 + 7 * number) % 20_000)


def _thai(number: int) -> str:
    number, last = divmod(number, len(_THAI))
    return _THAI[number % len(_THAI)] + _THAI[last] + (_thai(number // len(_THAI)) if number >= len(_THAI) else "")


_remembered = lru_cache(1 << 18)  # making words takes longer than most verbs
SCRIPTS: dict[str, tuple[Callable[[int], str], str]] = {
    "latin": (_remembered(word), " "),
    "han": (_han, ""),
    "thai": (_remembered(_thai), ""),
}
ORDERS = ("once", "period", "shuffled", "fibonacci", "thue-morse", "stairs")
STOPS = (". ", "。", "\n", "\n\n", "! ", " ", "")
_COUNTS = (0, 1, 2, 3, 5, 7, 8, 10, 12, 16, 20, 30, 50, 99, 100, 101, 300, 1000, 1023, 1025, 5000)


@dataclass(frozen=True)
class Shape:
    """Sentences of one kind.

    A sentence has `n_common` words of one of `n_templates` templates and `n_own` words in their middle, each one of `n_values`
    (0: no other sentence has it). In the order `once` all sentences differ; in `period` and `shuffled` the first `period` of
    them come again and again; in `fibonacci` and `thue-morse` two blocks of `period` sentences follow one another like the
    letters of such a word; in `stairs` each differs from the one before by one word, in chains of `period`. Of a sentence
    that comes again one word in `changed` is another one (0: none). `n_units` of a `unit` follow each sentence.
    """

    script: str = "latin"
    n_common: int = 8
    n_own: int = 4
    n_values: int = 0
    n_templates: int = 1
    order: str = "once"
    period: int = 1
    changed: int = 0
    stop: str = ". "
    unit: str = ""
    n_units: int = 0

    def sentence(self, number: int) -> str:
        """Return a sentence."""
        make, gap = SCRIPTS[self.script]
        key, turn = self._recurring(number)
        words = self._stair(key) if self.order == "stairs" else self._words(key)
        if self.changed and turn:
            words = [
                _FIRST_CHANGED + number * len(words) + k if (k + turn) % self.changed == 0 else known
                for k, known in enumerate(words)
            ]
        text = gap.join(make(known) for known in words)
        return (text.capitalize() + self.stop if words else "") + self.unit * self.n_units

    def _recurring(self, number: int) -> tuple[int, int]:
        """Return which sentence has this place, and how often it may have come before."""
        period = max(1, self.period)
        turn, place = divmod(number, period)
        if self.order == "period":
            return place, turn
        if self.order == "shuffled":
            return _shuffled(turn % 64, period)[place], turn
        if self.order in ("fibonacci", "thue-morse"):
            return period * _nested(self.order)[turn % _LETTERS] + place, turn
        return number, 0

    def _words(self, key: int) -> list[int]:
        template = _MOST_WORDS * (key % min(max(1, self.n_templates), _MOST_TEMPLATES))
        common = [template + k for k in range(self.n_common)]
        if self.n_values:
            chance = random.Random(key)
            own = [_FIRST_OWN + chance.randrange(self.n_values) for _ in range(self.n_own)]
        else:
            own = [_FIRST_OWN + key * self.n_own + k for k in range(self.n_own)]
        middle = self.n_common // 2
        return [*common[:middle], *own, *common[middle:]]

    def _stair(self, key: int) -> list[int]:
        n_words = self.n_common + self.n_own
        first = _FIRST_OWN + key + key // max(1, self.period) * (n_words + 1)
        return list(range(first, first + n_words))


@cache
def _shuffled(turn: int, period: int) -> list[int]:
    return random.Random(turn).sample(range(period), period)


@cache
def _nested(order: str) -> list[int]:
    rules = FIBONACCI if order == "fibonacci" else THUE_MORSE
    return ["ab".index(letter) for letter in substituted("a", rules, _LETTERS)]


@dataclass(frozen=True)
class Genome:
    """Documents of sentences of some shapes in turn.

    `n_documents` of them get sentences in turn, so that neighbours meet in different documents, or, if it is 0, each gets
    `n_sentences` in a row.
    """

    shapes: tuple[Shape, ...] = (Shape(),)
    n_documents: int = 0
    n_sentences: int = 10

    def texts(self, size_bytes: int) -> list[str]:
        """Return texts of about so many bytes in all."""
        pieces = self._pieces(size_bytes)
        dealt: Iterator[str]
        if self.n_documents:
            made = list(pieces)
            dealt = ("".join(made[k :: self.n_documents]) for k in range(self.n_documents))
        else:
            dealt = self._in_rows(pieces)
        return [text for text in dealt if text]

    def _pieces(self, size_bytes: int) -> Iterator[str]:
        n_bytes = 0
        for number in count():
            turn, shape = divmod(number, len(self.shapes))
            piece = self.shapes[shape].sentence(turn)
            yield piece
            n_bytes += max(1, len(piece.encode()))  # of nothing there is an end, too
            if n_bytes >= size_bytes:
                return

    def _in_rows(self, pieces: Iterator[str]) -> Iterator[str]:
        row: list[str] = []
        for piece in pieces:
            row.append(piece)
            if len(row) >= max(1, self.n_sentences):
                yield "".join(row)
                row = []
        yield "".join(row)

    def to_json(self) -> str:
        """Return the genome as one line; `from_json` makes it again. What is as usual is left out."""
        usual = asdict(Shape())
        shapes = [{name: value for name, value in asdict(shape).items() if value != usual[name]} for shape in self.shapes]
        return json.dumps({**asdict(self), "shapes": shapes}, ensure_ascii=False)

    @classmethod
    def from_json(cls, line: str) -> Genome:
        """Return the genome of a line."""
        known = json.loads(line)
        return cls(**{**known, "shapes": tuple(Shape(**shape) for shape in known["shapes"])})


def draw_shape(chance: random.Random) -> Shape:
    """Return a shape at random."""
    shape = Shape()
    for name in (field.name for field in fields(Shape)):
        if chance.random() < 0.6:
            shape = _redrawn(shape, name, chance)
    return shape


def draw(chance: random.Random) -> Genome:
    """Return a genome at random."""
    shapes = tuple(draw_shape(chance) for _ in range(chance.choice((1, 1, 1, 2, 3))))
    return Genome(shapes, chance.choice((0, 0, 1, 2, 3, 50, 150)), chance.choice((1, 2, 3, 10, 100, 1000)))


def mutate(genome: Genome, chance: random.Random) -> Genome:
    """Return a genome that differs in a few places."""
    for _ in range(chance.choice((1, 1, 2, 3))):
        place = chance.randrange(len(genome.shapes))
        before, shape, after = genome.shapes[:place], genome.shapes[place], genome.shapes[place + 1 :]
        kind = chance.randrange(10)
        if kind == 0 and len(genome.shapes) < 3:
            genome = replace(genome, shapes=(*before, shape, draw_shape(chance), *after))
        elif kind == 1 and len(genome.shapes) > 1:
            genome = replace(genome, shapes=(*before, *after))
        elif kind == 2:
            genome = replace(genome, n_documents=draw(chance).n_documents)
        elif kind == 3:
            genome = replace(genome, n_sentences=_nudged(genome.n_sentences, chance))
        else:
            changed = _redrawn(shape, chance.choice(fields(Shape)).name, chance)
            genome = replace(genome, shapes=(*before, changed, *after))
    return genome


def _redrawn(shape: Shape, name: str, chance: random.Random) -> Shape:
    """Return the shape with another value of a field."""
    names = {"script": tuple(SCRIPTS), "order": ORDERS, "stop": STOPS, "unit": ("", *UNITS.values())}
    values: dict[str, Any] = {}
    if name in names:
        values[name] = chance.choice(names[name])
    else:
        values[name] = _nudged(getattr(shape, name), chance)
    if name == "unit":
        values["n_units"] = chance.choice((1, 3, 30))
    if name in ("n_common", "n_own"):
        values[name] = min(_MOST_WORDS, values[name])
    return replace(shape, **values)


def _nudged(value: int, chance: random.Random) -> int:
    """Return a number near this one, or one of those that may matter."""
    return chance.choice((value + 1, max(0, value - 1), 2 * value, value // 2, chance.choice(_COUNTS), chance.choice(_COUNTS)))


# What took a square of time, memory or rows once, and what is at the edge of doing so.
KNOWN: dict[str, Genome] = {
    "one template, one document": Genome((Shape(n_common=13, n_own=1),), 1),
    "one template, many documents": Genome((Shape(n_common=13, n_own=1),), 0, 20),
    "two templates": Genome((Shape(n_common=12, n_own=1, n_templates=2),), 2),
    "slots": Genome((Shape(n_common=10, n_own=3, n_values=50),), 2),
    "one sentence, two documents": Genome((Shape(order="period"),), 2),
    "one sentence, tiny documents": Genome((Shape(order="period"),), 0, 1),
    "near copies": Genome((Shape(n_common=0, n_own=12, order="period", period=50, changed=7),), 0, 50),
    "100 places": Genome((Shape(n_common=0, n_own=12, order="shuffled", period=100),), 100),
    "stairs": Genome((Shape(n_common=0, n_own=12, order="stairs", period=100),), 2),
    "nested": Genome((Shape(order="fibonacci"),), 50),
    "no stops": Genome((Shape(stop=" ", n_common=0),), 1),
    "han": Genome((Shape(script="han", stop="。", order="shuffled", period=300, changed=9),), 0, 10),
    "thai without stops": Genome((Shape(script="thai", stop="", order="shuffled", period=300),), 2),
    "thai without stops, one document": Genome((Shape(script="thai", stop=""),), 1),
    "stops": Genome((Shape(n_common=0, n_own=0, unit=".", n_units=30),), 2),
}
