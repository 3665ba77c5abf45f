"""Who gets a connection where there are more clients than places."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem.errors import ResourceError
from ibidem.viewer.server import admission
from ibidem.viewer.server.admission import Admission, Limits, limits_of_process

HERE, THERE = "127.0.0.1", "192.0.2.7"
ADDRESSES = [HERE, "::1", THERE, "192.0.2.8"]


class Place:
    def __init__(self) -> None:
        self.is_dropped = False

    def drop(self) -> None:
        assert not self.is_dropped
        self.is_dropped = True


def admitted(places: Admission, address: str, port: int) -> Place | None:
    place = Place()
    return place if places.admit((address, port), place) else None


STEPS = st.lists(st.tuples(st.sampled_from(["come", "know", "go"]), st.sampled_from(ADDRESSES), st.integers(0, 9)), max_size=80)


@given(STEPS)
def test_limits_are_kept_and_known_connections_stay(steps: list[tuple[str, str, int]]) -> None:
    limits = Limits(most=9, most_of_one_address=5, for_this_machine=2)
    places, here, known = Admission(limits), dict[tuple[str, int], Place](), set[tuple[str, int]]()
    for step, address, port in steps:
        client = (address, port)
        if step == "come" and client not in here:
            waiting = [other for other in here if other not in known]
            place = admitted(places, address, port)
            here = {other: each for other, each in here.items() if not each.is_dropped}
            if place is not None:
                here[client] = place
            else:  # only where nobody can make room
                is_own_full = sum(other[0] == address for other in here) >= limits.most_of_one_address
                own_waiting = [other for other in waiting if other[0] == address]
                assert not own_waiting if is_own_full else not waiting
        elif step == "know" and client in here:
            places.know(client)
            known.add(client)
        elif step == "go" and client in here:
            places.release(client)
            del here[client]
            known.discard(client)
        assert known <= set(here)
        assert len(places) == len(here) <= limits.most
        for each in ADDRESSES:
            assert sum(other[0] == each for other in here) <= limits.most_of_one_address


def test_the_one_that_waits_longest_makes_room() -> None:
    places = Admission(Limits(most=4, most_of_one_address=3, for_this_machine=0))
    flood = [admitted(places, THERE, port) for port in range(3)]
    honest = admitted(places, HERE, 1)
    assert admitted(places, THERE, 9)  # in the place of one of its own
    assert [place.is_dropped for place in flood if place] == [True, False, False]
    assert admitted(places, HERE, 2)  # in the place of one of those who have most
    assert [place.is_dropped for place in flood if place] == [True, True, False]
    assert honest is not None
    assert not honest.is_dropped


def test_the_last_places_are_for_this_machine() -> None:
    places = Admission(Limits(most=4, most_of_one_address=4, for_this_machine=2))
    for port in range(2):
        assert admitted(places, THERE, port)
        places.know((THERE, port))
    assert admitted(places, THERE, 2) is None
    assert admitted(places, HERE, 1)
    assert admitted(places, HERE, 2)


@pytest.mark.parametrize("allowed", [140, 256, 1024, 1 << 20])
def test_limits_leave_files_for_everything_else(monkeypatch: pytest.MonkeyPatch, allowed: int) -> None:
    monkeypatch.setattr(admission, "_n_open_files", lambda: 20)
    monkeypatch.setattr(admission, "file_limit", lambda: allowed)
    limits = limits_of_process()
    assert limits.most + 3 * limits.at_once + 20 + 64 <= allowed
    assert limits.for_this_machine < limits.most_of_one_address < limits.most <= 400


def test_too_few_files_are_an_error_with_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "_n_open_files", lambda: 20)
    monkeypatch.setattr(admission, "file_limit", lambda: 64)
    with pytest.raises(ResourceError, match="64 files") as problem:
        limits_of_process()
    assert "ulimit -n 132" in problem.value.next_step
    monkeypatch.setattr(admission, "file_limit", lambda: 132)
    assert limits_of_process().most == 16
