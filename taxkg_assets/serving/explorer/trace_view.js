// Where an amount comes from and where it goes: a graph to walk with mouse or keyboard, and the same as a list.
import { getJson } from "./api.js";
import { el, fieldId, fill, formName, link, placeLink, plural, words } from "./dom.js";
import { describeFlow } from "./line_card.js";

const SVG = "http://www.w3.org/2000/svg";
const NODE = { width: 216, height: 58 };
const GAP = { x: 96, y: 16 };
const MARGIN = 14;
const LETTERS = 32;
const DEPTHS = [1, 2, 3, 6];

const svg = (tag, props = {}, ...children) => {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value);
  }
  element.append(...children.filter(Boolean));
  return element;
};

const idOf = step => `${step.document_id ?? step.form}|${step.part}|${step.key}`;

const titleOf = step => `${formName(step.form)}${step.revision ? `, ${step.revision}` : ""}`;

const keyOf = step => `${step.part ? `Part ${step.part} ` : ""}${words(step.key)}${step.column ? ` (${step.column})` : ""}`;

const traceAddress = (step, depth) => ({
  view: "trace", form: step.form, key: `${step.part ? `Part ${step.part} ` : ""}${words(step.key)}`,
  year: step.revision.slice(0, 4), depth,
});

// The graph of a trace: lines once each, with their distance from the first one, and the statements between them.
export const graphOf = (traced, depth) => {
  const start = { ...traced, level: 0 };
  const nodes = new Map([[idOf(start), start]]);
  const edges = new Map();
  let isCut = false;
  const walk = way => {
    let ring = [[idOf(start), way > 0 ? traced.into : traced.out_of]];
    for (let level = 1; level <= depth && ring.length; level += 1) {
      const next = [];
      for (const [from, steps] of ring) {
        for (const step of steps) {
          const to = idOf(step);
          if (!nodes.has(to)) nodes.set(to, { ...step, level: level * way });
          const [source, target] = way > 0 ? [from, to] : [to, from];
          const key = `${source}→${target}`;
          if (!edges.has(key)) edges.set(key, { source, target, statement: step.statement });
          next.push([to, step.steps, step.has_more]);
        }
      }
      ring = next;
      isCut ||= ring.some(([, steps, hasMore]) => hasMore || (level === depth && steps.length));
    }
  };
  walk(1);
  walk(-1);
  return { start: idOf(start), nodes, edges: [...edges.values()], isCut };
};

// Columns by distance; within a column the lines are in the order of what they are connected with, then of their names.
const placeNodes = ({ nodes, edges }) => {
  const columns = new Map();
  for (const [id, node] of nodes) columns.set(node.level, [...(columns.get(node.level) ?? []), id]);
  const levels = [...columns.keys()].sort((one, other) => one - other);
  const tallest = Math.max(...[...columns.values()].map(column => column.length));
  const height = tallest * (NODE.height + GAP.y) - GAP.y;
  const at = new Map();
  const neighbors = id => edges.flatMap(edge => edge.source === id ? [edge.target] : edge.target === id ? [edge.source] : []);
  const meanOf = id => {
    const heights = neighbors(id).filter(other => at.has(other)).map(other => at.get(other).y);
    return heights.length ? heights.reduce((sum, own) => sum + own, 0) / heights.length : 0;
  };
  for (const level of [...levels].sort((one, other) => Math.abs(one) - Math.abs(other))) {
    const nameOf = id => `${titleOf(nodes.get(id))} ${keyOf(nodes.get(id))}`;
    const column = [...columns.get(level)].sort((one, other) =>
      meanOf(one) - meanOf(other) || nameOf(one).localeCompare(nameOf(other), "en", { numeric: true }));
    const top = (height - (column.length * (NODE.height + GAP.y) - GAP.y)) / 2;
    for (const [row, id] of column.entries()) {
      at.set(id, { x: MARGIN + levels.indexOf(level) * (NODE.width + GAP.x), y: MARGIN + top + row * (NODE.height + GAP.y) });
    }
  }
  return { at, width: levels.length * (NODE.width + GAP.x) - GAP.x + 2 * MARGIN, height: height + 2 * MARGIN };
};

const cut = text => text.length > LETTERS ? `${text.slice(0, LETTERS - 1).trimEnd()}…` : text;

const curve = (from, to) => {
  const start = [from.x + NODE.width, from.y + NODE.height / 2], end = [to.x, to.y + NODE.height / 2];
  const isForward = end[0] > start[0];
  const bend = isForward ? (end[0] - start[0]) / 2 : 60;
  return `M${start[0]} ${start[1]} C${start[0] + bend} ${start[1]} ${end[0] - bend} ${end[1]} ${end[0]} ${end[1]}`;
};

const keyPress = act => event => {
  if (event.key !== "Enter" && event.key !== " ") return;
  event.preventDefault();
  act();
};

const drawGraph = (graph, { onNode, onEdge }) => {
  const { at, width, height } = placeNodes(graph);
  const nodeName = id => `${titleOf(graph.nodes.get(id))}, ${keyOf(graph.nodes.get(id))}`;
  const edges = graph.edges.map(edge => {
    const path = curve(at.get(edge.source), at.get(edge.target));
    return svg("g", {
      class: `edge ${edge.statement.agreement}`, tabindex: 0, role: "button",
      "aria-label": `From ${nodeName(edge.source)} to ${nodeName(edge.target)}: evidence`,
      onclick: event => onEdge(edge, event.currentTarget), onkeydown: event => keyPress(() => onEdge(edge, event.currentTarget))(event),
    }, svg("path", { class: "hit", d: path }), svg("path", { class: "line", d: path, "marker-end": "url(#arrow)" }));
  });
  const nodes = [...graph.nodes].map(([id, node]) => {
    const { x, y } = at.get(id);
    const name = svg("text", { x: x + 10, y: y + 18, class: "name" });
    name.textContent = cut(titleOf(node));
    const key = svg("text", { x: x + 10, y: y + 34, class: "key" });
    key.textContent = cut(keyOf(node));
    const label = svg("text", { x: x + 10, y: y + 50, class: "label" });
    label.textContent = cut(node.label || (node.document_id ? "" : "not in this library"));
    return svg("g", {
      class: `node${id === graph.start ? " start" : ""}${node.document_id ? "" : " outside"}`, tabindex: 0, role: "button",
      "aria-label": `${nodeName(id)}${node.label ? `: ${node.label}` : ""}`,
      onclick: event => onNode(id, event.currentTarget), onkeydown: event => keyPress(() => onNode(id, event.currentTarget))(event),
    }, svg("rect", { x, y, width: NODE.width, height: NODE.height, rx: 8 }), name, key, label);
  });
  const arrow = svg("defs", {}, svg("marker", { id: "arrow", viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse" },
    svg("path", { d: "M0 0 10 5 0 10z" })));
  return svg("svg", {
    class: "graph", viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": "Graph of the trace",
  }, arrow, ...edges, ...nodes);
};

const nodeLinks = (node, depth) => node.document_id ? [
  link({ view: "form", document: node.document_id, field: fieldId({ part: node.part, key: node.key }) }, "Open on its form"),
  link(traceAddress(node, depth), "Trace from here"),
] : [el("span", { class: "soft" }, "This form is not in the library.")];

const statementParts = statement => [
  el("blockquote", {}, statement.evidence),
  el("p", { class: "note" },
    placeLink({ document: statement.document_id, page: statement.page, boxes: statement.bbox ? [statement.bbox] : [] }, `${statement.document_id}, page ${statement.page}`),
    ` – ${describeFlow(statement)}`),
];

const stepList = (steps, depth, level = 1) => el("ol", { class: "steps" }, steps.map(step => el("li", {},
  el("p", {}, el("b", {}, `${titleOf(step)}, ${keyOf(step)}`), step.label && ` ${step.label}`),
  statementParts(step.statement),
  el("p", { class: "actions" }, nodeLinks(step, depth)),
  step.steps.length > 0 && level < depth && stepList(step.steps, depth, level + 1))));

const listOf = (title, steps, depth, isOpen) => el("details", { class: "card", open: isOpen },
  el("summary", {}, `${title} (${steps.length})`),
  steps.length ? stepList(steps, depth) : el("p", { class: "soft" }, "No document in the library says so."));

const COLORS = { agreed: "Green: both ends state it.", contradicted: "Red, dashed: the other end names another line." };

const legendOf = graph => Object.entries(COLORS)
  .filter(([agreement]) => graph.edges.some(edge => edge.statement.agreement === agreement)).map(([, text]) => ` ${text}`).join("");

const showPanel = (panel, graph, depth) => ({
  onNode: (id, element) => {
    const node = graph.nodes.get(id);
    markChosen(element);
    fill(panel, el("h2", {}, `${titleOf(node)}, ${keyOf(node)}`), node.label && el("p", {}, node.label), el("p", { class: "actions" }, nodeLinks(node, depth)));
  },
  onEdge: (edge, element) => {
    const [source, target] = [edge.source, edge.target].map(id => graph.nodes.get(id));
    markChosen(element);
    fill(panel, el("h2", {}, `From ${titleOf(source)}, ${keyOf(source)} to ${titleOf(target)}, ${keyOf(target)}`), statementParts(edge.statement));
  },
});

const markChosen = element => {
  for (const other of element.parentNode.querySelectorAll("[aria-pressed]")) other.removeAttribute("aria-pressed");
  element.setAttribute("aria-pressed", "true");
};

// What a limit of steps hides is said, with a way to see it.
const limitNote = ({ isCut }, params, depth) => {
  if (!isCut) return null;
  const deeper = DEPTHS.find(own => own > depth);
  const limit = `Only ${plural(depth, "step")} in each direction ${depth === 1 ? "is" : "are"} shown; there are more. `;
  return el("p", { class: "note" }, limit, deeper ? link({ ...params, view: "trace", depth: deeper }, `Show up to ${deeper} steps`) : "Trace from the last line to see them.");
};

const startLink = ({ form, keys: [key] }) => link({ view: "trace", form, key: words(key) }, `${formName(form)}, ${words(key)}`);

export const showTrace = async (view, params, { signal, navigate }) => {
  const requested = { form: params.form ?? "", key: params.key ?? "", year: params.year ?? "" };
  const depth = Number(params.depth) || 2;
  const form = el("form", {
    class: "actions",
    onsubmit: event => {
      event.preventDefault();
      const given = Object.fromEntries([...new FormData(event.target)].map(([name, value]) => [name, value.trim()]));
      navigate({ view: "trace", ...given });
    },
  },
  el("label", {}, "Form", el("input", { name: "form", value: requested.form, required: true, size: 16, list: "known-forms", autocomplete: "off" })),
  el("label", {}, "Box or line", el("input", { name: "key", value: requested.key, required: true, size: 10, autocomplete: "off" })),
  el("label", {}, "Year", el("input", { name: "year", value: requested.year, size: 6, inputmode: "numeric", placeholder: "Newest" })),
  el("label", {}, "Steps", el("select", { name: "depth" }, DEPTHS.map(own => el("option", { value: own, selected: own === depth }, `${own}`)))),
  el("button", { type: "submit" }, "Trace"));
  const result = el("div", {}, el("p", { class: "soft" }, requested.form && requested.key ? "Following the amount …" : "Name a form and a box or line to see where its amount comes from and where it goes."));
  fill(view, el("h1", { tabindex: -1 }, "Trace an amount"), form, result);
  document.title = "Trace – taxkg";
  if (!requested.form || !requested.key) {
    const forms = await getJson("v1/forms", signal);
    const starts = forms.filter(own => /\d/.test(own.keys[0]));
    if (starts.length) result.append(el("h2", {}, "Start with"), el("p", { class: "chips" }, starts.map(startLink)));
    return;
  }
  const query = new URLSearchParams({ form: requested.form, key: requested.key, ...(requested.year && { revision: requested.year }) });
  let traced;
  try {
    traced = await getJson(`v1/trace?${query}`, signal);
  } catch (error) {
    if (error.status !== 404) throw error;
    fill(result, el("p", { class: "card", role: "alert" }, error.message));
    return;
  }
  const graph = graphOf(traced, depth);
  const panel = el("section", { class: "card", "aria-live": "polite", "aria-label": "Chosen part of the graph" });
  const actions = showPanel(panel, graph, depth);
  const drawing = drawGraph(graph, actions);
  const frame = el("div", { class: "graph-frame", tabindex: 0, role: "region", "aria-label": "Graph" }, drawing);
  fill(result,
    el("p", {}, `${plural(graph.nodes.size, "line")}, ${plural(graph.edges.length, "statement")}. Choose a line or an arrow for its evidence. Sources are at the left.${legendOf(graph)}`),
    limitNote(graph, params, depth), frame, panel,
    listOf("Where the amount goes", traced.into, depth, true),
    listOf("Where the amount comes from", traced.out_of, depth, true));
  const start = drawing.querySelector(".start");
  actions.onNode(graph.start, start);
  frame.scrollLeft = Math.max(0, start.getBBox().x - frame.clientWidth / 2 + NODE.width / 2);
  frame.scrollTop = Math.max(0, start.getBBox().y - frame.clientHeight / 2);
  document.title = `${formName(traced.form)} ${keyOf(traced)} – trace – taxkg`;
};
