// The start page, the list of documents, and one document with its outline and pages.
import { documentPath, getDocuments, getJson } from "./api.js";
import { el, fill, link, plural, words } from "./dom.js";
import { createPageViewer } from "./page_viewer.js";
import { cellTable, textBlock } from "./text.js";

const EXAMPLES_SHOWN = 5;

const formName = form => /^(Schedule|Form|Pub)/.test(form) ? form : `Form ${form}`;

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
      el("section", { class: "card" }, el("h3", {}, flagged ? `${plural(flagged, "document")} with a flag` : "No document has a flag"),
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
      const all = `${row.document} ${row.title} ${row.form} ${row.revision} ${row.tax_year ?? ""}`.toLowerCase();
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

const pageText = content => [
  content.paragraphs.map(own => el("div", {},
    el("p", { class: "path" }, own.heading_path.split(" > ").slice(1).join(" › ")), el("div", { class: "text" }, textBlock(own.text)))),
  content.tables.map(cellTable),
];

export const showDocument = async (view, params, { signal, navigate }) => {
  const found = await getJson(documentPath(params.document), signal);
  const page = Math.min(Math.max(1, Number(params.page) || 1), found.pages);
  const others = found.revisions.filter(name => name !== found.document);
  const text = el("details", { class: "card" }, el("summary", {}, `Text of page ${page}`));
  text.addEventListener("toggle", async () => {
    if (!text.open || text.childElementCount > 1) return;
    text.append(...pageText(await getJson(documentPath(found.document, page), signal)).flat());
  });
  const viewer = createPageViewer({
    document: found.document, page, signal,
    onPage: next => navigate({ view: "document", document: found.document, page: next }),
  });
  fill(view, el("div", { class: "split" },
    el("div", {},
      el("h1", { tabindex: -1 }, found.title || found.document),
      el("p", { class: "where" },
        el("span", { class: "badge" }, words(found.doc_type)),
        found.revision && el("span", { class: "badge" }, `revision ${found.revision}`),
        found.tax_year && el("span", { class: "badge" }, `tax year ${found.tax_year}`),
        el("span", {}, plural(found.pages, "page")),
        found.pdf_url && el("a", { href: found.pdf_url, rel: "noreferrer", target: "_blank" }, "Official PDF ↗"),
        found.page_url && el("a", { href: found.page_url, rel: "noreferrer", target: "_blank" }, "Official page ↗"),
        found.doc_type === "form" && link({ view: "form", document: found.document }, "Fields of this form")),
      found.quality.map(flag => el("p", { class: "note" }, `⚑ ${flag.message} ${flag.remedy}`)),
      others.length > 0 && el("p", { class: "note" }, "Other revisions: ", others.flatMap((name, place) => [place ? ", " : "", link({ view: "document", document: name }, name)])),
      el("p", { class: "actions" }, el("form", {
        onsubmit: event => {
          event.preventDefault();
          navigate({ q: event.target.elements.asked.value, document: found.document });
        },
      }, el("label", {}, "Ask this document", el("input", { name: "asked", required: true, maxlength: 2000, size: 28 })))),
      el("section", { class: "card" }, el("h2", {}, "Outline"), outlineOf(found)),
      text),
    el("div", { class: "side" }, viewer)));
  document.title = `${found.title || found.document} – taxkg`;
};

const outlineOf = found => {
  if (!found.outline.length) return el("p", { class: "soft" }, "No headings were found.");
  return el("ol", { class: "outline", tabindex: 0, "aria-label": "Outline" }, found.outline.map(heading => {
    const row = el("li", {},
      link({ view: "document", document: found.document, page: heading.page }, heading.text),
      " ", el("span", { class: "page" }, `p. ${heading.page}`));
    row.style.setProperty("padding-left", `${(Math.min(heading.level, 6) - 1) * 1.1}rem`);
    return row;
  }));
};
