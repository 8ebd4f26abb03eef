"""A template is read by the paths of its names; a hostile or damaged one is empty and says why."""

from __future__ import annotations

import pytest

from taxkg_assets.extraction.authored.form_template import read_form_template
from taxkg_assets.rules.loader import load_family
from taxkg_assets_tests.extraction.templated import FOOT, HEAD, field_xml

_LIMITS = load_family("spoken")["limits"]
_BOMB = b'<!DOCTYPE a [<!ENTITY b "boat"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>'
_EXTERNAL = b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/hostname">]>'
_VALID = field_xml("f1", "1. Boats. $.")


def test_fields_come_with_path_kind_words_and_order() -> None:
    xml = (
        b'<group><subform name="Row"><area>'
        + field_xml("f", "1. Boats.", caption="1 Boats")
        + b"</area></subform></group>"
        b'<subform name="Row">' + field_xml("f", "2.", control="checkButton") + field_xml("f", "3.") + b"</subform>"
        b"<subform>" + field_xml("s", control="signature") + b"</subform>"
    )
    template = read_form_template(HEAD + xml + FOOT)
    assert template.is_trusted
    assert [(one.name, one.kind, one.spoken, one.order) for one in template.fields] == [
        ("top[0].Page1[0].Row[0].#area[0].f[0]", "text", "1. Boats.", 0),
        ("top[0].Page1[0].Row[1].f[0]", "checkbox", "2.", 1),
        ("top[0].Page1[0].Row[1].f[1]", "text", "3.", 2),
        ("top[0].Page1[0].#subform[0].s[0]", "signature", "", 3),
    ]
    assert template.fields[0].caption == "1 Boats"


def test_a_tip_is_spoken_where_nothing_else_is() -> None:
    tip = b'<field name="a"><assist><toolTip>Boats</toolTip></assist></field>'
    both = b'<field name="b"><assist><toolTip>Tip</toolTip><speak>Rafts</speak></assist></field>'
    assert [one.spoken for one in read_form_template(HEAD + tip + both + FOOT).fields] == ["Boats", "Rafts"]


def test_the_template_may_be_one_part_of_a_whole_form() -> None:
    packet = b'<xdp:xdp xmlns:xdp="http://ns.adobe.com/xdp/"><config/>' + HEAD + _VALID + FOOT + b"</xdp:xdp>"
    assert [one.name for one in read_form_template(packet).fields] == ["top[0].Page1[0].f1[0]"]


_DRAWN = b"""<border><edge thickness="1 > 0"\n/><corner/></border><para hAlign='left'/><font typeface="a/b" />"""


def test_what_only_draws_a_field_changes_nothing() -> None:
    plain, drawn = (HEAD + mark + _VALID + mark + FOOT for mark in (b"", _DRAWN))
    assert read_form_template(drawn) == read_form_template(plain)


_DRAWN_WHOLE = (
    b'<draw name="label" w="9mm"\n><value\n><text\n>Boats <?note a > b?></text\n></value\n></draw\n>'
    b'<border><edge/><fill><color value="0,0,0"/></fill></border>'
    b'<event activity="ready"><script>edge = "boat";</script></event>'
    b'<items><text>1</text></items><traversal><traverse ref="f2"/></traversal>'
)


def test_whole_elements_that_only_draw_change_nothing() -> None:
    caption = b"<caption><font><fill/></font><value><text>1 Boats</text></value></caption>"
    plain, drawn = (
        HEAD + mark + b'<field name="a">' + mark + caption + mark + b"</field>" + mark + FOOT
        for mark in (b"", _DRAWN_WHOLE)
    )
    assert read_form_template(drawn) == read_form_template(plain)
    assert read_form_template(drawn).fields[0].caption == "1 Boats"


def test_a_note_may_quote_what_looks_like_an_element() -> None:
    quoting = b"<?note <draw> ?>" + _VALID + b"<draw><value/></draw>"
    assert read_form_template(HEAD + quoting + FOOT) == read_form_template(HEAD + _VALID + FOOT)


def test_a_drawn_element_that_does_not_end_takes_nothing_out() -> None:
    template = read_form_template(HEAD + b"<draw><draw>" + _VALID + b"</draw>" + FOOT)
    assert not template.is_trusted
    assert "damaged" in template.reason


def test_what_looks_like_an_element_in_a_quotation_is_text() -> None:
    quoted = b'<field name="a"><assist><speak><![CDATA[Press <edge/> now]]></speak></assist></field>'
    assert read_form_template(HEAD + quoted + FOOT).fields[0].spoken == "Press <edge/> now"


def test_elements_that_only_draw_count_towards_the_most() -> None:
    data = HEAD + b"<edge/>" * int(_LIMITS["template_nodes"]) + _VALID + FOOT
    assert "elements" in read_form_template(data).reason


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "no template"),
        (_BOMB + HEAD + _VALID + FOOT, "document type"),
        (_EXTERNAL + HEAD + _VALID + FOOT, "document type"),
        (b"<!DOCTYPE a>" + HEAD + _VALID + FOOT, "document type"),
        (HEAD + field_xml("f1", "&boat;").replace(b"&amp;", b"&") + FOOT, "damaged"),
        (HEAD + _VALID, "damaged"),
        ((HEAD + _VALID + FOOT)[:-40], "damaged"),
        (HEAD + b'<field name="\xff\xfe\xc3"/>' + FOOT, "damaged"),
        (b'<?xml version="1.0" encoding="no-such-code"?>' + HEAD + FOOT, "damaged"),
        (b"%PDF is no XML", "damaged"),
        (HEAD + FOOT, "no fields"),
        (b'<subform name="a">' * 100_000, "deep"),
        (b"<p>" * 100_000, "deep"),
        (HEAD + b"<a/>" * 1_000_000 + FOOT, "elements"),
        (b" " * (int(_LIMITS["template_bytes"]) + 1), "bytes"),
    ],
    ids=[
        *("none", "bomb", "external", "doctype", "entity", "open", "truncated", "not-utf8", "encoding", "no-xml"),
        *("empty", "deep-names", "deep", "million", "long"),
    ],
)
def test_what_is_hostile_or_damaged_is_not_trusted(data: bytes, reason: str) -> None:
    template = read_form_template(data)
    assert (template.fields, template.is_trusted) == ((), False)
    assert reason in template.reason


def test_groups_that_bear_the_names_of_the_groups_around_them_are_distinguished() -> None:
    around = b'<subform name="top"><subform name="Page1">' * 20
    template = read_form_template(HEAD + around + _VALID + b"</subform></subform>" * 20 + _VALID + FOOT)
    names = [one.name for one in template.fields]
    assert len(set(names)) == 2
    assert names[1] == "top[0].Page1[0].f1[0]"
