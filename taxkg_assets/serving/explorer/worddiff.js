// Words that differ between two texts: a longest common subsequence over words, with the white space after them, and marks.
import { el } from "./dom.js";

// Above this product of lengths all words between the common beginning and end count as changed; a page of instructions has about 900 words.
const MOST_CELLS = 6_000_000;

const splitWords = text => text.match(/\S*[^\s,;:.)]\s*|[,;:.)]+\s*/g) ?? [];

const bare = word => word.trim();

// Rows [kept | removed | added, words], in the order of reading.
export const diffWords = (before, after) => {
  const old = splitWords(before), young = splitWords(after);
  let head = 0, tail = 0;
  while (head < old.length && head < young.length && bare(old[head]) === bare(young[head])) head += 1;
  while (tail < old.length - head && tail < young.length - head
    && bare(old[old.length - 1 - tail]) === bare(young[young.length - 1 - tail])) tail += 1;
  const changes = [["kept", young.slice(0, head)]];
  changes.push(...alignMiddle(old.slice(head, old.length - tail), young.slice(head, young.length - tail)));
  changes.push(["kept", young.slice(young.length - tail)]);
  return changes.filter(([, words]) => words.length).map(([kind, words]) => [kind, words.join("")]);
};

const alignMiddle = (old, young) => {
  if (!old.length || !young.length || old.length * young.length > MOST_CELLS) return [["removed", old], ["added", young]];
  const width = young.length + 1;
  const length = new Uint16Array((old.length + 1) * width);
  for (let row = old.length - 1; row >= 0; row -= 1) {
    for (let column = young.length - 1; column >= 0; column -= 1) {
      length[row * width + column] = bare(old[row]) === bare(young[column])
        ? length[(row + 1) * width + column + 1] + 1
        : Math.max(length[(row + 1) * width + column], length[row * width + column + 1]);
    }
  }
  const changes = [];
  const add = (kind, word) => {
    if (changes.at(-1)?.[0] === kind) changes.at(-1)[1].push(word);
    else changes.push([kind, [word]]);
  };
  let row = 0, column = 0;
  while (row < old.length || column < young.length) {
    const isSame = row < old.length && column < young.length && bare(old[row]) === bare(young[column]);
    if (isSame) { add("kept", young[column]); row += 1; column += 1; }
    else if (column === young.length || (row < old.length && length[(row + 1) * width + column] >= length[row * width + column + 1])) { add("removed", old[row]); row += 1; }
    else { add("added", young[column]); column += 1; }
  }
  return changes;
};

// The older text with what was removed marked.
export const showBefore = changes => changes.filter(([kind]) => kind !== "added")
  .map(([kind, words]) => kind === "removed" ? el("del", {}, words) : words);

// The newer text with what was added marked.
export const showAfter = changes => changes.filter(([kind]) => kind !== "removed")
  .map(([kind, words]) => kind === "added" ? el("ins", {}, words) : words);

// One text with both marked.
export const showBoth = changes => changes.map(([kind, words]) =>
  kind === "kept" ? words : el(kind === "removed" ? "del" : "ins", {}, words));

export const isSameText = (before, after) => splitWords(before).map(bare).join(" ") === splitWords(after).map(bare).join(" ");
