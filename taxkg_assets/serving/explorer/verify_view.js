// Check a draft: its statements and quotations marked by verdict, each with its passage.
import { postJson } from "./api.js";
import { announce, el, fill, placeLink, plural } from "./dom.js";

const NAMES = {
  contradicted: "Contradicted", other_year: "Other year", other_form: "Other form", not_found: "Not found",
  unclear: "Unclear", supported: "Supported", verbatim: "Verbatim",
};
const TONES = {
  contradicted: "bad", other_year: "bad", other_form: "bad", not_found: "plain", unclear: "warn", supported: "good", verbatim: "good",
};
const MOST_BYTES = 700_000;
const EXAMPLE = "In box 1a of the 2024 Form 1099-DIV, report the total ordinary dividends.";

// Kept until the page is left, so that Back leads to the same report.
let kept = { text: "", report: null };

const toneOf = finding => finding.is_fault ? "bad" : TONES[finding.verdict];

const readBase64 = file => new Promise((resolve, reject) => {
  const reader = new FileReader();
  reader.addEventListener("load", () => resolve(reader.result.slice(reader.result.indexOf(",") + 1)));
  reader.addEventListener("error", () => reject(reader.error));
  reader.readAsDataURL(file);
});

const evidenceOf = own => [
  el("blockquote", { class: "text" }, own.text),
  el("p", { class: "path" }, own.heading_path.replaceAll(" > ", " › ")),
  el("p", { class: "actions" },
    placeLink({ document: own.document, page: own.page, boxes: own.rectangles }, `${own.document}, page ${own.page}`),
    own.official_url?.startsWith("https://") && el("a", { href: own.official_url, rel: "noreferrer" }, "Official document")),
];

const comparedTable = rows => {
  const shown = rows.filter(row => row.kind !== "polarity");
  if (!shown.length) return false;
  const state = row => row.is_equal ? "equal" : row.found ? "differs" : "not stated";
  return el("div", { class: "scroll" }, el("table", {},
    el("thead", {}, el("tr", {}, ["Draft", "Passage", "Result"].map(name => el("th", { scope: "col" }, name)))),
    el("tbody", {}, shown.map(row => el("tr", {}, el("td", {}, row.stated || "–"), el("td", {}, row.found || "–"), el("td", {}, state(row)))))));
};

const findingCard = (finding, number) => el("article", { class: "card", id: `finding-${number}`, tabindex: -1 },
  el("p", {}, el("span", { class: `verdict ${toneOf(finding)}` }, NAMES[finding.verdict]), " ", finding.text,
    finding.page && el("span", { class: "note" }, ` (page ${finding.page} of the draft)`)),
  el("p", { class: "note" }, finding.reason),
  comparedTable(finding.compared),
  finding.evidence && evidenceOf(finding.evidence));

const markedDraft = (report, choose) => {
  const chosen = [];
  report.findings.forEach((finding, number) => {
    if (!chosen.some(([other]) => other.start < finding.end && finding.start < other.end)) chosen.push([finding, number]);
  });
  chosen.sort(([one], [other]) => one.start - other.start);
  // Offsets count characters, not the units that JavaScript counts.
  const letters = [...report.draft];
  const parts = [];
  let place = 0;
  for (const [finding, number] of chosen) {
    parts.push(letters.slice(place, finding.start).join(""));
    // Not a button element, which would not wrap like text.
    parts.push(el("span", {
      role: "button", tabindex: 0, class: toneOf(finding), title: NAMES[finding.verdict],
      "aria-label": `${NAMES[finding.verdict]}: ${finding.text}`,
      onclick: () => choose(number),
      onkeydown: event => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        choose(number);
      },
    }, letters.slice(finding.start, finding.end).join("")));
    place = finding.end;
  }
  parts.push(letters.slice(place).join(""));
  return el("div", { class: "draft card" }, parts);
};

const showReport = (place, report) => {
  const choose = number => {
    for (const card of place.querySelectorAll("article")) card.removeAttribute("aria-current");
    const card = place.querySelector(`#finding-${number}`);
    card.setAttribute("aria-current", "true");
    card.scrollIntoView({ block: "nearest" });
    card.focus({ preventScroll: true });
  };
  const faults = report.findings.filter(finding => finding.is_fault).length;
  const outcome = faults ? `${faults} to change` : "no changes needed";
  fill(place,
    el("h2", { tabindex: -1 }, "Report"),
    el("p", {}, `${plural(report.findings.length, "finding")}, ${outcome}.`,
      report.skipped > 0 && ` ${plural(report.skipped, "sentence")} without a form, box, line, amount, date or rule: not checked.`,
      report.unchecked > 0 && ` ${plural(report.unchecked, "statement")} not checked: the time or the number of statements of one request is used up. Split the draft.`),
    el("ul", { class: "tally" }, Object.entries(NAMES).filter(([verdict]) => report.counts[verdict]).map(([verdict, name]) =>
      el("li", { class: TONES[verdict] }, el("b", {}, String(report.counts[verdict])), name))),
    el("div", { class: "split" },
      el("section", { "aria-label": "Draft" }, el("h3", {}, "Draft"), markedDraft(report, choose)),
      el("section", { "aria-label": "Findings" }, el("h3", {}, "Findings"), report.findings.map(findingCard))));
  announce(`${plural(report.findings.length, "finding")}, ${outcome}.`);
};

export const showVerify = async (view, params, { signal }) => {
  document.title = "Check a draft – taxkg";
  const results = el("div", {});
  const text = el("textarea", { id: "draft-text", placeholder: EXAMPLE });
  const file = el("input", { type: "file", accept: ".txt,.md,.pdf,text/plain,text/markdown,application/pdf" });
  text.value = kept.text;
  const check = async event => {
    event.preventDefault();
    const chosen = file.files[0];
    if (!chosen && !text.value.trim()) {
      text.focus();
      return;
    }
    fill(results, el("p", { class: "soft", role: "status" }, "Checking … A page of text takes up to half a minute."));
    try {
      if (chosen && chosen.size > MOST_BYTES) throw new Error("The file is larger than 700 kB: use taxkg verify on the command line.");
      const isPdf = chosen && (chosen.type === "application/pdf" || chosen.name.toLowerCase().endsWith(".pdf"));
      const body = chosen
        ? { name: chosen.name, ...(isPdf ? { pdf: await readBase64(chosen) } : { text: await chosen.text() }) }
        : { text: text.value };
      const report = await postJson("v1/verify", body, signal);
      kept = { text: text.value, report };
      showReport(results, report);
    } catch (error) {
      if (error.name === "AbortError" || signal.aborted) return;
      fill(results, el("p", { class: "card", role: "alert" }, error.message));
    }
  };
  fill(view, el("div", { class: "verify" },
    el("h1", { tabindex: -1 }, "Check a draft"),
    el("p", {}, "Paste a memo, an answer or a help page. Each quotation, and each sentence that names a form, box, line, amount, date or rule, is checked against the library. Name forms with their year."),
    el("form", { onsubmit: check },
      el("label", {}, "Draft", text),
      el("p", { class: "actions within" }, el("label", {}, "or a text, Markdown or PDF file", file), el("button", { type: "submit" }, "Check"))),
    results));
  if (kept.report) showReport(results, kept.report);
};
