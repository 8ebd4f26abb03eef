// What changed between two revisions of a product, word by word.
import { getDocuments, getJson } from "./api.js";
import { el, fill, keyName, link, plural, words } from "./dom.js";

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

const changeCard = row => el("article", { class: "card" },
  el("div", { class: "where" },
    el("b", {}, row.key ? keyName(row.key) : words(row.kind)),
    el("span", { class: "badge" }, words(row.kind)), el("span", { class: "badge" }, words(row.nature)),
    row.from_key && el("span", {}, `was ${keyName(row.from_key)}`)),
  el("p", { class: "path" }, row.heading_path.replaceAll(" > ", " › ")),
  row.before && el("p", { class: "text" }, el("span", { class: "note" }, `${row.from_revision}: `), marked(row.before, row.words.map(own => [own.before_start, own.before_end]), "del")),
  row.after && el("p", { class: "text" }, el("span", { class: "note" }, `${row.to_revision}: `), marked(row.after, row.words.map(own => [own.after_start, own.after_end]), "ins")),
  el("p", { class: "actions" },
    row.before_places[0] && link({ view: "document", document: row.from_document_id, page: row.before_places[0].page }, `${row.from_document_id}, page ${row.before_places[0].page}`),
    row.after_places[0] && link({ view: "document", document: row.to_document_id, page: row.after_places[0].page }, `${row.to_document_id}, page ${row.after_places[0].page}`)));

const productsOf = documents => {
  const products = new Map();
  for (const row of documents) if (row.product) products.set(row.product, [...(products.get(row.product) ?? []), row]);
  return [...products].filter(([, rows]) => rows.length > 1).sort(([one], [other]) => one.localeCompare(other));
};

export const showChanges = async (view, params, { signal, navigate }) => {
  const products = productsOf([...(await getDocuments()).values()]);
  document.title = "Changes – taxkg";
  if (!products.length) {
    fill(view, el("h1", { tabindex: -1 }, "Changes between revisions"), el("p", {}, "This library holds one revision of each document, so there is nothing to compare."));
    return;
  }
  const [product, rows] = products.find(([name]) => name === params.name) ?? products[0];
  const option = (row, selected) => el("option", { value: row.document, selected }, `${row.revision || row.document}${row.is_draft ? " (draft)" : ""}`);
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
      el("label", { class: "inline" }, el("input", { type: "checkbox", checked: params.routine === "1", onchange: event => go({ routine: event.target.checked ? "1" : "" }) }), "Routine changes too")),
    results);
  const query = new URLSearchParams({ name: product, older, newer, routine: params.routine === "1" });
  const found = await getJson(`v1/diff?${query}`, signal);
  fill(results,
    el("p", { class: "note", role: "status" }, found.length ? plural(found.length, "change") : "No change that anybody has to act on."), ...found.map(changeCard));
};
