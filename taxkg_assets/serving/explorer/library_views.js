// The start page and the list of documents.
import { getDocuments, getLibrary } from "./api.js";
import { el, fill, link, plural, revisionName, words } from "./dom.js";

const ROWS_SHOWN = 100;

export const showStart = async view => {
  const library = await getLibrary();
  fill(view,
    el("h1", { tabindex: -1 }, "Ask tax forms and their instructions"),
    el("p", {}, "Answers are quoted from the documents below, with the form, the revision and the place on the page. " +
      "Where the documents do not answer a question, taxkg says so. It gives no tax advice."),
    el("h2", {}, "Try"),
    el("ul", { class: "examples" }, library.examples.map(question =>
      el("li", {}, el("a", { class: "button quiet small", href: `?${new URLSearchParams({ q: question })}`, "data-route": true }, question)))),
    el("h2", {}, "What is here"),
    el("div", { class: "tiles start" },
      el("section", { class: "card" }, el("h3", {}, link({ view: "documents" }, plural(library.documents, "document"))),
        el("p", { class: "soft" }, `${plural(library.pages, "page")}; ${library.products} forms, instructions and publications, all revisions counted once. `,
          library.flagged > 0 && link({ view: "documents", filter: "flagged" }, `${library.flagged} failed a check when read.`))),
      el("section", { class: "card" }, el("h3", {}, link({ view: "forms" }, plural(library.fillable, "form"))),
        el("p", { class: "soft" }, "Click a field on the form to see its label, how it is figured, and what the instructions say.")),
      el("section", { class: "card" }, el("h3", {}, link({ view: "changes" }, "Changes between revisions")),
        el("p", { class: "soft" }, "Boxes and wording that differ from one revision to the next, word by word.")),
      el("section", { class: "card" }, el("h3", {}, link({ view: "trace" }, "Trace an amount")),
        el("p", { class: "soft" }, "Where the amount of a box or line comes from and where it goes, each step with its evidence.")),
      el("section", { class: "card" }, el("h3", {}, link({ view: "compare" }, "Compare two fields")),
        el("p", { class: "soft" }, "Two years of one box, or boxes of two forms, next to each other.")),
      el("section", { class: "card" }, el("h3", {}, link({ view: "verify" }, "Check a draft")),
        el("p", { class: "soft" }, "Each statement and quotation of a memo or an answer, checked against the documents."))));
  document.title = "taxkg";
};

const documentRow = row => el("tr", {},
  el("td", {}, link({ view: "document", document: row.document }, row.title || row.document),
    row.is_draft && [" ", el("span", { class: "badge flag" }, "draft")]),
  el("td", {}, row.form), el("td", {}, row.revision && revisionName({ ...row, is_draft: false })), el("td", {}, words(row.doc_type)), el("td", {}, `${row.pages}`),
  el("td", {}, row.flags ? el("span", { class: "badge flag" }, `⚑ ${row.flags}`) : ""));

export const showDocuments = async (view, params, { replace }) => {
  const documents = [...(await getDocuments()).values()];
  const body = el("tbody");
  const count = el("p", { class: "note", role: "status" });
  let shown = [];
  const more = el("button", { type: "button", class: "quiet", hidden: true, onclick: () => showRows(shown.length) });
  const showRows = most => {
    body.replaceChildren(...shown.slice(0, most).map(documentRow));
    more.hidden = shown.length <= most;
    more.textContent = `Show all ${shown.length}`;
  };
  const filter = text => {
    const parts = text.toLowerCase().split(/\s+/).filter(Boolean);
    shown = documents.filter(row => {
      const all = `${row.document} ${row.title} ${row.form} ${row.revision} ${row.tax_year ?? ""} ${words(row.doc_type)}${row.is_draft ? " draft" : ""}${row.flags ? " flagged" : ""}`.toLowerCase();
      return parts.every(part => all.includes(part));
    });
    showRows(ROWS_SHOWN);
    count.textContent = `${shown.length} of ${documents.length} documents`;
  };
  const field = el("input", {
    type: "search", value: params.filter ?? "", size: 30, autocomplete: "off", placeholder: "Title, form or year",
    oninput: event => { filter(event.target.value); replace({ view: "documents", filter: event.target.value }); },
  });
  fill(view,
    el("h1", { tabindex: -1 }, "Documents"),
    el("label", {}, "Filter", field), count,
    el("div", { class: "card scroll", tabindex: 0, role: "region", "aria-label": "Documents" }, el("table", { class: "list documents" },
      el("thead", {}, el("tr", {}, ["Title", "Form", "Revision", "Kind", "Pages", "Flags"].map(name => el("th", { scope: "col" }, name)))), body)),
    el("p", { class: "actions" }, more));
  filter(params.filter ?? "");
  document.title = "Documents – taxkg";
};
