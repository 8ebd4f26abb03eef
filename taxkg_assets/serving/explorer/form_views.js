// Forms with their revisions, and one form whose fields can be clicked.
import { getJson, postJson } from "./api.js";
import { el, fill, isNarrow, keyName, link, plural } from "./dom.js";
import { createPageViewer } from "./page_viewer.js";
import { textBlock } from "./text.js";

const SEARCHED = 20;
const SHOWN = 3;

export const showForms = async (view, _params, { signal }) => {
  const forms = await getJson("v1/forms", signal);
  fill(view,
    el("h1", { tabindex: -1 }, "Forms"),
    forms.length ? null : el("p", {}, "No form of this library has fields that could be read."),
    el("div", { class: "tiles" }, forms.map(form => el("section", { class: "card" },
      el("h2", {}, form.form),
      el("p", { class: "soft" }, form.revisions[0].title.split(" — ")[1] ?? ""),
      el("p", {}, form.revisions.flatMap((own, place) => [
        place ? ", " : "", link({ view: "form", document: own.document }, own.revision || own.document), own.is_draft && " (draft)",
      ]))))));
  document.title = "Forms – taxkg";
};

// The same number printed in several columns, rows or copies is one entry of the list.
const entriesOf = fields => {
  const entries = new Map();
  for (const field of fields) {
    const id = field.key ? `${field.part}|${field.key}|${field.column}` : field.name;
    if (!entries.has(id)) entries.set(id, { id, ...field, places: [] });
    entries.get(id).places.push(field);
  }
  return [...entries.values()];
};

// A section often repeats its part: "Part I Investment Income".
const placeOf = field => field.section.startsWith("Part ") || !field.part
  ? field.section : [`Part ${field.part}`, field.section].filter(Boolean).join(" – ");

const nameOf = field => [field.key ? keyName(field.key) : "", field.column && `(${field.column})`].filter(Boolean).join(" ");

const fieldList = (entries, onField) => {
  const items = [];
  let before = null;
  for (const entry of entries) {
    const heading = placeOf(entry);
    if (heading !== before && heading) items.push(el("li", { class: "part" }, heading));
    before = heading;
    const button = el("button", { type: "button", onclick: () => onField(entry) }, nameOf(entry) && el("b", {}, nameOf(entry)), entry.label || entry.spoken || entry.name);
    button.dataset.entry = entry.id;
    items.push(el("li", {}, button));
  }
  return el("ul", { class: "fields", tabindex: 0, "aria-label": "Fields" }, items);
};

const explanation = async (entry, form, signal) => {
  if (entry.key.startsWith("box_")) {
    const rows = await getJson(`v1/boxes?${new URLSearchParams({ form, key: entry.key })}`, signal).catch(error => {
      if (error.name === "AbortError") throw error;
      return [];
    });
    const passages = rows.flatMap(row => row.document_id === entry.document ? row.passages : []);
    const byReader = groupBy(passages, own => own.perspective);
    if (passages.length) {
      return [...byReader].map(([reader, own]) => el("section", {}, el("h3", {}, readerName(reader)), own.map(passage =>
        el("div", { class: "text" }, textBlock(passage.text), " ",
          link({ view: "document", document: passage.document_id, page: passage.page }, `${passage.document_id}, page ${passage.page}`)))));
    }
  }
  const question = `${keyName(entry.key)} ${entry.label}`.trim();
  if (!question) return [el("p", { class: "soft" }, "This field has no number and no label.")];
  const found = await postJson("v1/search", { question, form, k: SEARCHED }, signal);
  const others = found.filter(row => row.doc_type !== "form");
  const own = others.filter(row => row.anchor_key === entry.key);
  const shown = (own.length ? own : others).slice(0, SHOWN);
  if (!shown.length) return [el("p", { class: "soft" }, "No instructions in this library speak of this field.")];
  return [el("h3", {}, own.length ? "What the documents say" : "Nearest passages"), shown.map(row => el("div", {},
    el("p", { class: "path" }, row.heading_path.replaceAll(" > ", " › ")),
    el("div", { class: "text" }, textBlock(row.text)),
    link({ view: "document", document: row.document, page: row.page }, `${row.document}, page ${row.page}`)))];
};

const groupBy = (rows, keyOf) => {
  const groups = new Map();
  for (const row of rows) groups.set(keyOf(row), [...(groups.get(keyOf(row)) ?? []), row]);
  return groups;
};

const readerName = reader => ({ filer: "For the filer", recipient: "For the recipient" })[reader] ?? "In other documents";

const fact = (name, value) => value ? [el("dt", {}, name), el("dd", {}, value)] : [];

export const showForm = async (view, params, { signal, navigate, replace }) => {
  const [fields, found] = await Promise.all([
    getJson(`v1/fields?${new URLSearchParams({ document: params.document })}`, signal),
    getJson(`v1/documents/${encodeURIComponent(params.document)}`, signal),
  ]);
  const entries = entriesOf(fields);
  const detail = el("section", { class: "card", "aria-live": "polite" });
  const side = el("div", { class: "side" });
  let page = 0;
  let selected = new Set();
  const drawPage = number => {
    page = number;
    side.replaceChildren(createPageViewer({
      document: params.document, page, signal,
      fields: fields.filter(field => field.page === page),
      isSelected: field => selected.has(field.name),
      onField: field => select(entries.find(entry => entry.places.includes(field))),
      onPage: drawPage,
    }));
  };
  const select = async (entry, { isFirst = false } = {}) => {
    if (!isFirst) replace({ view: "form", document: params.document, field: entry.id });
    for (const button of view.querySelectorAll("[data-entry]")) button.setAttribute("aria-pressed", button.dataset.entry === entry.id);
    selected = new Set(entry.places.map(field => field.name));
    if (!entry.places.some(field => field.page === page)) drawPage(entry.page);
    for (const hit of side.querySelectorAll(".field-hit")) hit.setAttribute("aria-pressed", selected.has(hit.dataset.field));
    const told = el("div", {}, el("p", { class: "soft" }, "Looking up what the documents say …"));
    fill(detail,
      el("h2", {}, [nameOf(entry), entry.label || entry.spoken].filter(Boolean).join(": ") || entry.name),
      el("dl", {}, fact("Section", placeOf(entry)), fact("How it is figured", entry.formula),
        fact("Spoken text", entry.spoken), fact("Kind", entry.kind), fact("Field name in the file", entry.name)),
      told);
    if (isNarrow() && !isFirst) detail.scrollIntoView({ block: "nearest" });
    try {
      fill(told, await explanation(entry, found.form, signal));
    } catch (error) {
      if (error.name !== "AbortError") fill(told, el("p", { class: "soft" }, error.message));
    }
  };
  const revisions = el("select", {
    "aria-label": "Revision",
    onchange: event => navigate({ view: "form", document: event.target.value, field: params.field }),
  }, found.revisions.map(name => el("option", { value: name, selected: name === found.document }, name)));
  fill(view,
    el("h1", { tabindex: -1 }, found.title),
    el("p", { class: "actions" },
      found.revisions.length > 1 && el("label", { class: "inline" }, "Revision", revisions),
      link({ view: "document", document: found.document }, "Outline and pages")),
    el("div", { class: "split page-first" },
      el("div", {}, detail, el("section", { class: "card" }, el("h2", {}, plural(entries.length, "field")), fieldList(entries, select))),
      side));
  document.title = `${found.title} – fields – taxkg`;
  const first = entries.find(entry => entry.id === params.field) ?? entries.find(entry => entry.key) ?? entries[0];
  if (!first) {
    fill(detail, el("p", {}, "No field of this form could be read."));
    drawPage(1);
    return;
  }
  await select(first, { isFirst: true });
};
