// The start page and the list of documents.
import { getDocuments, getJson } from "./api.js";
import { el, fill, formName, link, plural, words } from "./dom.js";

const EXAMPLES_SHOWN = 5;

// Questions that this library can be asked, made from the forms and titles that it holds.
const examplesOf = (documents, forms) => {
  const found = [];
  for (const row of documents) {
    const topic = row.title.split(" — ")[1];
    if (row.doc_type.endsWith("instructions") && row.form && topic) found.push(`Who must file ${formName(row.form)}?`);
    else if (row.doc_type === "publication" && topic) found.push(`What does ${row.form} say about ${topic.charAt(0).toLowerCase()}${topic.slice(1)}?`);
  }
  for (const { form, keys } of forms) {
    for (const key of keys) found.push(`What goes ${key.startsWith("box_") ? "in" : "on"} ${words(key)} of ${formName(form)}?`);
  }
  const unique = [...new Set(found)];
  const step = Math.max(1, Math.floor(unique.length / EXAMPLES_SHOWN));
  return unique.filter((_, place) => place % step === 0).slice(0, EXAMPLES_SHOWN);
};

export const showStart = async (view, _params, { signal }) => {
  const [known, forms] = await Promise.all([getDocuments(), getJson("v1/forms", signal)]);
  const documents = [...known.values()];
  const products = new Set(documents.map(row => row.product || row.document));
  const pages = documents.reduce((sum, row) => sum + row.pages, 0);
  const flagged = documents.filter(row => row.flags).length;
  fill(view,
    el("h1", { tabindex: -1 }, "Ask tax forms and their instructions"),
    el("p", {}, "Answers are quoted from the documents below, with the form, the revision and the place on the page. " +
      "Where the documents do not answer, this page says so. It is not tax advice."),
    el("h2", {}, "Try"),
    el("ul", { class: "examples" }, examplesOf(documents, forms).map(question =>
      el("li", {}, el("a", { class: "button quiet small", href: `?${new URLSearchParams({ q: question })}`, "data-route": true }, question)))),
    el("h2", {}, "What is here"),
    el("div", { class: "tiles" },
      el("section", { class: "card" }, el("h3", {}, link({ view: "documents" }, plural(documents.length, "document"))),
        el("p", { class: "soft" }, `${products.size} forms, instructions and publications in all their revisions; ${plural(pages, "page")}.`)),
      el("section", { class: "card" }, el("h3", {}, link({ view: "forms" }, plural(forms.length, "form"))),
        el("p", { class: "soft" }, "Click a field on the form to see its label, how it is figured, and what the instructions say.")),
      el("section", { class: "card" }, el("h3", {}, link({ view: "changes" }, "Changes between revisions")),
        el("p", { class: "soft" }, "Boxes and wording that differ from one revision to the next, word by word.")),
      el("section", { class: "card" }, el("h3", {}, link({ view: "trace" }, "Trace an amount")),
        el("p", { class: "soft" }, "Where the amount of a box or line comes from and where it goes, each step with its evidence.")),
      el("section", { class: "card" }, el("h3", {}, link({ view: "compare" }, "Compare two fields")),
        el("p", { class: "soft" }, "Two years of one box, or boxes of two forms, next to each other.")),
      el("section", { class: "card" }, el("h3", {}, flagged ? link({ view: "documents", filter: "flagged" }, `${plural(flagged, "document")} with a flag`) : "No document has a flag"),
        el("p", { class: "soft" }, "Every document passes quality checks when it is read. What a check finds is shown next to each answer."))));
  document.title = "taxkg";
};

const documentRow = row => el("tr", {},
  el("td", {}, link({ view: "document", document: row.document }, row.title || row.document),
    row.is_draft && el("span", { class: "badge flag" }, "draft")),
  el("td", {}, row.form), el("td", {}, row.revision), el("td", {}, words(row.doc_type)), el("td", {}, `${row.pages}`),
  el("td", {}, row.flags ? el("span", { class: "badge flag" }, `⚑ ${row.flags}`) : ""));

export const showDocuments = async (view, params, { replace }) => {
  const documents = [...(await getDocuments()).values()];
  const body = el("tbody");
  const count = el("p", { class: "note", role: "status" });
  const filter = text => {
    const parts = text.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = documents.filter(row => {
      const all = `${row.document} ${row.title} ${row.form} ${row.revision} ${row.tax_year ?? ""} ${words(row.doc_type)}${row.is_draft ? " draft" : ""}${row.flags ? " flagged" : ""}`.toLowerCase();
      return parts.every(part => all.includes(part));
    });
    body.replaceChildren(...shown.map(documentRow));
    count.textContent = `${shown.length} of ${documents.length} documents`;
  };
  const field = el("input", {
    type: "search", value: params.filter ?? "", size: 30, autocomplete: "off", placeholder: "Title, form or year",
    oninput: event => { filter(event.target.value); replace({ view: "documents", filter: event.target.value }); },
  });
  fill(view,
    el("h1", { tabindex: -1 }, "Documents"),
    el("label", {}, "Filter", field), count,
    el("div", { class: "card scroll", tabindex: 0, role: "region", "aria-label": "Documents" }, el("table", { class: "list" },
      el("thead", {}, el("tr", {}, ["Title", "Form", "Revision", "Kind", "Pages", "Flags"].map(name => el("th", { scope: "col" }, name)))), body)));
  filter(params.filter ?? "");
  document.title = "Documents – taxkg";
};
