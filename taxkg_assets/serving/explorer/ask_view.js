// A question: its answer, the passages it rests on, and the page where they stand.
import { ApiError, getDocuments, postJson } from "./api.js";
import { announce, el, fieldId, fill, formName, isNarrow, keyName, link, placeLink, words } from "./dom.js";
import { excerptOf, quotedRanges } from "./excerpt.js";
import { createPageViewer, showInDialog } from "./page_viewer.js";
import { textBlock } from "./text.js";

const SLOW_MS = 3000;

const HEADINGS = {
  answer: "Answer",
  guidance: "General guidance, not a direct answer",
  abstention: "No reliable answer found",
};

const hasAbstained = found => found.abstained || !found.answer;

const citedNumbers = answer => [...(answer ?? "").matchAll(/\[(\d+)\]/g)].map(match => Number(match[1]));

const COMMON = new Set(("about above after also amount amounts been before being below both could does each for from have how " +
  "include included into its long many more most much must not only other over report reported show shown should such than that the their them then there " +
  "these they this those under was were what when where which while who whose why will with would year years your you and are can box line form").split(" "));

const stem = word => word.toLowerCase().replace(/(ies|es|s|ed|ing)$/, "");

// Words of a question that a text has, too, in the question's spelling.
const sharedWords = (question, text) => {
  const own = new Set((text.match(/[\p{L}\d-]+/gu) ?? []).map(stem));
  const requested = (question.match(/[\p{L}\d-]+/gu) ?? []).filter(word => word.length > 2 && !COMMON.has(word.toLowerCase()));
  return [...new Set(requested)].filter(word => own.has(stem(word)));
};

const CLOSE_IN_MEANING = 20;

// Why a passage is here, in words.
const explain = (row, question) => {
  const { via } = row;
  const route = via.route ?? {};
  const reasons = [];
  if (row.anchor_key && route.keys?.includes(row.anchor_key)) reasons.push(`it is the text under ${keyName(row.anchor_key).toLowerCase()}, which your question names`);
  if (route.forms?.includes(row.form)) reasons.push(`it is about ${formName(row.form)}, which your question names`);
  if (route.years?.some(year => row.revision.startsWith(`${year}`))) reasons.push("it is for the year in your question");
  const shared = sharedWords(question, `${row.heading_path} ${row.text}`);
  if (shared.length) reasons.push(`it has the ${shared.length === 1 ? "word" : "words"} ${shared.slice(0, 5).map(word => `“${word}”`).join(", ")}`);
  if (via.vector_rank && via.vector_rank <= CLOSE_IN_MEANING) reasons.push("its meaning is close to the question’s");
  if (!reasons.length) return "Shown as context for a better match.";
  const last = reasons.pop();
  return `Why this passage: ${reasons.length ? `${reasons.join(", ")}, and ${last}` : last}.`;
};

// The newest revision of a form that can be opened, of a year that a question names if there is one.
const formDocument = (form, years, known) => {
  const own = [...known.values()].filter(row => row.doc_type === "form" && row.form === form && !row.is_draft);
  return (own.find(row => years.some(year => row.revision.startsWith(`${year}`))) ?? own[0])?.document;
};

// Whose text is preferred is said where the question names it, not where only a word such as “I” hints at it.
const NAMED = 0.5;

// What was understood of a question: forms, keys and years that it names. A form or its box is a link to its page.
const understood = (found, known) => {
  const { forms = [], keys = [], years = [], perspective, certainty = 0, wants_draft: wantsDraft } = found.results[0]?.via.route ?? {};
  const badge = (text, document, field) => el("span", { class: "badge" }, document ? link({ view: "form", document, field }, text) : text);
  const documents = forms.map(form => formDocument(form, years, known));
  const parts = [
    ...forms.map((form, place) => badge(formName(form), documents[place])),
    ...keys.map(key => badge(keyName(key), forms.length === 1 && documents[0], fieldId({ key }))),
    ...[...years.map(String), certainty >= NAMED && `text for the ${perspective}`, wantsDraft && "drafts too"].filter(Boolean).map(text => badge(text)),
  ];
  return parts.length ? el("p", { class: "note" }, "Read as: ", parts) : null;
};

const sameIn = row => {
  const others = row.via.same_in ?? [];
  return others.length > 0 && el("span", { class: "note same" }, "The same in ",
    others.flatMap((own, place) => [place ? ", " : "", placeLink({ document: own.document, page: own.page, boxes: own.bboxes ?? [] }, own.revision || own.document)]));
};

const citation = row => `${row.text.trim()}\n— ${formName(row.form || row.document)}${row.revision ? `, ${row.revision}` : ""}, page ${row.page} (${row.document})`;

const copyButton = row => {
  if (!navigator.clipboard) return null;
  const button = el("button", { class: "quiet small", type: "button", onclick: async () => {
    await navigator.clipboard.writeText(citation(row)).then(() => { button.textContent = "Copied"; }, () => { button.textContent = "Not copied"; });
  } }, "Copy");
  return button;
};

const flagBadges = quality => (quality ?? []).map(flag =>
  el("span", { class: "badge flag", title: `${flag.message} ${flag.remedy}` }, `⚑ failed check: ${words(flag.law)}`));

// A passage may begin on one page and end on another.
const pagesOf = row => {
  const pages = [...new Set([row.page, ...row.bboxes.map(box => box.page)])].sort((one, other) => one - other);
  return pages.length > 1 ? `pages ${pages.slice(0, -1).join(", ")} and ${pages.at(-1)}` : `page ${pages[0]}`;
};

const passageCard = (row, { known, question, quotes, onShow }) => {
  const ranges = quotedRanges(row.text, quotes);
  const parts = excerptOf(row.text, ranges, { hitStart: row.via.hit_start, countWords: line => sharedWords(question, line).length });
  const isExcerpt = parts.length > 1 || parts[0].start > 0 || parts[0].end < row.text.length;
  const gap = () => el("div", { class: "gap" }, "…");
  const drawExcerpt = () => parts.flatMap((part, place) => [
    (place > 0 || part.start > 0) && gap(), ...textBlock(row.text.slice(part.start, part.end), { offset: part.start, ranges })])
    .concat(parts.at(-1).end < row.text.length ? gap() : []);
  const body = el("div", { class: "text clamped" }, drawExcerpt());
  const more = el("button", {
    class: "quiet small", type: "button", "aria-expanded": "false", hidden: !isExcerpt,
    onclick: () => {
      const isOpen = body.classList.toggle("clamped") === false;
      fill(body, isOpen ? textBlock(row.text, { ranges }) : drawExcerpt());
      more.setAttribute("aria-expanded", isOpen);
      more.textContent = isOpen ? "Show less" : "Show all";
    },
  }, "Show all");
  // Nothing is laid out within closed details, so the size counts when it is known, and after each change of the window.
  new ResizeObserver(() => {
    if (body.classList.contains("clamped")) more.hidden = !isExcerpt && body.scrollHeight <= body.clientHeight + 4;
  }).observe(body);
  const source = known.get(row.document);
  return el("article", { class: "card passage", id: `passage-${row.rank}`, "aria-label": `Passage ${row.rank}` },
    el("div", { class: "where" },
      el("span", {}, `[${row.rank}]`),
      el("b", {}, row.form || row.document),
      row.revision && el("span", { class: "badge" }, row.revision),
      source?.is_draft && el("span", { class: "badge flag" }, "draft"),
      el("span", { class: "badge" }, words(row.doc_type)),
      el("span", {}, pagesOf(row)),
      flagBadges(row.quality), sameIn(row)),
    el("div", { class: "path" }, row.heading_path.replaceAll(" > ", " › ")),
    body,
    el("div", { class: "actions" },
      el("button", { class: "quiet small", type: "button", onclick: () => onShow(row) }, "Show on page"),
      more,
      copyButton(row),
      placeLink({ document: row.document, page: row.page, boxes: row.bboxes }, "Open document"),
      /^https:/.test(row.official_url ?? "") && el("a", { href: row.official_url, rel: "noreferrer", target: "_blank" }, "Official section ↗"),
      source?.page_url && el("a", { href: source.page_url, rel: "noreferrer", target: "_blank" }, "Official page ↗")),
    el("p", { class: "note" }, explain(row, question)));
};

const citationButton = (number, results, onCite) =>
  el("button", { class: "cite", type: "button", "aria-label": `Show passage ${number}: ${results[number - 1].form || results[number - 1].document}`, onclick: onCite }, `${number}`);

// Each citation leads to the words of its own line.
const answerParts = (line, results, onCite) => line.split(/(\[\d+\])/).map(part => {
  const number = Number(/^\[(\d+)\]$/.exec(part)?.[1]);
  return number && results[number - 1] ? citationButton(number, results, () => onCite(number)) : part;
});

const BULLET = "• ";

// Items within a line are a list as those on lines of their own.
const splitItems = line => line.split(` ${BULLET}`).map((part, place) => place ? BULLET + part : part);

const piecesOf = (found, role) => new Set((found.units ?? []).flatMap(unit => unit.pieces).filter(piece => piece.role === role).map(piece => piece.text));

const ALL_CHANGES = /^\((\d+ more changes): .*\)$/;

// A note of the answer; the name of a command is a link here.
const noteOf = (text, number, found) => {
  const more = ALL_CHANGES.exec(text);
  const name = found.results[number - 1]?.document.split("--")[0];
  return el("p", { class: "note" }, more && name ? ["And ", link({ view: "changes", name }, more[1]), "."] : text);
};

// The words of a line with what they are about, such as the form and line, set off.
const labeled = (part, labels) => {
  const label = [...labels].find(own => part.startsWith(`${own}: `));
  return label ? [el("b", { class: "label" }, `${label}: `), part.slice(label.length + 2)] : [part];
};

// Lines of an answer as paragraphs; what begins with a bullet, or is an item of a printed list, as one list.
const answerBlocks = (found, onCite) => {
  const [items, notes, labels] = ["item", "note", "label"].map(role => piecesOf(found, role));
  const corrections = Object.entries(found.corrections ?? {}).map(([word, other]) => `Searched for “${other}” instead of “${word}”.`);
  const blocks = corrections.map(text => el("p", { class: "note" }, text));
  for (const line of found.answer.split("\n").filter(own => !corrections.includes(own))) {
    const cite = number => onCite(number, line);
    for (const part of splitItems(line)) {
      const [, text, cited] = /^(.*?)(?: \[(\d+)\])?$/s.exec(part);
      const parts = own => labeled(own, labels).flatMap(piece => typeof piece === "string" ? answerParts(piece, found.results, cite) : [piece]);
      if (notes.has(text)) {
        blocks.push(noteOf(text, Number(cited), found));
      } else if (part.startsWith(BULLET) || items.has(text)) {
        const style = part.startsWith(BULLET) ? "" : "printed";
        if (blocks.at(-1)?.tagName !== "UL" || blocks.at(-1).className !== style) blocks.push(el("ul", { class: style }));
        blocks.at(-1).append(el("li", {}, parts(part.startsWith(BULLET) ? part.slice(BULLET.length) : part)));
      } else {
        blocks.push(el("p", {}, parts(part)));
      }
    }
  }
  return blocks;
};

const confidenceMeter = confidence => {
  const share = Math.round(confidence * 100);
  return el("span", { class: "confidence", title: "The estimated chance that this answer contains what is needed" }, `Confidence ${share}%`,
    el("meter", { min: 0, max: 100, low: 50, high: 80, optimum: 100, value: share, "aria-label": "Confidence" }));
};

const answerCard = (found, onCite) => {
  const outcome = hasAbstained(found) ? "abstention" : found.outcome;
  const style = outcome === "answer" ? "answer" : `answer ${outcome}`;
  const title = el("h1", { tabindex: -1 }, HEADINGS[outcome]);
  const card = el("section", { class: `card ${style}`, "aria-label": "Answer" },
    el("div", { class: "head" }, title, outcome !== "abstention" && confidenceMeter(found.confidence)));
  if (outcome === "abstention") {
    card.append(...Object.entries(found.corrections ?? {}).map(([word, other]) => el("p", { class: "note" }, `Searched for “${other}” instead of “${word}”.`)));
    const absent = (found.results[0]?.via.route?.unknown_forms ?? []).map(formName);
    if (absent.length) card.append(el("p", {}, el("b", {}, `The library has no document about ${absent.join(" and ")}.`)));
    const nearest = found.results.length ? " Open “Nearest passages” below to see what comes closest; it may be about something else." : "";
    card.append(el("p", {}, `No passage answers this question well enough.${nearest}`),
      el("p", { class: "note" }, "Ask in the language of the documents, try other words, name the form and the box or line, or check that the ", link({ view: "documents" }, "documents"), " include the one that you need."));
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
  if (params.year && !/^\d{4}$/.test(params.year)) throw new ApiError(`“${params.year}” is no year. Write a year with four digits, such as 2024.`, 422);
  const requested = { question: params.q, form: params.form || null, year: Number(params.year) || null, document: params.document || null, k: 8 };
  fill(view, el("p", { class: "soft" }, "Searching …"));
  announce("Searching");
  const slow = setTimeout(() => {
    fill(view, el("p", { class: "soft" }, "Still searching. The first question after a start takes longer."));
  }, SLOW_MS);
  let found, known;
  try {
    [found, known] = await Promise.all([postJson("v1/ask", requested, signal), getDocuments()]);
  } catch (error) {
    if (error.name === "AbortError") return;
    showFailure(view, error, retry);
    return;
  } finally {
    clearTimeout(slow);
  }
  const side = el("aside", { class: "side wide-only", "aria-label": "Page" });
  const cards = [];
  const showRow = (row, line = "") => {
    for (const [place, card] of cards.entries()) card.setAttribute("aria-current", place + 1 === row.rank);
    const exact = exactBoxes(found, row, line);
    const page = exact[0]?.page ?? row.page;
    const viewer = createPageViewer({ document: row.document, page, marks: row.bboxes, exact, signal });
    if (isNarrow()) showInDialog(viewer);
    else side.replaceChildren(viewer);
  };
  const cite = (number, line) => {
    showRow(found.results[number - 1], line);
    cards[number - 1].scrollIntoView({ block: "nearest" });
  };
  cards.push(...found.results.map(row => passageCard(row, { known, question: params.q, quotes: quotesOf(found, row), onShow: showRow })));
  const isAbstention = hasAbstained(found);
  const list = isAbstention
    ? el("details", {}, el("summary", {}, `Nearest passages (${cards.length})`), cards)
    : el("section", { "aria-label": "Passages" }, el("h2", {}, "Passages"), cards);
  const narrowed = [requested.form && formName(requested.form), requested.year, requested.document].filter(Boolean);
  const scope = narrowed.length
    ? el("p", { class: "note" }, `Only ${narrowed.join(", ")}. `, link({ q: params.q }, "Ask all documents"))
    : null;
  fill(view, el("div", { class: `split${isAbstention ? " single" : ""}` }, el("div", {}, answerCard(found, cite), understood(found, known), scope, list), side));
  document.title = `${params.q} – taxkg`;
  announce(isAbstention ? HEADINGS.abstention : "Answer ready");
  const first = citedNumbers(found.answer)[0] ?? 1;
  if (found.results.length && !isNarrow() && !isAbstention) showRow(found.results[first - 1] ?? found.results[0]);
};

// What an answer quotes from a passage.
const quotesOf = (found, row) => (found.units ?? []).filter(unit => unit.rank === row.rank)
  .flatMap(unit => unit.pieces.filter(piece => piece.role !== "label" && piece.role !== "note"));

// Rectangles of the answer's own words in a passage, each once: two sentences can share a line. Those of one line of the
// answer, if one is given.
const exactBoxes = (found, row, line) => {
  const pieces = quotesOf(found, row);
  const mine = pieces.filter(piece => line.includes(piece.text));
  const boxes = (mine.length ? mine : pieces).flatMap(piece => piece.bboxes);
  return [...new Map(boxes.map(box => [JSON.stringify(box), box])).values()];
};

export const showFailure = (view, error, retry) => {
  const canRetry = !(error instanceof ApiError) || error.status === 0 || error.status >= 500;
  fill(view, el("section", { class: "card answer failed", role: "alert" },
    el("h1", { tabindex: -1 }, error.status === 404 ? "Not found" : "This did not work"),
    el("p", {}, error.message.charAt(0).toUpperCase() + error.message.slice(1)),
    el("p", { class: "actions" }, canRetry
      ? el("button", { type: "button", onclick: retry }, "Try again")
      : link({ view: "documents" }, "See the documents"))));
  announce("This did not work");
};
