// One field in full: label, text for each reader, formula, flows, history.
import { el, fieldId, formName, keyName, link, placeLink, revisionName, words } from "./dom.js";
import { isSameText, diffWords, showBoth } from "./worddiff.js";
import { readRevisions, textOf } from "./line_data.js";
import { textBlock } from "./text.js";

export const READER_NAMES = { filer: "For the filer", recipient: "For the recipient" };

const BOUNDS = { at_least_zero: ", not less than zero", at_most_zero: ", not more than zero" };

const fieldLink = (document, part, key) =>
  link({ view: "form", document, field: fieldId({ part, key }) }, keyName(key));

// A key of a formula: "line_3", or "Part II line_3" where keys start again in each part.
const keyLink = (row, written) => {
  const [, part, key] = /^(?:Part (\w+) )?(\w+)$/.exec(written) ?? [];
  return key ? fieldLink(row.document_id, part ?? row.part, key) : words(written);
};

// A formula as it was read: "Line 3 = line 1 + line 2".
export const formulaParts = row => {
  const { formula } = row;
  if (!formula || formula.operation === "unparsed") return null;
  const operands = formula.operands.map(key => keyLink(row, key));
  const joined = joint => operands.flatMap((own, place) => place ? [joint, own] : [own]);
  const right = {
    sum: () => joined(" + "),
    difference: () => joined(" − "),
    product: () => [...joined(" × "), formula.factor !== null && ` × ${formula.factor}`],
    smaller: () => ["the smaller of ", ...joined(" and ")],
    larger: () => ["the larger of ", ...joined(" and ")],
    copy: () => operands,
  }[formula.operation]?.();
  if (!right) return null;
  return [`${keyName(row.key)} = `, ...right, BOUNDS[formula.bound] ?? "",
    formula.column && `, column (${formula.column})`, formula.condition && `, if ${formula.condition}`];
};

const RELATIONS = { flows_to: "stated where the amount comes from", from_form: "stated where the amount goes", computed_from: "stated by a formula" };
const AGREEMENTS = { agreed: "both ends state it", contradicted: "the other end names another line", unresolved: "not found in this library" };

export const describeFlow = flow => [RELATIONS[flow.relation] ?? words(flow.relation), flow.problem || AGREEMENTS[flow.agreement],
  flow.is_same_year === false && !flow.problem && "of another year"].filter(Boolean).join("; ");

const endOf = (flow, end) => {
  const [document, form, part, key] = ["document_id", "form", "part", "key"].map(name => flow[`${end}_${name}`]);
  const name = `${formName(form)}, ${part ? `Part ${part}, ` : ""}${words(key)}`;
  return document ? link({ view: "form", document, field: fieldId({ part, key }) }, name) : el("span", {}, name);
};

const evidenceOf = flow => el("p", {},
  el("q", { class: "soft" }, flow.evidence), " ",
  placeLink({ document: flow.document_id, page: flow.page, boxes: flow.bbox ? [flow.bbox] : [] }, `${flow.document_id}, page ${flow.page}`),
  el("span", { class: "note" }, ` (${describeFlow(flow)})`));

// The documents of several years state the same flow: one item for each line, with the statement of the field's own year first.
const flowItem = (flows, end) => {
  const [first, ...others] = [...flows].sort((one, other) => rankOf(one) - rankOf(other));
  return el("li", {}, endOf(first, end), evidenceOf(first),
    others.length > 0 && el("details", {}, el("summary", {}, `${others.length} more that ${others.length === 1 ? "says" : "say"} so`), others.map(evidenceOf)));
};

const rankOf = flow => (flow.is_same_year === false ? 2 : 0) + (flow.problem ? 1 : 0);

const flowList = (flows, end, title) => {
  const groups = new Map();
  for (const flow of flows) {
    const name = ["form", "part", "key"].map(part => flow[`${end}_${part}`] ?? "").join("|");
    groups.set(name, [...(groups.get(name) ?? []), flow]);
  }
  return flows.length > 0 && el("section", {},
    el("h3", {}, title),
    el("ul", { class: "flows" }, [...groups.values()].map(own => flowItem(own, end))));
};

const sideOf = (reader, side) => el("section", { class: "reader" },
  el("h3", {}, READER_NAMES[reader]),
  side
    ? [side.passages.map(own => el("div", { class: "text" }, textBlock(own.text))),
      el("p", { class: "note" }, placeLink({ document: side.document, page: side.passages[0].page, boxes: side.passages.flatMap(own => own.bboxes ?? []) },
        `${side.document}, page ${side.passages[0].page}`))]
    : el("p", { class: "soft" }, "No instructions for this audience."));

const factRow = (name, value) => value && (!Array.isArray(value) || value.length) ? [el("dt", {}, name), el("dd", {}, value)] : [];

const rectangleWords = (page, box) => `page ${page}, ${["x0", "y0", "x1", "y1"].map(name => Math.round(box[`${name}_pt`])).join(", ")} pt`;

// Initials of the label serve the look-up; no document uses them as a name.
const namesOf = row => {
  const initials = row.label.split(/[^\p{L}\d]+/u).map(word => word.charAt(0).toUpperCase()).join("");
  return row.aliases.filter(alias => alias !== alias.toUpperCase() || !isWithin(alias, initials));
};

// Whether the letters of a word follow one another in a text.
const isWithin = (word, text) => {
  let place = -1;
  return [...word].every(letter => { place = text.indexOf(letter, place + 1); return place >= 0; });
};

export const factsOf = row => el("dl", {},
  factRow("Section", row.section.startsWith("Part ") || !row.part ? row.section : [`Part ${row.part}`, row.section].filter(Boolean).join(" – ")),
  factRow("Also called", namesOf(row).join(", ")),
  factRow("As stated", row.formula?.evidence),
  factRow("As read", formulaParts(row) ?? (row.formula?.problem && `not read: ${row.formula.problem}`)),
  factRow("Part of", row.used_in.flatMap((key, place) => [place ? ", " : "", keyLink(row, key)])),
  factRow("Columns", row.column_letters.join(", ")),
  factRow("Copies", row.copies.join(", ")),
  factRow("Rectangle", row.bbox && placeLink({ document: row.document_id, page: row.page, boxes: [row.bbox] }, rectangleWords(row.page, row.bbox))));

const compared = (title, before, after) => {
  if (isSameText(before, after)) return null;
  return el("div", {}, el("h4", {}, title), el("p", { class: "text" }, showBoth(diffWords(before, after))));
};

const nameOf = row => revisionName({ document: row.document_id, revision: row.revision, is_draft: row.isDraft });

// Each revision against the one before it; revisions without a difference share a line.
export const historyOf = revisions => {
  if (revisions.length < 2) return el("p", { class: "soft" }, "The library contains one revision of this field.");
  const items = [];
  let same = [];
  const flush = () => {
    if (same.length) items.push(el("li", {}, el("span", { class: "soft" }, `${same.join(", ")}: no change`)));
    same = [];
  };
  for (const [place, row] of revisions.entries()) {
    const older = revisions[place + 1];
    if (!older) { flush(); items.push(el("li", {}, el("span", { class: "soft" }, `${nameOf(row)}: first revision in this library`))); break; }
    const differences = [
      compared("Label", older.label, row.label),
      row.key !== older.key && el("p", { class: "text" }, el("del", {}, keyName(older.key)), " ", el("ins", {}, keyName(row.key))),
      ...["filer", "recipient"].map(reader => older.texts[reader] && row.texts[reader]
        && older.texts[reader].document !== row.texts[reader].document
        && compared(READER_NAMES[reader], textOf(older.texts[reader]), textOf(row.texts[reader]))),
    ].filter(Boolean);
    if (!differences.length) { same.push(nameOf(row)); continue; }
    flush();
    items.push(el("li", {}, el("details", { open: items.every(item => !item.querySelector("details")) },
      el("summary", {}, `${nameOf(older)} → ${nameOf(row)}`), differences,
      el("p", {}, link({ view: "compare", left: older.document_id, leftField: fieldId(older), right: row.document_id, rightField: fieldId(row) }, "Side by side")))));
  }
  return el("ol", { class: "history" }, items);
};

// What is known of a field of one document: null where the library has no numbered line for it.
export const lineDetail = async ({ form, document, part, key, signal }) => {
  const revisions = await readRevisions(form, { part, key }, signal);
  const row = revisions.find(own => own.document_id === document);
  if (!row) return null;
  const readers = ["filer", "recipient"].filter(reader => row.texts[reader]);
  const year = row.revision.slice(0, 4);
  return {
    row,
    parts: [
      el("p", { class: "actions" },
        link({ view: "trace", form, key: key.startsWith("box_") || !part ? words(key) : `Part ${part} ${words(key)}`, year }, "Trace this amount"),
        revisions.length > 1 && link({
          view: "compare", right: document, rightField: fieldId(row),
          ...(({ document_id, part: otherPart, key: otherKey }) => ({ left: document_id, leftField: fieldId({ part: otherPart, key: otherKey }) }))(revisions.find(own => own.document_id !== document)),
        }, "Compare with another field or year")),
      factsOf(row),
      readers.length > 0 && el("div", { class: readers.length > 1 ? "pair" : "" }, readers.map(reader => sideOf(reader, row.texts[reader]))),
      flowList(row.flows_in, "source", "Where the amount comes from"),
      flowList(row.flows_out, "target", "Where the amount goes"),
      el("section", {}, el("h3", {}, "History"), historyOf(revisions)),
      row.quality.map(flag => el("p", { class: "note" }, `⚑ ${flag.message} ${flag.remedy}`)),
    ],
    hasTexts: readers.length > 0,
  };
};
