// Forms with their revisions, and one form whose fields can be clicked.
import { ApiError, getDocuments, getJson, postJson } from "./api.js";
import { el, fieldId, fill, formName, isNarrow, keyName, link, placeLink, plural, revisionName, words } from "./dom.js";
import { lineDetail } from "./line_card.js";
import { createPageViewer } from "./page_viewer.js";
import { textBlock } from "./text.js";

const SEARCHED = 20;
const SHOWN = 3;

export const showForms = async (view, params, { signal, replace }) => {
  const forms = await getJson("v1/forms", signal);
  const tiles = el("div", { class: "tiles" });
  const count = el("p", { class: "note", role: "status" });
  const filter = text => {
    const parts = text.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = forms.filter(form => parts.every(part => `${formName(form.form)} ${form.revisions[0].title}`.toLowerCase().includes(part)));
    tiles.replaceChildren(...shown.map(formTile));
    count.textContent = `${shown.length} of ${plural(forms.length, "form")}`;
  };
  fill(view,
    el("h1", { tabindex: -1 }, "Forms"),
    el("p", {}, "Choose a revision. Every field on it can be clicked: its label, what the instructions say, how it is figured, where the amount comes from and goes."),
    forms.length ? null : el("p", {}, "No form of this library has fields that could be read."),
    el("label", {}, "Filter", el("input", {
      type: "search", value: params.filter ?? "", size: 30, autocomplete: "off", placeholder: "Number or title",
      oninput: event => { filter(event.target.value); replace({ view: "forms", filter: event.target.value }); },
    })), count, tiles);
  filter(params.filter ?? "");
  document.title = "Forms – taxkg";
};

const formTile = form => el("section", { class: "card" },
  el("h2", {}, link({ view: "form", document: form.revisions[0].document }, form.form)),
  el("p", { class: "soft" }, form.revisions[0].title.split(" — ")[1] ?? ""),
  el("p", { class: "chips" }, form.revisions.map(own =>
    link({ view: "form", document: own.document }, revisionName(own)))));

// The same number printed in several columns, rows or copies is one entry of the list.
const entriesOf = fields => {
  const entries = new Map();
  for (const field of fields) {
    const id = field.key ? fieldId(field) : field.name;
    if (!entries.has(id)) entries.set(id, { id, ...field, places: [] });
    entries.get(id).places.push(field);
  }
  return [...entries.values()];
};

// An address may name a field with its part and column or without.
const findEntry = (entries, id) => entries.find(entry => entry.id === id)
  ?? entries.find(entry => id && entry.key && entry.id.startsWith(id.endsWith("|") ? id : `${id}|`))
  ?? entries.find(entry => id?.startsWith("|") && entry.key && entry.key === id.split("|")[1]);

// A section often repeats its part: "Part I Investment Income".
const placeOf = field => {
  if (!field.part) return field.section;
  const own = field.section.startsWith(`Part ${field.part} `) ? field.section.slice(`Part ${field.part} `.length) : field.section;
  return own.startsWith("Part ") ? own : [`Part ${field.part}`, own].filter(Boolean).join(" – ");
};

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

// Passages for a field that no instruction names by its number.
const nearestPassages = async (entry, form, signal) => {
  const question = `${keyName(entry.key)} ${entry.label}`.trim();
  if (!question) return [el("p", { class: "soft" }, "This field has no number and no label.")];
  const found = await postJson("v1/search", { question, form, k: SEARCHED }, signal);
  const others = found.filter(row => row.doc_type !== "form");
  const own = others.filter(row => row.anchor_key === entry.key);
  const shown = (own.length ? own : others).slice(0, SHOWN);
  if (!shown.length) return [el("p", { class: "soft" }, "No instructions in this library mention this field.")];
  return [el("h3", {}, own.length ? "What the documents say" : "Nearest passages"), shown.map(row => el("div", {},
    el("p", { class: "path" }, row.heading_path.replaceAll(" > ", " › ")),
    el("div", { class: "text clamped" }, textBlock(row.text)),
    placeLink({ document: row.document, page: row.page, boxes: row.bboxes }, `${row.document}, page ${row.page}`)))];
};

const fact = (name, value) => value ? [el("dt", {}, name), el("dd", {}, value)] : [];

// Facts of the form's own file: of a field without a number they are all that there is.
const fileFacts = entry => el("dl", {},
  fact("Section", !entry.key && placeOf(entry)), fact("Row", entry.row), fact("Formula", !entry.key && entry.formula),
  fact("Spoken text", entry.spoken), fact("Kind", entry.kind), fact("Name in the file", entry.name));

const explain = async (target, entry, found, signal) => {
  fill(target, el("p", { class: "soft" }, "Looking up what the documents say …"));
  try {
    const detail = entry.key ? await lineDetail({ form: found.form, document: found.document, part: entry.part, key: entry.key, signal }) : null;
    const more = detail?.hasTexts ? [] : await nearestPassages(entry, found.form, signal);
    fill(target, detail?.parts ?? [], more, el("details", {}, el("summary", {}, "In the file"), fileFacts(entry)));
  } catch (error) {
    if (error.name !== "AbortError") fill(target, el("p", { class: "soft", role: "alert" }, error.message));
  }
};

const toolbar = (found, known, navigate, params) => {
  const revisions = el("select", {
    onchange: event => navigate({ view: "form", document: event.target.value, field: params.field }),
  }, found.revisions.map(name => el("option", { value: name, selected: name === found.document },
    revisionName(known.get(name) ?? { document: name }))));
  const older = found.revisions[found.revisions.indexOf(found.document) + 1];
  return el("p", { class: "actions" },
    found.revisions.length > 1 && el("label", { class: "inline" }, "Revision", revisions),
    link({ view: "document", document: found.document }, "Outline and pages"),
    older && link({ view: "changes", name: found.product, older, newer: found.document }, `Changes since ${revisionName(known.get(older) ?? { document: older })}`),
    found.pdf_url && el("a", { href: found.pdf_url, rel: "noreferrer", target: "_blank" }, "Official PDF ↗"));
};

// An address may name a form without a document: then its newest revision is meant.
const findNewest = async (form, signal) => {
  const forms = await getJson("v1/forms", signal);
  const found = forms.find(own => own.form.toLowerCase() === form?.trim().toLowerCase());
  if (found) return found.revisions[0].document;
  throw new ApiError(form ? `No form “${form}” with fields is in this library. Choose one under “Forms”.` : "The address names no form. Choose one under “Forms”.", 404);
};

export const showForm = async (view, requested, { signal, navigate, replace }) => {
  const params = requested.document ? requested : { ...requested, document: await findNewest(requested.form, signal) };
  const [fields, found, known] = await Promise.all([
    getJson(`v1/fields?${new URLSearchParams({ document: params.document })}`, signal),
    getJson(`v1/documents/${encodeURIComponent(params.document)}`, signal),
    getDocuments(),
  ]);
  const entries = entriesOf(fields);
  const detail = el("section", { class: "card detail", "aria-live": "polite", "aria-label": "Chosen field" });
  const side = el("div", { class: "side" });
  let page = 0;
  let selected = new Set();
  let lookup = new AbortController();
  signal.addEventListener("abort", () => lookup.abort());
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
  const select = (entry, { isFirst = false } = {}) => {
    lookup.abort();
    lookup = new AbortController();
    if (!isFirst) replace({ view: "form", document: params.document, field: entry.id });
    for (const button of view.querySelectorAll("[data-entry]")) button.setAttribute("aria-pressed", button.dataset.entry === entry.id);
    selected = new Set(entry.places.map(field => field.name));
    if (!entry.places.some(field => field.page === page)) drawPage(entry.page);
    for (const hit of side.querySelectorAll(".field-hit")) hit.setAttribute("aria-pressed", selected.has(hit.dataset.field));
    const body = el("div");
    fill(detail, el("h2", {}, [nameOf(entry), entry.label || entry.spoken].filter(Boolean).join(": ") || entry.name), body);
    if (isNarrow() && !isFirst) detail.scrollIntoView({ block: "nearest" });
    return explain(body, entry, found, lookup.signal);
  };
  fill(view,
    el("h1", { tabindex: -1 }, found.title),
    toolbar(found, known, navigate, params),
    el("div", { class: "split page-first wide-page" },
      el("div", {}, detail, el("section", { class: "card" }, el("h2", {}, plural(entries.length, "field")), fieldList(entries, select))),
      side));
  document.title = `${found.title} – fields – taxkg`;
  const named = findEntry(entries, params.field);
  const first = named ?? entries.find(entry => entry.key) ?? entries[0];
  if (!first) {
    fill(detail, el("p", {}, "No field of this form could be read."));
    drawPage(1);
    return;
  }
  if (params.field && !named) {
    const [part, key] = params.field.split("|");
    const name = key ? `${part ? `Part ${part}, ` : ""}${words(key)}` : `field ${params.field}`;
    detail.before(el("p", { class: "note", role: "status" }, `This revision has no ${name}. Choose a field on the page or in the list.`));
  }
  await select(first, { isFirst: true });
};
