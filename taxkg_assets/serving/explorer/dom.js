// Builds elements. Text of documents is always set as text, never as HTML.

// Children are given as `condition && element`; what a failed condition leaves is not shown.
const shownOf = children => children.flat(Infinity).filter(child => child !== null && child !== undefined && child !== false);

export const el = (tag, props = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") element.className = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...shownOf(children));
  return element;
};

export const fill = (element, ...children) => {
  element.replaceChildren(...shownOf(children));
};

export const link = (params, ...children) => el("a", { href: address(params), "data-route": true }, ...children);

export const address = params => {
  const kept = Object.entries(params).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return `?${new URLSearchParams(kept)}`;
};

export const words = name => name.replaceAll("_", " ");

export const ordinal = number => {
  const tail = number % 100;
  const suffix = tail >= 11 && tail <= 13 ? "th" : { 1: "st", 2: "nd", 3: "rd" }[number % 10] ?? "th";
  return `${number}${suffix}`;
};

// "box_1a" is printed as "Box 1a".
export const keyName = key => {
  const plain = words(key);
  return plain.charAt(0).toUpperCase() + plain.slice(1);
};

export const plural = (count, noun) => `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`;

export const isNarrow = () => matchMedia("(max-width: 60rem)").matches;

export const announce = text => { document.getElementById("status").textContent = text; };

const corner = (box, name) => Math.round((box[name] ?? box[`${name}_pt`]) * 10) / 10;

// Rectangles of one page as an address carries them.
export const writeBoxes = boxes => boxes.map(box => ["x0", "y0", "x1", "y1"].map(name => corner(box, name)).join(",")).join(";");

// Rectangles that an address carries, on one page; what is no rectangle is left out.
export const readBoxes = (written, page) => (written ?? "").split(";").map(part => part.split(",").map(Number))
  .filter(corners => corners.length === 4 && corners.every(Number.isFinite))
  .map(([x0, y0, x1, y1]) => ({ page, x0, y0, x1, y1 }));

// A link to a page with rectangles marked.
export const placeLink = ({ document, page, boxes = [] }, ...children) => {
  const here = boxes.filter(box => (box.page ?? page) === page);
  return link({ view: "document", document, page, box: here.length ? writeBoxes(here.slice(0, 24)) : "" }, ...children);
};

// A field in an address: its part and its key.
export const fieldId = ({ part, key, column }) => `${part ?? ""}|${key}|${column ?? ""}`;

// A revision as lists name it; a further file of one revision by its date.
export const revisionName = ({ document, revision, is_draft: isDraft }) => {
  const made = /__build(\d{4})(\d\d)(\d\d)$/.exec(document ?? "");
  return [revision || document, made && `(file of ${made.slice(1).join("-")})`, isDraft && "(draft)"].filter(Boolean).join(" ");
};

// "Form 1099-DIV" but "Schedule D (Form 1040)".
export const formName = form => /^(Schedule|Form|Pub|Pub\.|Instructions)/.test(form) ? form : `${form.includes(" and ") ? "Forms" : "Form"} ${form}`;
