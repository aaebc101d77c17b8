"""Where a server's cards go, as a pure function of its setting; and how the setting is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.errors import SettingsError
from bot.settings import load_settings
from bot.where import Places, PlacesRule, Quiet, Target, instead, targets
from bot.where_file import places_rules, read, table
from storage.cards import Pings

PLACE, THREAD = "discord/9/90", "discord/9/95"
HERE = Target(place=PLACE)
NIGHT = Quiet(hours="22:00-07:00", timezone="Europe/Berlin")
MIDNIGHT_IN_BERLIN = 1_700_002_800_000
"""2023-11-14, 23:00 UTC."""
HOUR_MS = 3_600_000


def going(places: Places, *, decided: bool = True, answered: bool = False, place: str = PLACE) -> list[Target]:
    return targets(places, place, decided=decided, answered=answered)


def test_a_card_goes_where_it_was_asked_when_nothing_is_set() -> None:
    assert going(Places()) == [HERE]


def test_a_channel_stands_in_for_the_place_and_notifies() -> None:
    assert going(Places(here=False, channel="91")) == [Target(place="discord/9/91", pings=Pings.OTHERS)]


def test_of_two_channels_only_the_named_one_notifies() -> None:
    assert going(Places(channel="91")) == [
        Target(place=PLACE, pings=Pings.NOBODY),
        Target(place="discord/9/91", pings=Pings.OTHERS),
    ]


def test_people_get_copies_of_their_own() -> None:
    assert going(Places(here=False, people=("1", "4"))) == [
        Target(place="", person="1", pings=Pings.NOBODY),
        Target(place="", person="4", pings=Pings.NOBODY),
    ]


def test_what_is_asked_in_the_approvals_channel_itself_has_one_card_there() -> None:
    assert going(Places(here=False, channel="90")) == [HERE]


def test_what_is_asked_in_private_stays_private() -> None:
    private = "discord/@me/5"
    assert going(Places(here=False, channel="91", people=("1",)), place=private) == [Target(place=private)]


def test_a_question_is_shown_to_whoever_has_to_answer_it() -> None:
    places = Places(here=False, channel="91")
    assert going(places, decided=False, answered=True) == [HERE]
    assert going(places, answered=True)[0].place == PLACE


def test_what_only_waits_for_a_result_stays_where_it_was_asked() -> None:
    assert going(Places(here=False, channel="91"), decided=False) == [HERE]


def test_a_card_without_a_place_tries_the_thread_the_channel_above_the_named_one_and_then_people() -> None:
    steps = instead(Places(here=False, channel="91"), THREAD, above=PLACE, people=["1", "4"])
    assert [[target.person or target.place for target in step] for step in steps] == [
        [THREAD],
        [PLACE],
        ["discord/9/91"],
        ["1", "4"],
    ]
    assert instead(Places(), "discord/@me/5", above=None, people=["1"]) == []


@pytest.mark.parametrize(("hours_later", "quiet"), [(-3, False), (-2, True), (0, True), (6, True), (7, False)])
def test_quiet_hours_go_past_midnight_in_their_own_zone(hours_later: int, quiet: bool) -> None:
    assert NIGHT.covers(MIDNIGHT_IN_BERLIN + hours_later * HOUR_MS) is quiet


def test_a_setting_reads_back_from_what_is_kept_of_it() -> None:
    for places in (
        Places(),
        Places(here=False, channel="91", people=("1", "4"), quiet=NIGHT),
        Places(people=("4",), quiet=Quiet(hours="01:00-02:30")),
    ):
        assert read("it", json.loads(json.dumps(table(places)))) == places


def test_the_settings_file_has_tables_of_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SIGNOFF_PLACES", raising=False)
    (tmp_path / "signoff.toml").write_text(
        '[[places]]\nguilds = [9]\nchannel = 91\nhere = true\nquiet_hours = "22:00-07:00"\n'
        'timezone = "Europe/Berlin"\n[[places]]\npeople = ["1", 4, "1"]\n'
    )
    assert load_settings(tmp_path).places == (
        PlacesRule(guilds=frozenset({"9"}), places=Places(channel="91", quiet=NIGHT)),
        PlacesRule(places=Places(here=False, people=("1", "4"))),
    )


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ([], "at least one rule"),
        ([1], "rule 1 that is not a table"),
        ([{"chanel": "1"}], "unknown key 'chanel'"),
        ([{"channel": "ops", "guilds": ["9"]}], "channel is not a numeric"),
        ([{"channel": "91"}], "needs guilds with the one server"),
        ([{"channel": "91", "guilds": ["9", "8"]}], "needs guilds with the one server"),
        ([{"people": []}], "people is not a list"),
        ([{"people": ["ana"]}], "people has an entry"),
        ([{"people": [str(n) for n in range(1, 12)]}], "more than 10 people"),
        ([{"here": "yes"}], "here is not true or false"),
        ([{"here": False}], "leaves cards no place"),
        ([{"guilds": []}], "guilds is not a list"),
        ([{"quiet_hours": "22-7"}], "quiet_hours are not like"),
        ([{"quiet_hours": "07:00-07:00"}], "quiet_hours are not like"),
        ([{"quiet_hours": "22:00-07:00", "timezone": "Mars/Base"}], "not known here"),
        ([{"quiet_hours": "22:00-07:00", "timezone": 1}], "not known here"),
        ([{"timezone": "Europe/Berlin"}], "timezone and no quiet_hours"),
    ],
)
def test_a_rule_that_makes_no_sense_stops_the_start(rule: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        places_rules(json.dumps(rule))


def test_nonsense_in_the_environment_names_the_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGNOFF_PLACES", "here")
    with pytest.raises(SettingsError, match="SIGNOFF_PLACES: must be a list of rules in JSON"):
        load_settings(tmp_path)
