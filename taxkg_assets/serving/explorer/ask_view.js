// A question: its answer, the passages it rests on, and the page where they stand.
import { ApiError, getDocuments, postJson } from "./api.js";
import { announce, el, fill, isNarrow, link, ordinal, words } from "./dom.js";
import { createPageViewer, showInDialog } from "./page_viewer.js";
import { textBlock } from "./text.js";

const SLOW_MS = 3000;

const HEADINGS = {
  answer: "Answer",
  general: "General guidance, not a direct answer",
  silence: "Not covered by these documents",
};

const citedNumbers = answer => [...(answer ?? "").matchAll(/\[(\d+)\]/g)].map(match => Number(match[1]));

// Why a passage is here, in words.
const explain = via => {
  const reasons = [];
  if (via.lexical_rank) reasons.push(`${ordinal(via.lexical_rank)} by the words it shares with the question`);
  if (via.vector_rank) reasons.push(`${ordinal(via.vector_rank)} by meaning`);
  if (via.edge) reasons.push(`linked from a better match (${words(via.edge.relation)})`);
  return reasons.length ? `Found ${reasons.join(" and ")}.` : "Found next to a better match.";
};

const flagBadges = quality => (quality ?? []).map(flag =>
  el("span", { class: "badge flag", title: `${flag.message} ${flag.remedy}` }, `⚑ ${words(flag.law)}`));

const passageCard = (row, known, onShow) => {
  const body = el("div", { class: "text clamped" }, textBlock(row.text));
  const more = el("button", {
    class: "quiet small", type: "button", "aria-expanded": "false", hidden: true,
    onclick: () => {
      const isOpen = body.classList.toggle("clamped") === false;
      more.setAttribute("aria-expanded", isOpen);
      more.textContent = isOpen ? "Show less" : "Show all";
    },
  }, "Show all");
  requestAnimationFrame(() => { more.hidden = body.scrollHeight <= body.clientHeight + 4; });
  const source = known.get(row.document);
  return el("article", { class: "card passage", id: `passage-${row.rank}`, "aria-label": `Passage ${row.rank}` },
    el("div", { class: "where" },
      el("span", {}, `[${row.rank}]`),
      el("b", {}, row.form || row.document),
      row.revision && el("span", { class: "badge" }, row.revision),
      source?.is_draft && el("span", { class: "badge flag" }, "draft"),
      el("span", { class: "badge" }, words(row.doc_type)),
      el("span", {}, `page ${row.page}`),
      flagBadges(row.quality)),
    el("div", { class: "path" }, row.heading_path.replaceAll(" > ", " › ")),
    body,
    el("div", { class: "actions" },
      el("button", { class: "quiet small", type: "button", onclick: () => onShow(row) }, "Show on page"),
      more,
      link({ view: "document", document: row.document, page: row.page }, "Open document"),
      source?.page_url && el("a", { href: source.page_url, rel: "noreferrer", target: "_blank" }, "Official page ↗")),
    el("p", { class: "note" }, explain(row.via)));
};

const citationButton = (number, results, onCite) =>
  el("button", { class: "cite", type: "button", "aria-label": `Show passage ${number}: ${results[number - 1].form || results[number - 1].document}`, onclick: () => onCite(number) }, `${number}`);

const answerParts = (line, results, onCite) => line.split(/(\[\d+\])/).map(part => {
  const number = Number(/^\[(\d+)\]$/.exec(part)?.[1]);
  return number && results[number - 1] ? citationButton(number, results, onCite) : part;
});

const BULLET = "• ";

// Lines of an answer as paragraphs; lines that begin with a bullet as one list.
const answerBlocks = (found, onCite) => {
  const blocks = [];
  for (const line of found.answer.split("\n")) {
    if (!line.startsWith(BULLET)) {
      blocks.push(el("p", {}, answerParts(line, found.results, onCite)));
      continue;
    }
    if (blocks.at(-1)?.tagName !== "UL") blocks.push(el("ul"));
    blocks.at(-1).append(el("li", {}, answerParts(line.slice(BULLET.length), found.results, onCite)));
  }
  return blocks;
};

const confidenceMeter = confidence => {
  const share = Math.round(confidence * 100);
  return el("span", { class: "confidence" }, `Confidence ${share}%`,
    el("meter", { min: 0, max: 100, low: 50, high: 80, optimum: 100, value: share, "aria-label": "Confidence" }));
};

const answerCard = (found, onCite) => {
  const mode = found.abstained || !found.answer ? "silence" : found.mode === "answer" ? "answer" : "general";
  const style = { answer: "answer", general: "answer guidance", silence: "answer silence" }[mode];
  const title = el("h1", { tabindex: -1 }, HEADINGS[mode]);
  const card = el("section", { class: `card ${style}`, "aria-label": "Answer" },
    el("div", { class: "head" }, title, mode !== "silence" && confidenceMeter(found.confidence)));
  if (mode === "silence") {
    card.append(el("p", {}, "No passage answers this question well enough. The nearest ones are below; they may be about something else."));
  } else {
    card.append(...answerBlocks(found, onCite));
  }
  if (found.quality?.length) {
    card.append(el("p", { class: "note" }, "Check the source: ", found.quality.map(flag => `${flag.document}: ${flag.message}`).join(" ")));
  }
  if (found.created_by === "llm") {
    card.append(el("p", { class: "note" }, `Worded by the model ${found.model}. Each sentence was checked against the passages it cites.`));
  }
  return card;
};

export const showAsk = async (view, params, { signal, retry }) => {
  const asked = { question: params.q, form: params.form || null, year: Number(params.year) || null, document: params.document || null, k: 8 };
  fill(view, el("p", { class: "soft" }, "Searching …"));
  announce("Searching");
  const slow = setTimeout(() => {
    fill(view, el("p", { class: "soft" }, "Still searching. The first question after a start takes longer."));
  }, SLOW_MS);
  let found, known;
  try {
    [found, known] = await Promise.all([postJson("v1/ask", asked, signal), getDocuments()]);
  } catch (error) {
    if (error.name === "AbortError") return;
    showFailure(view, error, retry);
    return;
  } finally {
    clearTimeout(slow);
  }
  const side = el("aside", { class: "side wide-only", "aria-label": "Page" });
  const cards = [];
  const showRow = row => {
    for (const [place, card] of cards.entries()) card.setAttribute("aria-current", place + 1 === row.rank);
    const exact = exactBoxes(found, row);
    const page = exact[0]?.page ?? row.page;
    const viewer = createPageViewer({ document: row.document, page, marks: row.bboxes, exact, signal });
    if (isNarrow()) showInDialog(viewer);
    else side.replaceChildren(viewer);
  };
  const cite = number => {
    showRow(found.results[number - 1]);
    cards[number - 1].scrollIntoView({ block: "nearest" });
  };
  cards.push(...found.results.map(row => passageCard(row, known, showRow)));
  const isSilent = found.abstained || !found.answer;
  const list = isSilent
    ? el("details", {}, el("summary", {}, `Nearest passages (${cards.length})`), cards)
    : el("section", { "aria-label": "Passages" }, el("h2", {}, "Passages"), cards);
  const narrowed = [asked.form && `Form ${asked.form}`, asked.year, asked.document].filter(Boolean);
  const scope = narrowed.length
    ? el("p", { class: "note" }, `Only ${narrowed.join(", ")}. `, link({ q: params.q }, "Ask all documents"))
    : null;
  fill(view, el("div", { class: "split" }, el("div", {}, answerCard(found, cite), scope, list), side));
  document.title = `${params.q} – taxkg`;
  announce(isSilent ? "Not covered by these documents" : "Answer ready");
  const first = citedNumbers(found.answer)[0] ?? 1;
  if (found.results.length && !isNarrow() && !isSilent) showRow(found.results[first - 1] ?? found.results[0]);
};

// Rectangles of the answer's own words in a passage, each once: two sentences can share a line.
const exactBoxes = (found, row) => {
  const boxes = (found.units ?? []).filter(unit => unit.rank === row.rank)
    .flatMap(unit => unit.pieces.filter(piece => piece.role !== "label" && piece.role !== "note"))
    .flatMap(piece => piece.bboxes);
  return [...new Map(boxes.map(box => [JSON.stringify(box), box])).values()];
};

export const showFailure = (view, error, retry) => {
  const canRetry = !(error instanceof ApiError) || error.status === 0 || error.status >= 500;
  fill(view, el("section", { class: "card answer failed", role: "alert" },
    el("h1", { tabindex: -1 }, "This did not work"),
    el("p", {}, error.message),
    canRetry && el("p", { class: "actions" }, el("button", { type: "button", onclick: retry }, "Try again"))));
  announce("This did not work");
};
