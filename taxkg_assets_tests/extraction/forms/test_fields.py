"""Fields of real forms and of the bundled sample: each numbered one has a key that is printed and a label."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from taxkg_assets.extraction.authored.form_fields import FormField
from taxkg_assets.extraction.extract import Extraction, extract
from taxkg_assets.extraction.forms.fields import build_fields
from taxkg_assets.extraction.forms.option_labels import add_words, find_option_labels
from taxkg_assets.extraction.forms.spoken import read_spoken
from taxkg_assets.extraction.forms.stated_fields import StatedField
from taxkg_assets.extraction.layout.regions import FaceBox
from taxkg_assets.schemas import Anchors
from taxkg_assets.serving.build import SAMPLES

Read = Callable[[str], Extraction]


def test_fields_of_the_sample_are_read_from_its_layout() -> None:
    name = "sample-f1099div--2024-01"
    frames = extract((Path(SAMPLES) / f"{name}.pdf").read_bytes(), document_id=name).frames
    fields, faces = frames["fields"], frames["faces"]
    assert set(fields["source"]) == {"layout"}
    keyed = fields.filter(pl.col("key") != "")
    labels = dict(faces.select("box_key", "label").iter_rows())
    assert set(keyed["key"]) <= set(labels)
    assert keyed["key"].n_unique() >= 15
    assert all(label == labels[key] for key, label in keyed.select("key", "label").iter_rows())


def test_a_face_without_form_fields_has_one_field_per_box(read_real: Read) -> None:
    frames = read_real("library/fw2--2007").frames
    fields = frames["fields"]
    assert set(fields["key"]) == set(frames["faces"]["box_key"])
    assert set(fields["source"]) == {"layout"}


def _state(ix: int, text: str, *, key: str, kind: str) -> StatedField:
    """A field with a spoken text, in a row of such fields."""
    left, width = 60 + 40 * ix, 8 if kind == "checkbox" else 38
    field = FormField(f"c{ix}", 1, left, 100, left + width, 108, kind, text, "", "", ix, True, ix)
    return StatedField(field, read_spoken(text), key, "", "", "")


@pytest.mark.parametrize(
    ("name", "numbered", "copies"),
    [
        ("library/f1040sd--2023", 51, 0),
        ("library/f8949--2020", 240, 0),
        ("library/f6251--2022", 59, 0),
        ("corpus/f1099div--2024-01", 100, 4),
        ("corpus/fw2--2025", 200, 6),
    ],
)
def test_fields_of_real_forms_have_a_printed_key_and_a_label(
    read_real: Read, name: str, numbered: int, copies: int
) -> None:
    frames = read_real(name).frames
    fields = frames["fields"]
    keyed = fields.filter(pl.col("key") != "")
    printed = {*frames["anchors"]["key"].drop_nulls(), *frames["faces"]["box_key"]}
    assert keyed.height >= numbered
    assert set(keyed["key"]) <= printed
    assert fields.select("page", "name").is_duplicated().sum() == 0
    assert keyed.filter(pl.col("label") == "").height <= 0.15 * keyed.height
    assert fields.filter(pl.col("copy") != "")["copy"].n_unique() >= copies
    assert (fields["source"] == "template").mean() > 0.95


def test_fields_of_one_box_have_their_own_part_of_its_label(read_real: Read) -> None:
    fields = read_real("library/fw2--2019").frames["fields"]
    boxes = fields.filter(pl.col("kind") == "checkbox").filter(pl.col("key") == "box_13")
    assert set(boxes["label"]) == {"Statutory employee", "Retirement plan", "Third-party sick pay"}


def test_check_boxes_of_one_line_have_their_own_words_or_answer(read_real: Read) -> None:
    fields = read_real("library/f1040--2018").frames["fields"].filter(pl.col("kind") == "checkbox")
    assert set(fields.filter(pl.col("key") == "line_20c")["label"]) == {"Type: Checking", "Savings"}
    answered = read_real("library/f1040sd--2019").frames["fields"].filter(pl.col("key") == "line_17")
    assert [label.rpartition(" ")[2] for label in answered.filter(pl.col("kind") == "checkbox")["label"]] == [
        "Yes",
        "No",
    ]


@pytest.mark.parametrize(
    ("printed", "spoken", "labels"),
    [
        (
            "Is the boat yours? Yes. Go to line 8. No. Skip line 8.",
            ("7. Is the boat yours? Yes. Go to line 8.", "7. No. Skip line 8."),
            ["Is the boat yours? Yes", "Is the boat yours? No"],
        ),
        (
            "Is the boat yours?",
            ("7. Is the boat yours? Yes.", "7. No."),
            ["Is the boat yours? Yes", "Is the boat yours? No"],
        ),
        ("Sent by: Cart Ferry", ("7. Cart.", "7. Ferry."), ["Cart", "Ferry"]),
        ("A notary keeps the key", ("7. no.", "7. key."), ["A notary keeps the key"] * 2),
        ("A notary says no to the key", ("7. no.", "7. key."), ["no", "key"]),
        (
            "Fares from Form:",
            ("7. Fares from: A. Form 9913.", "7. B. Form 9914.", "7. C. Form (number)."),
            ["Fares from Form: 9913", "Fares from Form: 9914", "Fares from Form: (number)"],
        ),
        (
            "Dues (old). Check one. (i) Bay 4, pier (n) (ii) Bay 5",
            ("7. Dues (old). Check one. (i). Bay 4, pier (n).", "7. (i i). Bay 5."),
            ["Dues (old). Check one. Bay 4, pier (n)", "Dues (old). Check one. Bay 5"],
        ),
        ("Check if: Your boat is old, leaky", ("7. It is old.", "7. It is leaky."), ["It is old", "It is leaky"]),
        ("Check if: Your boat is old", ("7. Old raft.", "7. Old raft."), ["Check if: Your boat is old"] * 2),
    ],
)
def test_check_boxes_have_whole_words_of_their_label_or_its_question_and_their_answer(
    printed: str, spoken: tuple[str, ...], labels: list[str]
) -> None:
    stated = [_state(ix, text, key="line_7", kind="checkbox") for ix, text in enumerate(spoken)]
    anchors = Anchors.sample(
        overrides={
            "document_id": ["sample"], "kind": ["line"], "key": ["line_7"], "page": [1], "heading": [printed],
            "parent_anchor_id": [None],
        }
    )  # fmt: skip
    fields = build_fields(stated, anchors=anchors, faces={}, lines={}, document_id="sample", is_trusted=True)
    assert fields["label"].to_list() == labels


def test_amounts_of_one_line_have_the_words_that_it_prints_elsewhere() -> None:
    spoken = (
        "7. Sum of boats. Rafts on line 6.",
        "7. Rafts of other keepers.",
        "7. Keep the list. Sum of boats. Dollars.",
    )
    stated = [_state(ix, text, key="line_7", kind="text") for ix, text in enumerate(spoken)]
    anchors = Anchors.sample(
        overrides={
            "document_id": ["sample"], "kind": ["line"], "key": ["line_7"], "page": [1], "heading": ["Sum of boats"],
            "parent_anchor_id": [None],
        }
    )  # fmt: skip
    fields = build_fields(stated, anchors=anchors, faces={}, lines={}, document_id="sample", is_trusted=True)
    assert fields["label"].to_list() == [
        "Sum of boats. Rafts on line 6",
        "Sum of boats. Rafts of other keepers",
        "Sum of boats",
    ]


def test_words_after_the_letter_of_a_column_and_words_of_the_label_add_nothing_to_it() -> None:
    said = ("Entry 1. E. Cost of the boat", "Entry 1.Repairs, if any. G. Cost of repairs", "Sum; list codes (or code)")
    label = "Sum; list code(s)"
    assert [add_words(label, words) for words in said] == [label] * 3


@pytest.mark.parametrize(
    ("label", "said", "labels"),
    [
        ("Cutter Raft for one", ["A. Cutter", "B. Raft for one"], ["Cutter", "Raft for one"]),
        ("Boat: A Raft B Cutter", ["B. Cutter", "A. Raft"], ["Boat: Cutter", "Boat: Raft"]),
        ("Boat: A Old raft", ["A. Raft, old", "B. Cutter: new"], ["Boat: Raft, old", "Boat: Cutter: new"]),
        ("", ["A. Cutter", "B. Raft"], ["Cutter", "Raft"]),
    ],
)
def test_options_follow_the_words_before_the_first_of_them(label: str, said: list[str], labels: list[str]) -> None:
    assert find_option_labels(label, said) == labels


def test_boxes_almost_at_one_height_are_one_row() -> None:
    boxes = [
        FaceBox(1, f"box_{ix}", "", False, x, y, x + 9, y + 9, (), 1.0) for ix, x, y in ((1, 90, 100.4), (2, 9, 100.6))
    ]
    fields = build_fields(
        [], anchors=Anchors.create_empty(), faces={1: boxes}, lines={}, document_id="sample", is_trusted=True
    )
    assert fields["key"].to_list() == ["box_2", "box_1"]


def test_rows_numbered_like_columns_over_entries_count_for_the_columns() -> None:
    spoken = ("Row: (2) Mast. Column: Dependent 3.", "Row: (4) Check if. Column: Dependent 1. (b) Old.")
    stated = [_state(ix, text, key="", kind="text") for ix, text in enumerate(spoken)]
    fields = build_fields(
        stated, anchors=Anchors.create_empty(), faces={}, lines={}, document_id="sample", is_trusted=True
    )
    assert fields.select("column", "row", "label").rows() == [
        ("2", "Dependent 3", "Mast"),
        ("4b", "Dependent 1", "Check if Old"),
    ]


@pytest.mark.parametrize(
    ("printed", "spoken", "labels"),
    [
        ("See page 4", ("7. See page 4. Code.", "7. Amount."), ["Code", "See page 4"]),
        (
            "Port Harbor name",
            ("7. Port. 1.", "7. Port. 2.", "7. Harbor name."),
            ["Port", "Port", "Harbor name"],
        ),
        ("Owner’s first name", ("7. Owner's first name.", "7. Last name."), ["Owner’s first name", "Last name"]),
        ("Port", ("7. 1. Port.", "7. 2. Port."), ["Port", "Port"]),
        ("See page 4", ("7. Box 7. Code.", "7. Box 7. See page 4."), ["Code", "See page 4"]),
        (
            "Port Owner’s boat ID number",
            ("7. Port.", "7. Owner's boat identification number."),
            ["Port", "Owner’s boat ID number"],
        ),
        ("Port Owner of it", ("7. Port.", "7. Owner of an old raft it."), ["Port", "Owner of an old raft it"]),
    ],
)
def test_fields_of_one_box_have_the_words_that_only_they_say(
    printed: str, spoken: tuple[str, ...], labels: list[str]
) -> None:
    stated = [_state(ix, text, key="box_7", kind="text") for ix, text in enumerate(spoken)]
    box = FaceBox(1, "box_7", printed, False, 50, 90, 300, 120, (), 1.0)
    fields = build_fields(
        stated, anchors=Anchors.create_empty(), faces={1: [box]}, lines={}, document_id="sample", is_trusted=True
    )
    assert fields["label"].to_list() == labels


def test_all_fields_of_a_table_lose_a_number_that_is_not_printed() -> None:
    stated = [
        StatedField(
            FormField(f"c{ix}", 1, 60 + 40 * ix, 100, 98 + 40 * ix, 112, "text", text, "", "", ix, True, ix),
            read_spoken(text), key, "", "", "",
        )
        for ix, (text, key) in enumerate(
            [("Line 1. Item 1. (B). Day.", "line_1"), ("Line 1. Item 2. B.", "line_1"), ("Line 4. Oil.", "line_4")]
        )
    ]  # fmt: skip
    anchors = Anchors.sample(
        overrides={
            "document_id": ["sample"], "kind": ["column"], "key": ["column_b"], "page": [1], "heading": ["Day"],
            "parent_anchor_id": [None],
        }
    )  # fmt: skip
    fields = build_fields(stated, anchors=anchors, faces={}, lines={}, document_id="sample", is_trusted=True)
    assert fields["key"].to_list() == ["", "", "line_4"]


def test_a_section_that_heads_a_table_ends_with_it(read_real: Read) -> None:
    fields = read_real("library/f1040--2018").frames["fields"]
    sections = dict(fields.filter(pl.col("key") == "line_1").select("key", "section").iter_rows())
    assert sections == {"line_1": ""}
    assert (fields.filter(pl.col("row") == "2")["section"] != "").all()


def test_parentheses_around_the_blank_of_a_loss_are_no_text(read_real: Read) -> None:
    sections = read_real("library/f1040sd--2023").frames["sections"]
    assert sections.filter(~pl.col("text").str.contains(r"[A-Za-z0-9]")).is_empty()


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("f8949--2020", ("box_A", "line_1", "column_a", "column_h", "line_2", "box_F")),
        ("f8995--2023", ("line_1i", "line_1v", "column_a", "column_c", "line_17")),
        ("f1040sd--2023", ("column_d", "column_e", "column_g", "column_h", "line_1a", "line_22")),
        ("f1040s2--2019", ("line_5a", "line_5b", "line_8c", "line_10")),
        ("f1040--2019", ("line_21b", "line_21c", "line_21d")),
    ],
)
def test_lines_that_only_the_fields_tell_are_found(read_real: Read, name: str, keys: tuple[str, ...]) -> None:
    anchors = read_real(f"library/{name}").frames["anchors"]
    assert set(keys) <= set(anchors["key"].drop_nulls())


def test_lines_right_of_others_are_no_numbers_at_amounts(read_real: Read) -> None:
    anchors = read_real("library/f1040--2011").frames["anchors"]
    headings = dict(anchors.filter(pl.col("kind") == "line").select("key", "heading").iter_rows())
    assert headings["line_5"].startswith("Qualifying")
    assert headings["line_2"].endswith("income)")
    assert headings["line_6b"] == "Spouse"


def test_a_field_that_nothing_numbers_is_in_the_section_above_it(read_real: Read) -> None:
    fields = read_real("library/f1040--2021").frames["fields"]
    sections = dict(fields.filter(pl.col("key") == "").select("label", "section").iter_rows())
    assert sections["Your first name and middle initial"] == ""
    assert sections["Your occupation"] == "Sign Here"
    assert sections["Preparer’s name"] == "Paid Preparer Use Only"


def test_a_note_below_a_grid_and_words_over_its_heads_belong_to_its_part(read_real: Read) -> None:
    frames = read_real("library/f8949--2017").frames
    keys = dict(frames["anchors"].select("anchor_id", "key").iter_rows())
    texts = frames["sections"].filter(pl.col("page") == 1)
    owners = {text[:12]: keys.get(owner) for text, owner in texts.select("text", "anchor_id").iter_rows()}
    assert (owners["Adjustment, "], owners["Note: If you"]) == ("part_I", "part_I")
    rows = frames["fields"].filter(pl.col("key") == "line_1", pl.col("column") == "a")
    assert rows["label"].unique().to_list() == [
        frames["anchors"].filter(pl.col("key") == "column_a")["heading"].first()
    ]


def test_conditions_inside_a_line_are_a_table_though_a_frame_is_around_its_fields(read_real: Read) -> None:
    frames = read_real("library/f6251--2022").frames
    assert [len(cells) for cells in frames["tables"]["cells"]] == [9]
    (label,) = frames["anchors"].filter(pl.col("key") == "line_5")["heading"]
    assert "IF" not in label
