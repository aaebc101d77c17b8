"""What only looks familiar is pointed out (threats T33 to T35)."""

from __future__ import annotations

from cogs.lookalikes import punycode, remarks


def test_a_cyrillic_host_is_spelt_as_the_network_spells_it() -> None:
    """S-A35."""
    (remark,) = remarks("curl https://раypal.com/x")
    assert "`раypal.com`" in remark
    assert "`xn--ypal-43d9g.com`" in remark


def test_hidden_characters_are_announced() -> None:
    """S-A33."""
    (remark,) = remarks("cat report\u202efdp.exe")
    assert "invisible or reorder" in remark


def test_a_word_of_two_alphabets_is_pointed_out() -> None:
    (remark,) = remarks("./dерloy --all")
    assert "`dерloy`" in remark


def test_right_to_left_letters_are_announced() -> None:
    (remark,) = remarks("rm שלום/a")
    assert "right to left" in remark


def test_ordinary_texts_in_any_language_need_no_remark() -> None:
    assert remarks("git push origin main\n\tif x:\r\n") == []
    assert remarks("echo 'Grüße, 東京タワーTokyo, привет мир'") == []
    assert remarks("curl https://example.com/ü?q=ü") == []


def test_a_host_in_wide_letters_is_folded_as_a_browser_would() -> None:
    assert punycode("ｅｖｉｌ。com") == "evil.com"


def test_a_remark_cannot_carry_formatting_out() -> None:
    (remark,) = remarks("https://ра`**x**`ypal.com")
    assert remark.count("`") == 4
