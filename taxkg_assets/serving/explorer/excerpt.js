// The part of a passage that matters: the words that an answer quotes, or else the paragraph that matches, with context.

const CONTEXT = 140;
const SHORT_LINE = 90;
const SHORTEST_QUOTE = 20;

// A quote may begin with a run-in heading that the passage prints elsewhere.
const findQuote = (text, quote) => {
  const parts = quote.split(" ");
  for (let skipped = 0; skipped < parts.length; skipped += 1) {
    const rest = parts.slice(skipped).join(" ");
    if (skipped && rest.length < SHORTEST_QUOTE) return null;
    const start = text.indexOf(rest);
    if (start >= 0) return { start, end: start + rest.length };
  }
  return null;
};

// Ranges of characters of a passage that the pieces of an answer quote, in reading order, without overlaps.
export const quotedRanges = (text, pieces) => {
  const ranges = [];
  for (const range of pieces.map(piece => findQuote(text, piece.text)).filter(Boolean).sort((one, other) => one.start - other.start)) {
    const last = ranges.at(-1);
    if (last && range.start <= last.end + 1) last.end = Math.max(last.end, range.end);
    else ranges.push(range);
  }
  return ranges;
};

const lineAround = (text, { start, end }) => {
  const before = text.lastIndexOf("\n", start - 1) + 1;
  const after = text.indexOf("\n", Math.max(start, end - 1));
  return { start: before, end: after < 0 ? text.length : after };
};

// A short line above is a heading or the beginning of the thought.
const withHeading = (text, line) => {
  if (!line.start) return line;
  const above = lineAround(text, { start: line.start - 1, end: line.start - 1 });
  return above.end - above.start <= SHORT_LINE ? { ...line, start: above.start } : line;
};

// In a long paragraph the words before the quote are cut to some.
const cutBefore = (text, line, quote) => {
  if (quote.start - line.start <= 2 * CONTEXT) return withHeading(text, line);
  return { ...line, start: text.indexOf(" ", quote.start - CONTEXT) + 1 };
};

const SHOWN_LINES = 6;

// Where the text that matches begins: where the match begins, or at a later line that has more of the question's words
// than the lines that would be shown.
const matchStart = (text, hitStart, countWords) => {
  let start = hitStart;
  const lines = text.slice(hitStart).split("\n").map(line => {
    const own = { start, words: countWords(line) };
    start += line.length + 1;
    return own;
  });
  const most = own => Math.max(0, ...own.map(line => line.words));
  const best = most(lines);
  if (most(lines.slice(0, SHOWN_LINES)) >= best) return hitStart;
  return withHeading(text, lines.find(line => line.words === best)).start;
};

// What a closed card shows: the lines of the quotes with their headings; without a quote, the text from the match on.
// `countWords` counts the words of the question in a line.
export const excerptOf = (text, ranges, { hitStart = 0, countWords }) => {
  if (!ranges.length) return [{ start: matchStart(text, hitStart, countWords), end: text.length }];
  const parts = [];
  for (const range of ranges) {
    const part = cutBefore(text, lineAround(text, range), range);
    const last = parts.at(-1);
    if (last && part.start <= last.end + 1) last.end = Math.max(last.end, part.end);
    else parts.push(part);
  }
  return parts;
};
