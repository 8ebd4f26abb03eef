// The picture of a page with marked rectangles or clickable fields.
import { documentPath, getDocuments, getPagePicture, hasKey } from "./api.js";
import { el, link } from "./dom.js";

const ZOOMS = [1, 1.5, 2, 3];
const COARSE = 2;
const FINE = 4;

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

const drawMarks = (sheet, size, { marks, exact }) => {
  for (const old of sheet.querySelectorAll(".mark")) old.remove();
  for (const box of marks) sheet.append(positioned(el("div", { class: "mark" }), box, size));
  for (const box of exact) sheet.append(positioned(el("div", { class: "mark exact" }), box, size));
};

const drawFields = (sheet, size, { fields, isSelected, onField }) => {
  for (const field of fields) {
    const name = [field.key && field.key.replaceAll("_", " "), field.label].filter(Boolean).join(": ") || field.name;
    const hit = el("button", { class: "field-hit", type: "button", title: name, "aria-label": name, "aria-pressed": String(isSelected(field)), onclick: () => onField(field) });
    hit.dataset.field = field.name;
    sheet.append(positioned(hit, field.bbox, size));
  }
};

const toolButton = (label, text, onclick, more = {}) =>
  el("button", { class: "quiet small", type: "button", "aria-label": label, title: label, onclick, ...more }, text);

// The viewer's element has a method `mark`, which marks other rectangles of its page.
export const createPageViewer = ({
  document: documentId, page, marks = [], exact = [], fields = [], isSelected = () => false, onField = () => {},
  onPage = null, signal,
}) => {
  let zoom = 0, resolution = COARSE, size = null;
  const onThisPage = boxes => boxes.filter(box => box.page === page);
  let here = onThisPage(marks), exactHere = onThisPage(exact);
  const sheet = el("div", { class: "sheet" }, el("p", { class: "waiting" }, "Loading the page …"));
  const frame = el("div", { class: "frame", tabindex: 0, role: "region", "aria-label": `Page ${page} of ${documentId}` }, sheet);
  const picturePath = pixels => `${documentPath(documentId, page)}.png?zoom=${pixels}`;
  const scrollToMark = () => {
    const target = sheet.querySelector(".mark.exact") ?? sheet.querySelector(".mark") ?? sheet.querySelector(".field-hit[aria-pressed=true]");
    if (!target) return;
    frame.scrollTop = Math.max(0, target.offsetTop - frame.clientHeight / 3);
    frame.scrollLeft = Math.max(0, target.offsetLeft - 40);
  };
  const sharpen = async () => {
    if (resolution === FINE || ZOOMS[zoom] < 2) return;
    resolution = FINE;
    try {
      const { source } = await getPagePicture(picturePath(FINE), signal);
      const image = sheet.querySelector("img");
      image.addEventListener("load", () => URL.revokeObjectURL(source), { once: true });
      image.src = source;
    } catch { /* The coarse picture stays. */ }
  };
  const setZoom = step => {
    zoom = Math.max(0, Math.min(ZOOMS.length - 1, zoom + step));
    sheet.style.setProperty("--zoom", ZOOMS[zoom]);
    scrollToMark();
    sharpen();
  };
  const official = el("span");
  const tools = el("div", { class: "tools" },
    el("span", { class: "name" }, link({ view: "document", document: documentId, page }, documentId), `, page ${page}`),
    onPage && el("span", { class: "pair" },
      toolButton("Previous page", "‹ Previous", () => onPage(page - 1), { disabled: page <= 1 }),
      toolButton("Next page", "Next ›", () => onPage(page + 1), { "data-next": true }),
    ),
    el("span", { class: "pair" }, toolButton("Zoom out", "−", () => setZoom(-1)), toolButton("Zoom in", "+", () => setZoom(1))),
    el("span", { class: "pair" },
      !hasKey() && el("a", { class: "button quiet small", href: picturePath(FINE), target: "_blank", rel: "noreferrer" }, "Page image ↗"),
      official,
    ),
  );
  const legend = el("p", { class: "note legend" });
  const showLegend = () => legend.replaceChildren(...[
    ...(here.length ? [el("i"), "passage"] : []), ...(exactHere.length ? [el("i", { class: "exact" }), here.length ? "words of the answer" : "marked"] : []),
  ]);
  showLegend();
  const load = async () => {
    try {
      const [picture, known] = await Promise.all([getPagePicture(picturePath(COARSE), signal), getDocuments()]);
      ({ size } = picture);
      const image = el("img", { src: picture.source, alt: `Page ${page} of ${documentId}${here.length || exactHere.length ? " with a marked place" : ""}` });
      sheet.style.setProperty("aspect-ratio", `${size.width} / ${size.height}`);
      image.addEventListener("load", () => { URL.revokeObjectURL(picture.source); scrollToMark(); }, { once: true });
      sheet.replaceChildren(image);
      drawMarks(sheet, size, { marks: here, exact: exactHere });
      drawFields(sheet, size, { fields, isSelected, onField });
      const row = known.get(documentId);
      if (row?.pdf_url) {
        official.append(el("a", { class: "button quiet small", href: `${row.pdf_url}#page=${page}`, rel: "noreferrer", target: "_blank" }, "Official PDF ↗"));
      }
      const next = tools.querySelector("[data-next]");
      if (next && row) next.disabled = page >= row.pages;
    } catch (error) {
      if (error.name === "AbortError") return;
      sheet.replaceChildren(el("p", { class: "waiting", role: "alert" }, error.message, " ",
        el("button", { class: "quiet small", type: "button", onclick: load }, "Try again")));
    }
  };
  load();
  const viewer = el("div", { class: "viewer" }, tools, legend, frame);
  viewer.mark = boxes => {
    here = [];
    exactHere = onThisPage(boxes);
    showLegend();
    if (!size) return;
    drawMarks(sheet, size, { marks: here, exact: exactHere });
    scrollToMark();
  };
  return viewer;
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
