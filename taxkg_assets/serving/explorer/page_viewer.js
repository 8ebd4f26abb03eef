// The picture of a page with marked rectangles or clickable fields.
import { documentPath, getDocuments, getPagePicture } from "./api.js";
import { el, link } from "./dom.js";

const ZOOMS = [1, 1.5, 2, 3];

const place = (box, size) => [
  `left:${(100 * box.x0) / size.width}%`,
  `top:${(100 * box.y0) / size.height}%`,
  `width:${(100 * (box.x1 - box.x0)) / size.width}%`,
  `height:${(100 * (box.y1 - box.y0)) / size.height}%`,
];

// A style attribute would break the content security policy; a property does not.
const positioned = (element, box, size) => {
  for (const rule of place(box, size)) {
    const [name, value] = rule.split(":");
    element.style.setProperty(name, value);
  }
  return element;
};

const overlay = (sheet, size, { marks, exact, fields, isSelected, onField }) => {
  for (const box of marks) sheet.append(positioned(el("div", { class: "mark" }), box, size));
  for (const box of exact) sheet.append(positioned(el("div", { class: "mark exact" }), box, size));
  for (const field of fields) {
    const name = [field.key && field.key.replaceAll("_", " "), field.label].filter(Boolean).join(": ") || field.name;
    const hit = el("button", { class: "field-hit", type: "button", title: name, "aria-label": name, "aria-pressed": String(isSelected(field)), onclick: () => onField(field) });
    hit.dataset.field = field.name;
    sheet.append(positioned(hit, field.bbox, size));
  }
};

export const createPageViewer = ({
  document: documentId, page, marks = [], exact = [], fields = [], isSelected = () => false, onField = () => {},
  onPage = null, signal,
}) => {
  let zoom = 0;
  const here = marks.filter(box => box.page === page);
  const exactHere = exact.filter(box => box.page === page);
  const sheet = el("div", { class: "sheet" }, el("p", { class: "waiting" }, "Loading the page …"));
  const frame = el("div", { class: "frame", tabindex: 0, role: "region", "aria-label": `Page ${page} of ${documentId}` }, sheet);
  const setZoom = step => {
    zoom = Math.max(0, Math.min(ZOOMS.length - 1, zoom + step));
    sheet.style.setProperty("--zoom", ZOOMS[zoom]);
    scrollToMark();
  };
  const scrollToMark = () => {
    const mark = sheet.querySelector(".mark.exact") ?? sheet.querySelector(".mark");
    if (!mark) return;
    frame.scrollTop = Math.max(0, mark.offsetTop - frame.clientHeight / 3);
    frame.scrollLeft = Math.max(0, mark.offsetLeft - 40);
  };
  const official = el("span");
  const tools = el("div", { class: "tools" },
    el("span", { class: "name" }, link({ view: "document", document: documentId, page }, documentId), `, page ${page}`),
    onPage && el("button", { class: "quiet small", type: "button", "aria-label": "Previous page", onclick: () => onPage(page - 1), disabled: page <= 1 }, "‹ Previous"),
    onPage && el("button", { class: "quiet small", type: "button", "aria-label": "Next page", "data-next": true, onclick: () => onPage(page + 1) }, "Next ›"),
    el("button", { class: "quiet small", type: "button", "aria-label": "Zoom out", onclick: () => setZoom(-1) }, "−"),
    el("button", { class: "quiet small", type: "button", "aria-label": "Zoom in", onclick: () => setZoom(1) }, "+"),
    official,
  );
  const legend = here.length || exactHere.length
    ? el("p", { class: "note legend" },
      here.length ? [el("i"), "passage"] : [], exactHere.length ? [el("i", { class: "exact" }), "words of the answer"] : [])
    : null;
  const load = async () => {
    try {
      const [{ source, size }, known] = await Promise.all([
        getPagePicture(`${documentPath(documentId, page)}.png`, signal), getDocuments(),
      ]);
      const image = el("img", { src: source, alt: `Page ${page} of ${documentId}${here.length ? " with the passage highlighted" : ""}` });
      image.addEventListener("load", () => { URL.revokeObjectURL(source); scrollToMark(); }, { once: true });
      sheet.replaceChildren(image);
      overlay(sheet, size, { marks: here, exact: exactHere, fields, isSelected, onField });
      const row = known.get(documentId);
      if (row?.pdf_url) {
        official.append(el("a", { href: `${row.pdf_url}#page=${page}`, rel: "noreferrer", target: "_blank" }, "Official PDF ↗"));
      }
      const next = tools.querySelector("[data-next]");
      if (next && row) next.disabled = page >= row.pages;
    } catch (error) {
      if (error.name === "AbortError") return;
      sheet.replaceChildren(el("p", { class: "waiting" }, error.message));
    }
  };
  load();
  return el("div", { class: "viewer" }, tools, legend, frame);
};

// On a narrow screen the page opens above everything else.
export const showInDialog = viewer => {
  const dialog = el("dialog", { class: "page", "aria-label": "Page" });
  dialog.append(
    el("p", { class: "actions" }, el("button", { class: "quiet small", type: "button", onclick: () => dialog.close() }, "Close")),
    viewer,
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
};
