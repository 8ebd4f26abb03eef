"""Hostile authored layers: valid PDFs whose structure tree, form template, links and names are changed.

Each mutation changes an open document and draws from a seeded generator; the printed pages stay as they were.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pymupdf

from benchmarks.mutants import Mutant

_MUPDF: Any = pymupdf
FALSE_WORDS = "Zwetschgen need not be reported"
"""What a layer says and no page prints."""

_KINDS = (
    "P",
    "H1",
    "H2",
    "Table",
    "TR",
    "TD",
    "TH",
    "L",
    "LI",
    "Lbl",
    "LBody",
    "Figure",
    "Caption",
    "TOC",
    "Span",
    "X",
)
_WRONG = ("null", "7", "-1", "(words)", "/Name", "[]", "<<>>", "[null 3 (x) [[]]]", "999999 0 R", "true", "1e38", "()")
_TREE_KEYS = ("S", "P", "K", "Pg", "A", "ActualText")
_ROOT_KEYS = ("K", "ParentTree", "RoleMap", "ClassMap", "IDTree", "Type")
Mutation = Callable[[Any, random.Random], None]


def _add(document: Any, text: str, stream: bytes | None = None) -> int:
    number = int(document.get_new_xref())
    document.update_object(number, text)
    if stream is not None:
        document.update_stream(number, stream)
    return number


def _find_elements(document: Any) -> list[int]:
    """Find the structure elements of a document."""
    get = document.xref_get_key
    return [
        xref for xref in range(1, document.xref_length()) if get(xref, "P")[0] == "xref" and get(xref, "S")[0] == "name"
    ]


def _tree_of(document: Any) -> int:
    kind, value = document.xref_get_key(document.pdf_catalog(), "StructTreeRoot")
    if kind == "xref":
        return int(value.split()[0])
    number = _add(document, "<</Type/StructTreeRoot>>")
    document.xref_set_key(document.pdf_catalog(), "StructTreeRoot", f"{number} 0 R")
    return number


def _pick(document: Any, rng: random.Random, most: int = 8) -> list[int]:
    found = _find_elements(document) or [_tree_of(document)]
    return rng.sample(found, min(len(found), rng.choice((1, 3, most))))


def loop_tree(document: Any, rng: random.Random) -> None:
    """Elements are their own parents, or the children of their children."""
    every = _find_elements(document) or [_tree_of(document)]
    for element in _pick(document, rng, 40):
        other = rng.choice((element, rng.choice(every)))
        key = rng.choice(("P", "K", "both"))
        if key != "K":
            document.xref_set_key(element, "P", f"{other} 0 R")
        if key != "P":
            document.xref_set_key(element, "K", f"[{other} 0 R {element} 0 R]")


def deepen_tree(document: Any, rng: random.Random) -> None:
    """Up to 100,000 elements stand between an element and its parent."""
    for ix, element in enumerate(_pick(document, rng, 3)[:3]):
        above = document.xref_get_key(element, "P")[1]
        kind = rng.choice(_KINDS)
        for _ in range(rng.choice((20, 190, 500, 3_000) if ix or rng.random() < 0.8 else (20_000, 100_000))):
            above = f"{_add(document, f'<</Type/StructElem/S/{kind}/P {above}/K {element} 0 R>>')} 0 R"
        document.xref_set_key(element, "P", above)


def widen_tree(document: Any, rng: random.Random) -> None:
    """An element has up to a million children."""
    for element in _pick(document, rng, 2)[:2]:
        kids = [str(rng.choice((element, number))) for number in _pick(document, rng)]
        one = " ".join(f"{kid} 0 R" for kid in kids)
        count = rng.choice((1_000, 100_000, 1_000_000)) // len(kids)
        parent = document.xref_get_key(element, "P")[1].split()[0]
        holder = int(parent) if parent.isdigit() else element
        document.xref_set_key(holder, "K", f"[{one * 1} {(one + ' ') * count}]")


def break_parent_tree(document: Any, rng: random.Random) -> None:
    """The way from marks to elements is a loop, is deep, leads nowhere, or to the wrong elements."""
    tree = _tree_of(document)
    held_out = document.xref_get_key(tree, "ParentTree")[1]
    way = rng.randrange(5)
    if way == 0:
        node = _add(document, "<<>>")
        document.update_object(node, f"<</Kids[{node} 0 R {held_out} {node} 0 R]/Limits[0 99]>>")
        held_out = f"{node} 0 R"
    elif way == 1:
        for _ in range(rng.choice((100, 3_000, 10_000))):
            held_out = f"{_add(document, f'<</Kids[{held_out}]/Limits[0 999]>>')} 0 R"
    else:
        found = _find_elements(document) or [tree]
        picked = [rng.choice(found) for _ in range(rng.choice((3, 300, 3000)))]
        rows = " ".join(
            rng.choice((f"{number} 0 R",) * 4 + _WRONG) if way == 2 else f"{number} 0 R" for number in picked
        )
        keys = range(rng.choice((2, 40)))
        held_out = f"<</Nums[{' '.join(f'{key} [{rows}]' for key in keys)}]>>"
    document.xref_set_key(tree, "ParentTree", held_out if held_out != "null" else "<<>>")


def mistype_tree(document: Any, rng: random.Random) -> None:
    """Entries of the tree are of the wrong type."""
    for element in _pick(document, rng, 60):
        document.xref_set_key(element, rng.choice(_TREE_KEYS), rng.choice(_WRONG))
    if rng.random() < 0.4:
        document.xref_set_key(_tree_of(document), rng.choice(_ROOT_KEYS), rng.choice(_WRONG))
    if rng.random() < 0.3:
        page = document[rng.randrange(document.page_count)]
        document.xref_set_key(page.xref, "StructParents", rng.choice(_WRONG))


def rename_tags(document: Any, rng: random.Random) -> None:
    """Elements are of other types: tables in headings, cells without rows."""
    for element in _pick(document, rng, 400):
        document.xref_set_key(element, "S", f"/{rng.choice(_KINDS)}")


def map_roles(document: Any, rng: random.Random) -> None:
    """The role map runs in a circle, or makes one type of all."""
    names = rng.sample(_KINDS, len(_KINDS))
    one = rng.choice(_KINDS)
    pairs = zip(names, names[1:] + names[:1], strict=True) if rng.random() < 0.5 else ((name, one) for name in names)
    roles = "".join(f"/{name}/{role}" for name, role in pairs)
    document.xref_set_key(_tree_of(document), "RoleMap", f"<<{roles}>>")


def tell_false_text(document: Any, rng: random.Random) -> None:
    """Elements say words that the page does not print."""
    for element in _pick(document, rng, 40):
        document.xref_set_key(element, rng.choice(("ActualText", "Alt", "E", "T")), f"({FALSE_WORDS})")


def shuffle_tree(document: Any, rng: random.Random) -> None:
    """The marks of pages lead to elements in another order."""
    tree, value = _tree_of(document), document.xref_get_key
    text = value(tree, "ParentTree")[1]
    for _ in range(4):
        if "/Nums" in text or not re.search(r"\d+ 0 R", text):
            break
        text = document.xref_object(int(rng.choice(re.findall(r"(\d+) 0 R", text))), compressed=True)
    for number in map(int, re.findall(r"(\d+) 0 R", text)):
        rows = document.xref_object(number, compressed=True)
        found = re.findall(r"\d+ 0 R", rows)
        if rows.startswith("[") and found:
            rng.shuffle(found)
            document.update_object(number, f"[{' '.join(found)}]")


def break_template(document: Any, rng: random.Random) -> None:
    """The form template is a bomb, is deep or large, or says false words."""
    false_layer = f'<subform name="a"><field name="f"><assist><speak>{FALSE_WORDS}</speak></assist></field></subform>'
    entities = "".join(f'<!ENTITY a{ix + 1} "{f"&a{ix};" * 10}">' for ix in range(12))
    bomb = f'<!DOCTYPE t [<!ENTITY a0 "ha">{entities}]><template>&a12;</template>'
    outside = '<!DOCTYPE t [<!ENTITY x SYSTEM "file:///etc/passwd">]><template>&x;</template>'
    count = rng.choice((5_000, 200_000))
    bodies = (
        bomb,
        outside,
        f"<template>{'<subform>' * count}{'</subform>' * count}</template>",
        f"<template>{'<subform/>' * 5 * count}</template>",
        f"<template>{false_layer}</template>",
        f"<template>{false_layer * (count // 10)}</template>",
        "<template><subform",
        '<?xml version="1.0" encoding="utf-77"?><template/>',
        f'<template><field name="{"n" * 10 * count}"/></template>',
    )
    stream = _add(document, "<<>>", rng.choice(bodies).encode(rng.choice(("utf8", "utf-16"))))
    value = rng.choice(
        (f"[(template) {stream} 0 R]", f"{stream} 0 R", "[(template)]", f"[{stream} 0 R]", "[(template) 7]")
    )
    kind, form = document.xref_get_key(document.pdf_catalog(), "AcroForm")
    if kind == "xref":
        document.xref_set_key(int(form.split()[0]), "XFA", value)
    else:
        fields = "" if kind == "dict" else "/Fields[]"
        document.xref_set_key(document.pdf_catalog(), "AcroForm", f"<<{fields}/XFA {value}>>")


def break_fields(document: Any, rng: random.Random) -> None:
    """Form fields are their own parents, or have kids, names and places of the wrong type."""
    numbers = [widget.xref for page in document for widget in page.widgets()]
    if not numbers:
        page = document[0]
        numbers = [_add(document, "<</Type/Annot/Subtype/Widget/FT/Tx/T(a)/Rect[50 50 90 70]>>") for _ in range(4)]
        rows = " ".join(f"{number} 0 R" for number in numbers)
        document.xref_set_key(page.xref, "Annots", f"[{rows}]")
        document.xref_set_key(document.pdf_catalog(), "AcroForm", f"<</Fields[{rows}]>>")
    for number in rng.sample(numbers, min(len(numbers), rng.choice((1, 4, 40)))):
        key, other = (
            rng.choice(("Parent", "Kids", "T", "TU", "Rect", "FT", "MK")),
            rng.choice((number, rng.choice(numbers))),
        )
        looped = {"Parent": f"{other} 0 R", "Kids": f"[{other} 0 R {number} 0 R]", "TU": f"({FALSE_WORDS})"}
        document.xref_set_key(number, key, rng.choice((looped.get(key, "null"), rng.choice(_WRONG))))


def break_names(document: Any, rng: random.Random) -> None:
    """The tree of names is a loop, deep, wide, or of the wrong types."""
    page = document.page_xref(0)
    node = _add(document, "<<>>")
    count = rng.choice((100, 50_000))
    row = f"(n) [{page} 0 R/XYZ 0 1e30 null] (m) <</D[{node} 0 R]>> {rng.choice(_WRONG)} "
    text = rng.choice(
        (f"<</Kids[{node} 0 R {node} 0 R]>>", f"<</Names[{row * count}]>>", f"<</Names {rng.choice(_WRONG)}>>")
    )
    document.update_object(node, text)
    held_out = f"{node} 0 R"
    for _ in range(rng.choice((0, 3, 3_000, 10_000))):
        held_out = f"{_add(document, f'<</Kids[{held_out}]/Limits[(a)(z)]>>')} 0 R"
    document.xref_set_key(document.pdf_catalog(), "Names", f"<</Dests {held_out}>>")


def break_links(document: Any, rng: random.Random) -> None:
    """Links lead out of the file, run programs, or have no place."""
    actions = (
        "/A<</S/Launch/F(/bin/sh)>>",
        "/A<</S/GoToR/F(other.pdf)/D[0/Fit]>>",
        "/A<</S/URI/URI(file:///etc/passwd)>>",
        "/A<</S/URI/URI(javascript:alert\\(1\\))>>",
        f"/A<</S/URI/URI(https://example.com/{'x' * 100_000})>>",
        "/A<</S/JavaScript/JS(app.alert\\(1\\))>>",
        "/A<</S/GoTo/D(nowhere)>>",
        "/Dest[99999 0 R/XYZ 0 0 0]",
        "/Dest[[[[[[]]]]]]",
        *(f"/A {wrong}" for wrong in _WRONG),
    )
    boxes = ("[0 0 600 700]", "[1e38 -1e38 1e38 1e38]", "[0 0]", "null", "(x)", "[100 100 40 40]", "[nan 0 1 1]")
    page = document[rng.randrange(document.page_count)]
    numbers = []
    for _ in range(rng.choice((3, 30))):
        body = f"<</Type/Annot/Subtype/Link{rng.choice(actions)}/Rect {rng.choice(boxes)}/Contents({FALSE_WORDS})>>"
        numbers.append(_add(document, body))
    rows = " ".join(f"{number} 0 R" for number in numbers) + rng.choice(("", " null 5", f" {page.xref} 0 R"))
    document.xref_set_key(page.xref, "Annots", f"[{f'{rows} ' * rng.choice((1, 1, 2_000))}]")


def break_bookmarks(document: Any, rng: random.Random) -> None:
    """Bookmarks follow themselves, are deep, or many."""
    first = _add(document, "<<>>")
    way = rng.randrange(3)
    below = f"/First {first} 0 R/Next {first} 0 R" if way == 0 else ""
    document.update_object(first, f"<</Title({FALSE_WORDS})/Dest[{document.page_xref(0)} 0 R/Fit]{below}>>")
    held_out = first
    for _ in range(rng.choice((2, 3_000, 10_000)) if way else 0):
        key = "First" if way == 1 else "Next"
        held_out = _add(
            document, f"<</Title(t)/{key} {held_out} 0 R{'/Last ' + str(held_out) + ' 0 R' if way == 1 else ''}>>"
        )
    root = _add(
        document, f"<</Type/Outlines/First {held_out} 0 R/Last {first} 0 R/Count {rng.choice((1, -5, 99999999))}>>"
    )
    document.xref_set_key(document.pdf_catalog(), "Outlines", f"{root} 0 R")


MUTATIONS: dict[str, Mutation] = {
    made.__name__: made
    for made in (
        *(loop_tree, deepen_tree, widen_tree, break_parent_tree, mistype_tree, rename_tags, map_roles),
        *(tell_false_text, shuffle_tree, break_template, break_fields, break_names, break_links, break_bookmarks),
    )
}


def build_layer_mutants(originals: Mapping[str, bytes], *, cases: int, seed: int) -> Iterator[Mutant]:
    """N mutants, by turns of each kind; one in four is mutated twice. The same seed makes the same ones."""
    kinds, names = list(MUTATIONS), list(originals)
    for case in range(cases):
        rng = random.Random(f"{seed}:{case}")
        chosen = [kinds[case % len(kinds)]] + ([rng.choice(kinds)] if rng.random() < 0.25 else [])
        original = rng.choice(names)
        with _MUPDF.open(stream=originals[original], filetype="pdf") as document:
            for kind in chosen:
                MUTATIONS[kind](document, rng)
            data = document.tobytes()
        yield Mutant(f"mutant-{case:05d}", original, tuple(chosen), data)
