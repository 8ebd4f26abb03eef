// One document: its outline, its index, the text and tables of a page next to the page's picture.
import { documentPath, getDocuments, getJson } from "./api.js";
import { el, fill, isNarrow, link, plural, readBoxes, revisionName, words } from "./dom.js";
import { createPageViewer } from "./page_viewer.js";
import { cellTable, textBlock } from "./text.js";

const pageText = (content, mark) => [
  content.paragraphs.map((own, place) => el("div", { class: "paragraph" },
    own.heading_path !== content.paragraphs[place - 1]?.heading_path && el("p", { class: "path" }, own.heading_path.split(" > ").slice(1).join(" › ")),
    el("div", { class: "text" }, textBlock(own.text)),
    el("button", { type: "button", class: "cite", onclick: () => mark(own.bboxes) }, "Show on page"))),
  content.tables.map(table => cellTable(table, cell => mark([cell.bbox]))),
];

const outlineOf = (found, page) => {
  if (!found.outline.length) return el("p", { class: "soft" }, "No headings were found.");
  const current = found.outline.find(heading => heading.page === page) ?? found.outline.findLast(heading => heading.page < page);
  return el("ol", { class: "outline", tabindex: 0, "aria-label": "Outline" }, found.outline.map(heading => {
    const row = el("li", { "aria-current": heading === current ? "true" : null },
      link({ view: "document", document: found.document, page: heading.page }, heading.text),
      " ", el("span", { class: "page" }, `p. ${heading.page}`));
    row.style.setProperty("padding-left", `${(Math.min(heading.level, 6) - 1) * 1.1}rem`);
    return row;
  }));
};

const indexOf = (found, terms) => {
  const list = el("ul", { class: "outline", tabindex: 0, "aria-label": "Index terms" });
  const draw = text => {
    const wanted = text.toLowerCase();
    list.replaceChildren(...terms.filter(own => `${own.term} ${own.subterm}`.toLowerCase().includes(wanted)).map(own => el("li", {},
      own.term, own.subterm && el("span", { class: "soft" }, `, ${own.subterm}`), " ",
      own.places.flatMap((place, ix) => [ix ? ", " : "", place.page
        ? link({ view: "document", document: found.document, page: place.page, open: "index" }, place.label) : place.label]))));
  };
  draw("");
  return [el("label", {}, "Find a term", el("input", { type: "search", size: 24, autocomplete: "off", oninput: event => draw(event.target.value) })), list];
};

// A part that is read when it is opened first; the address keeps which one is open.
const lazyPart = ({ name, title, isOpen, load, onToggle, signal }) => {
  const body = el("div");
  const part = el("details", { class: "card" }, el("summary", {}, title), body);
  const read = async () => {
    if (body.childElementCount) return;
    fill(body, el("p", { class: "soft" }, "Loading …"));
    try {
      fill(body, ...(await load(signal)).flat());
    } catch (error) {
      if (error.name !== "AbortError") fill(body, el("p", { class: "soft", role: "alert" }, error.message));
    }
  };
  part.open = isOpen;
  if (isOpen) read();
  part.addEventListener("toggle", () => {
    if (part.open) read();
    onToggle(name, part.open);
  });
  return part;
};

const factsOf = (found, known) => {
  const others = found.revisions.filter(name => name !== found.document);
  const nameOf = name => revisionName(known.get(name) ?? { document: name });
  const older = found.revisions[found.revisions.indexOf(found.document) + 1];
  return [
    el("p", { class: "where" },
      el("span", { class: "badge" }, words(found.doc_type)),
      found.revision && el("span", { class: "badge" }, `revision ${found.revision}`),
      found.is_draft && el("span", { class: "badge flag" }, "draft"),
      found.tax_year && el("span", { class: "badge" }, `tax year ${found.tax_year}`),
      el("span", {}, plural(found.pages, "page"))),
    el("p", { class: "actions" },
      found.doc_type === "form" && link({ view: "form", document: found.document }, "Fields of this form"),
      older && link({ view: "changes", name: found.product, older, newer: found.document }, `Changes since ${nameOf(older)}`),
      found.pdf_url && el("a", { href: found.pdf_url, rel: "noreferrer", target: "_blank" }, "Official PDF ↗"),
      found.page_url && el("a", { href: found.page_url, rel: "noreferrer", target: "_blank" }, "Official page ↗")),
    found.quality.map(flag => el("p", { class: "flagged" }, el("b", {}, `⚑ Quality check failed: ${words(flag.law)}. `), `${flag.message} ${flag.remedy}`)),
    others.length > 0 && el("p", { class: "note chips" }, "Other revisions: ", others.map(name => link({ view: "document", document: name }, nameOf(name)))),
  ];
};

export const showDocument = async (view, params, { signal, navigate, replace }) => {
  const [found, known] = await Promise.all([getJson(documentPath(params.document), signal), getDocuments()]);
  const page = Math.min(Math.max(1, Number(params.page) || 1), found.pages);
  const here = { view: "document", document: found.document, page };
  const viewer = createPageViewer({
    document: found.document, page, signal, exact: readBoxes(params.box, page),
    onPage: next => navigate({ ...here, page: next, open: params.open }),
  });
  const mark = boxes => {
    viewer.mark(boxes);
    if (isNarrow()) viewer.scrollIntoView({ block: "start" });
  };
  const onToggle = (name, isOpen) => {
    if (!signal.aborted) replace({ ...here, box: params.box, open: isOpen ? name : "" });
  };
  const part = (name, title, load) => lazyPart({ name, title, isOpen: params.open === name, load, onToggle, signal });
  const index = part("index", "Index terms", async own => {
    const terms = await getJson(`${documentPath(found.document)}/index`, own);
    return terms.length ? indexOf(found, terms) : [el("p", { class: "soft" }, "This document prints no index with links.")];
  });
  fill(view, el("div", { class: `split${params.box || params.page ? " page-first" : ""}` },
    el("div", {},
      el("h1", { tabindex: -1 }, found.title || found.document),
      factsOf(found, known),
      el("form", {
        class: "actions within",
        onsubmit: event => {
          event.preventDefault();
          navigate({ q: event.target.elements.question.value, document: found.document });
        },
      },
      el("label", {}, "Ask this document", el("input", { name: "question", required: true, maxlength: 2000, size: 28 })),
      el("button", { type: "submit", class: "quiet" }, "Ask")),
      part("text", `Text and tables of page ${page}`, async own => pageText(await getJson(documentPath(found.document, page), own), mark).flat()),
      index,
      el("section", { class: "card" }, el("h2", {}, "Outline"), outlineOf(found, page))),
    el("div", { class: "side" }, viewer)));
  for (const heading of view.querySelectorAll(".outline [aria-current]")) {
    heading.parentNode.scrollTop = heading.offsetTop - heading.parentNode.offsetTop - heading.parentNode.clientHeight / 3;
  }
  document.title = `${found.title || found.document} – taxkg`;
};
