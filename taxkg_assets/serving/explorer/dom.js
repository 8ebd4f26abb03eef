// Builds elements. Text of documents is always set as text, never as HTML.

// Children are given as `condition && element`; what a failed condition leaves is not shown.
const shownOf = children => children.flat().filter(child => child !== null && child !== undefined && child !== false);

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
