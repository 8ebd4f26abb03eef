// What changed between two revisions of a document, side by side, word by word.
import { ApiError, getDocuments, getJson } from "./api.js";
import { el, fill, keyName, link, placeLink, plural, revisionName, words } from "./dom.js";

const marked = (text, ranges, tag) => {
  const parts = [];
  let place = 0;
  for (const [start, end] of ranges) {
    if (end <= start) continue;
    parts.push(text.slice(place, start), el(tag, {}, text.slice(start, end)));
    place = end;
  }
  parts.push(text.slice(place));
  return parts;
};

const sideOf = ({ revision, document, text, ranges, places, tag }) => el("div", {},
  el("p", { class: "note" }, `${revision} `,
    places[0] && placeLink({ document, page: places[0].page, boxes: places }, `page ${places[0].page}`)),
  text ? el("p", { class: "text" }, marked(text, ranges, tag)) : el("p", { class: "soft" }, places[0] ? "no words" : tag === "del" ? "not there" : "no longer there"));

const changeCard = row => el("article", { class: "card" },
  el("div", { class: "where" },
    el("b", {}, row.key ? keyName(row.key) : row.heading_path.split(" > ").at(-1) || "Text without a heading"),
    el("span", { class: "badge" }, words(row.kind)), el("span", { class: "badge" }, words(row.nature)),
    row.previous_key && el("span", {}, `was ${keyName(row.previous_key)}`)),
  el("p", { class: "path" }, row.heading_path.replaceAll(" > ", " › ")),
  el("div", { class: "pair" },
    sideOf({ revision: row.from_revision, document: row.from_document_id, text: row.before, places: row.before_places, tag: "del", ranges: row.words.map(own => [own.before_start, own.before_end]) }),
    sideOf({ revision: row.to_revision, document: row.to_document_id, text: row.after, places: row.after_places, tag: "ins", ranges: row.words.map(own => [own.after_start, own.after_end]) })));

const productsOf = documents => {
  const products = new Map();
  for (const row of documents) if (row.product) products.set(row.product, [...(products.get(row.product) ?? []), row]);
  return [...products].filter(([, rows]) => rows.length > 1).sort(([one], [other]) => one.localeCompare(other));
};

const PAGE = 40;

// Long comparisons are drawn in portions: a booklet can have a thousand changes. Rows come sorted by group.
const showPortion = (target, rows) => {
  const shown = target.querySelectorAll("article").length;
  for (const [place, row] of rows.slice(shown, shown + PAGE).entries()) {
    if (row.group !== rows[shown + place - 1]?.group) {
      target.append(el("h2", { class: "group" }, `${row.group} (${rows.filter(own => own.group === row.group).length})`));
    }
    target.append(changeCard(row));
  }
  return rows.length - shown - PAGE;
};

export const showChanges = async (view, params, { signal, navigate }) => {
  const products = productsOf([...(await getDocuments()).values()]);
  document.title = "Changes – taxkg";
  if (!products.length) {
    fill(view, el("h1", { tabindex: -1 }, "Changes between revisions"), el("p", {}, "This library contains one revision of each document, so there is nothing to compare."));
    return;
  }
  if (params.name && !products.some(([name]) => name === params.name)) {
    throw new ApiError(`The library has no two revisions of “${params.name}”, so there is nothing to compare.`, 404);
  }
  const [product, rows] = products.find(([name]) => name === params.name) ?? products[0];
  const option = (row, selected) => el("option", { value: row.document, selected }, revisionName(row));
  const older = params.older ?? rows[1].document, newer = params.newer ?? rows[0].document;
  const go = changes => navigate({ view: "changes", name: product, older, newer, routine: params.routine, ...changes });
  const results = el("div", {}, el("p", { class: "soft" }, "Comparing …"));
  fill(view,
    el("h1", { tabindex: -1 }, "Changes between revisions"),
    el("p", { class: "actions" },
      el("label", {}, "Document", el("select", { onchange: event => navigate({ view: "changes", name: event.target.value }) },
        products.map(([name, own]) => el("option", { value: name, selected: name === product }, `${own[0].form || name} (${name})`)))),
      el("label", {}, "From", el("select", { onchange: event => go({ older: event.target.value }) }, rows.map(row => option(row, row.document === older)))),
      el("label", {}, "To", el("select", { onchange: event => go({ newer: event.target.value }) }, rows.map(row => option(row, row.document === newer)))),
      el("label", { class: "inline" }, el("input", { type: "checkbox", checked: params.routine === "1", onchange: event => go({ routine: event.target.checked ? "1" : "" }) }), "Routine changes too"),
      rows[0].doc_type === "form" && link({ view: "compare", left: older, right: newer }, "Compare one field")),
    results);
  const query = new URLSearchParams({ name: product, older, newer, routine: params.routine === "1" });
  const found = await getJson(`v1/diff?${query}`, signal);
  const list = el("div");
  const left = showPortion(list, found);
  const more = el("button", { type: "button", class: "quiet", hidden: left <= 0 }, `Show ${PAGE} more`);
  more.addEventListener("click", () => { more.hidden = showPortion(list, found) <= 0; });
  fill(results,
    el("p", { class: "note", role: "status" }, found.length ? plural(found.length, "change") : "No change that needs any action."), list, more);
};
