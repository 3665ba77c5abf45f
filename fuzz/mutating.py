"""A seeded mutation loop: cases made of earlier ones, and those that did something new are kept to go on from."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

_MOST_CHANGES = 6
_MOST_KEPT = 2_000
_MOST_REPEATS = 64
_TELLING_BYTES = b"\x00\x01\t\n\r \"'&,-./0129:;<=>[\\]{}\x7f\x80\xbf\xc2\xe3\xef\xf0\xff"


class Mutator:
    """Makes cases out of seeds; the same seed number gives the same cases, as long as the same ones are kept."""

    def __init__(self, seeds: Sequence[bytes], pieces: Sequence[bytes], max_bytes: int, seed_number: int) -> None:
        self._kept = [seed[:max_bytes] for seed in seeds] or [b""]
        self._pieces = list(pieces) or [bytes([byte]) for byte in _TELLING_BYTES]
        self._max_bytes = max_bytes
        self._chance = random.Random(seed_number)
        self._known: set[str] = set()
        self._unchanged = list(self._kept)
        self._changes: list[Callable[[bytearray], None]] = [
            self._flip_bit, self._set_byte, self._insert_bytes, self._insert_piece, self._insert_piece, self._replace_piece,
            self._delete, self._repeat, self._move, self._splice, self._cut_off, self._change_number,
        ]  # fmt: skip

    def next_case(self) -> bytes:
        """Return the next case: the seeds as they are, then changed ones."""
        if self._unchanged:
            return self._unchanged.pop()
        case = bytearray(self._chance.choice(self._kept))
        for _ in range(self._chance.randint(1, _MOST_CHANGES)):
            self._chance.choice(self._changes)(case)
        return bytes(case[: self._max_bytes])

    def learn(self, case: bytes, outcome: str) -> None:
        """Keep a case if nothing before it had that outcome."""
        if outcome in self._known:
            return
        self._known.add(outcome)
        if len(self._kept) < _MOST_KEPT:
            self._kept.append(case)
        else:
            self._kept[self._chance.randrange(_MOST_KEPT)] = case

    @property
    def n_outcomes(self) -> int:
        """Number of different outcomes so far."""
        return len(self._known)

    def _stretch(self, case: bytearray) -> tuple[int, int]:
        start = self._chance.randint(0, len(case))
        longest = self._chance.choice((4, 32, len(case)))
        return start, self._chance.randint(start, min(len(case), start + longest))

    def _flip_bit(self, case: bytearray) -> None:
        if case:
            case[self._chance.randrange(len(case))] ^= 1 << self._chance.randrange(8)

    def _set_byte(self, case: bytearray) -> None:
        if case:
            case[self._chance.randrange(len(case))] = self._chance.choice(_TELLING_BYTES)

    def _insert_bytes(self, case: bytearray) -> None:
        place = self._chance.randint(0, len(case))
        case[place:place] = self._chance.randbytes(self._chance.randint(1, 8))

    def _insert_piece(self, case: bytearray) -> None:
        place = self._chance.randint(0, len(case))
        case[place:place] = self._chance.choice(self._pieces)

    def _replace_piece(self, case: bytearray) -> None:
        piece = self._chance.choice(self._pieces)
        place = case.find(piece, self._chance.randint(0, len(case)))
        if place >= 0:
            case[place : place + len(piece)] = self._chance.choice(self._pieces)

    def _delete(self, case: bytearray) -> None:
        start, end = self._stretch(case)
        del case[start:end]

    def _repeat(self, case: bytearray) -> None:
        start, end = self._stretch(case)
        if start < end:
            n_times = min(self._chance.choice((1, 2, 8, _MOST_REPEATS)), 1 + self._max_bytes // (end - start))
            case[start:start] = case[start:end] * n_times

    def _move(self, case: bytearray) -> None:
        start, end = self._stretch(case)
        stretch = case[start:end]
        del case[start:end]
        place = self._chance.randint(0, len(case))
        case[place:place] = stretch

    def _splice(self, case: bytearray) -> None:
        other = self._chance.choice(self._kept)
        case[self._chance.randint(0, len(case)) :] = other[self._chance.randint(0, len(other)) :]

    def _cut_off(self, case: bytearray) -> None:
        del case[self._chance.randint(0, len(case)) :]

    def _change_number(self, case: bytearray) -> None:
        digits = [place for place, byte in enumerate(case) if 48 <= byte <= 57]
        if digits:
            place = self._chance.choice(digits)
            number = self._chance.choice((b"0", b"-1", b"255", b"65536", b"2147483648", b"9" * 20, b"1e999", b"0.5"))
            case[place : place + 1] = number
