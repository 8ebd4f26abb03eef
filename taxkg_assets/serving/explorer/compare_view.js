// Two fields next to each other: of two years of one form, or of two forms, with the words that differ.
import { getDocuments, getJson } from "./api.js";
import { el, fieldId, fill, formName, keyName, link, placeLink, revisionName } from "./dom.js";
import { READER_NAMES, formulaParts } from "./line_card.js";
import { readRevisions, textOf } from "./line_data.js";
import { diffWords, isSameText, showAfter, showBefore } from "./worddiff.js";

const SIDES = ["left", "right"];

const keysOf = fields => {
  const keys = new Map();
  for (const field of fields) if (field.key) keys.set(fieldId({ part: field.part, key: field.key }), field);
  return [...keys];
};

const readFields = async (documentId, signal) =>
  keysOf(await getJson(`v1/fields?${new URLSearchParams({ document: documentId })}`, signal));

const readSide = async ({ documentId, fields, wanted }, known, signal) => {
  const [part, key] = (wanted ?? "").split("|");
  const chosen = fields.find(([id]) => id === fieldId({ part, key })) ?? fields[0];
  const own = chosen?.[1];
  const revisions = own ? await readRevisions(known.get(documentId)?.form ?? "", own, signal) : [];
  return { document: documentId, fields, chosen: chosen?.[0], row: revisions.find(row => row.document_id === documentId) };
};

const chooser = (side, name, forms, go) => el("fieldset", {},
  el("legend", {}, name),
  el("label", {}, "Form and revision", el("select", { onchange: event => go({ [side.name]: event.target.value, [`${side.name}Field`]: side.chosen }) },
    forms.map(form => el("optgroup", { label: formName(form.form) }, form.revisions.map(own =>
      el("option", { value: own.document, selected: own.document === side.document }, `${formName(form.form)}, ${revisionName(own)}`)))))),
  el("label", {}, "Field", el("select", { onchange: event => go({ [`${side.name}Field`]: event.target.value }) },
    side.fields.map(([id, field]) => el("option", { value: id, selected: id === side.chosen }, `${keyName(field.key)}${field.part ? ` (Part ${field.part})` : ""} ${field.label}`.slice(0, 70))))));

// Roles are given, as a narrow screen shows the parts of this table below each other.
const cell = (side, children, source) => el("td", { role: "cell", "data-side": side }, el("div", { class: "text" }, children), source && el("p", { class: "note" }, source));

const sourceOf = side => side && placeLink({ document: side.document, page: side.passages[0].page, boxes: side.passages.flatMap(own => own.bboxes ?? []) },
  `${side.document}, page ${side.passages[0].page}`);

const textRow = (name, [before, after], sources = []) => {
  if (!before && !after) return null;
  const isSame = isSameText(before, after);
  const changes = isSame ? null : diffWords(before, after);
  return el("tr", { role: "row", class: isSame ? "same" : "" },
    el("th", { scope: "row", role: "rowheader" }, name, isSame && el("span", { class: "note" }, " the same")),
    cell("Left", before ? (isSame ? before : showBefore(changes)) : el("span", { class: "soft" }, "none"), sources[0]),
    cell("Right", after ? (isSame ? after : showAfter(changes)) : el("span", { class: "soft" }, "none"), sources[1]));
};

const flowNames = (flows, end) => [...new Set(flows.map(flow =>
  `${formName(flow[`${end}_form`])} ${keyName(flow[`${end}_key`]).toLowerCase()}`))].sort().join("; ");

const plainFormula = row => el("div", {}, formulaParts(row) ?? "").textContent;

const table = (one, other) => {
  const both = [one.row, other.row];
  const rows = [
    textRow("Label", both.map(row => row.label)),
    textRow("Section", both.map(row => row.section)),
    ...["filer", "recipient"].map(reader => textRow(READER_NAMES[reader], both.map(row => textOf(row.texts[reader])), both.map(row => sourceOf(row.texts[reader])))),
    textRow("How it is figured", both.map(row => row.formula?.evidence ?? "")),
    textRow("Formula as read", both.map(plainFormula)),
    textRow("Comes from", both.map(row => flowNames(row.flows_in, "source"))),
    textRow("Goes to", both.map(row => flowNames(row.flows_out, "target"))),
    textRow("Copies", both.map(row => row.copies.join(", "))),
  ];
  return el("table", { class: "compare", role: "table" },
    el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, el("td", { role: "cell" }), both.map(row => el("th", { scope: "col", role: "columnheader" },
      link({ view: "form", document: row.document_id, field: fieldId({ part: row.part, key: row.key }) },
        `${formName(row.form)}, ${row.revision}, ${keyName(row.key).toLowerCase()}`))))),
    el("tbody", { role: "rowgroup" }, rows));
};

export const showCompare = async (view, params, { signal, navigate }) => {
  const [forms, known] = await Promise.all([getJson("v1/forms", signal), getDocuments()]);
  document.title = "Compare fields – taxkg";
  const several = forms.find(form => form.revisions.length > 1 && form.keys[0]?.startsWith("box_"))
    ?? forms.find(form => form.revisions.length > 1) ?? forms[0];
  if (!several) {
    fill(view, el("h1", { tabindex: -1 }, "Compare two fields"), el("p", {}, "No form of this library has fields that could be read."));
    return;
  }
  const documents = { left: params.left ?? several.revisions.at(1)?.document ?? several.revisions[0].document, right: params.right ?? several.revisions[0].document };
  const fields = Object.fromEntries(await Promise.all(SIDES.map(async name => [name, await readFields(documents[name], signal)])));
  const shared = fields.left.find(([id, field]) => field.label && fields.right.some(([other]) => other === id))?.[0];
  // A document next to itself, as where a form has one revision: two of its fields, not one twice.
  const other = documents.left === documents.right ? fields.right.find(([id]) => id !== (params.leftField ?? shared))?.[0] : undefined;
  const [left, right] = await Promise.all(SIDES.map(async name => {
    const wanted = params[`${name}Field`] ?? (name === "right" ? other : undefined) ?? params.leftField ?? params.rightField ?? shared;
    return { name, ...await readSide({ documentId: documents[name], fields: fields[name], wanted }, known, signal) };
  }));
  const now = { view: "compare", left: left.document, leftField: left.chosen, right: right.document, rightField: right.chosen };
  const go = changes => navigate({ ...now, ...changes });
  fill(view,
    el("h1", { tabindex: -1 }, "Compare two fields"),
    el("p", {}, "Two years of one field, or fields of two forms. Words that only one side has are marked."),
    el("div", { class: "pair choosers" }, chooser(left, "Left", forms, go), chooser(right, "Right", forms, go)),
    left.row && right.row
      ? el("div", { class: "card scroll", tabindex: 0, role: "region", "aria-label": "Comparison" }, table(left, right))
      : el("p", { class: "card" }, "One of these fields has no number that the library could read."));
  if (left.row && right.row) document.title = `${keyName(left.row.key)} of ${left.row.form} ${left.row.revision} and ${keyName(right.row.key)} of ${right.row.form} ${right.row.revision} – taxkg`;
};
