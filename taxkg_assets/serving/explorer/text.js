// Text of a passage: lines of a table as a table, everything else as paragraphs.
import { el } from "./dom.js";

const isRow = line => (line.match(/\|/g) ?? []).length >= 1 && !/^https?:/.test(line.trim());

// Between two bars a row is Markdown; else a bar at its beginning follows an empty cell.
const cellsOf = line => {
  const row = line.trim();
  const inner = row.length > 1 && row.startsWith("|") && row.endsWith("|") ? row.slice(1, -1) : row;
  return inner.split("|").map(cell => cell.trim());
};

const isRule = line => /^[\s|:-]+$/.test(line) && line.includes("-");

const bare = cell => cell.replace(/^\*\*(.*)\*\*$/s, "$1");

const isBold = cells => cells.some(Boolean) && cells.filter(Boolean).every(cell => /^\*\*.*\*\*$/s.test(cell));

const tableOf = lines => {
  const hasHead = lines.length > 1 && isRule(lines[1]);
  const rows = lines.filter(line => !isRule(line)).map(cellsOf);
  return el("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Table" }, el("table", {}, rows.map((cells, place) =>
    el("tr", {}, cells.map(cell => el((hasHead && place === 0) || isBold(cells) ? "th" : "td", {}, bare(cell)))))));
};

// A line with the ranges of its characters marked; `offset` is where it begins in the text of the ranges.
const markedLine = (line, offset, ranges) => {
  const parts = [];
  let done = 0;
  for (const range of ranges) {
    const start = Math.max(range.start - offset, done), end = Math.min(range.end - offset, line.length);
    if (start >= end) continue;
    parts.push(line.slice(done, start), el("mark", {}, line.slice(start, end)));
    done = end;
  }
  return [...parts, line.slice(done)].filter(Boolean);
};

export const textBlock = (text, { offset = 0, ranges = [] } = {}) => {
  const blocks = [];
  let place = offset;
  let rows = [];
  const flush = () => {
    if (rows.length > 1) blocks.push(tableOf(rows));
    else if (rows.length) blocks.push(el("div", {}, rows[0]));
    rows = [];
  };
  for (const line of text.split("\n")) {
    const start = place;
    place += line.length + 1;
    if (isRow(line)) { rows.push(line); continue; }
    flush();
    blocks.push(el("div", {}, markedLine(line, start, ranges)));
  }
  flush();
  return blocks;
};

const path = headers => headers.replaceAll(" > ", " › ");

// What a cell means: its value under the headers of its row and its column.
const meaningOf = cell => [cell.row_path && `Row: ${path(cell.row_path)}`, cell.column_path && `Column: ${path(cell.column_path)}`]
  .filter(Boolean).join(" · ") || "No headers were read for this cell.";

const MOVES = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };

const focusCell = (body, from, [down, right]) => {
  const row = body.rows[from.parentNode.rowIndex - body.rows[0].rowIndex + down];
  const next = row && [...row.cells].find(cell => cell.cellIndex === from.cellIndex + right && cell.tabIndex >= -1 && cell.tagName === "TD");
  if (!next) return;
  from.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
};

// Cells of a table with the paths of their headers: the chosen cell's path is shown below. Arrow keys move.
export const cellTable = (table, onCell = () => {}) => {
  const rows = new Map();
  for (const cell of table.cells) {
    const row = rows.get(cell.row) ?? { path: cell.row_path, cells: new Map() };
    row.cells.set(cell.column, cell);
    rows.set(cell.row, row);
  }
  const columns = [...new Set(table.cells.map(cell => cell.column))].sort((one, other) => one - other);
  const titles = columns.map(column => table.cells.find(cell => cell.column === column)?.column_path ?? "");
  const hasRowHeads = [...rows.values()].some(row => row.path);
  const meaning = el("p", { class: "note", role: "status" }, "Choose a cell to see its headers and its place on the page.");
  const body = el("tbody");
  const drawCell = (row, column) => {
    const cell = row.cells.get(column);
    if (!cell) return el("td");
    const show = event => {
      for (const other of body.querySelectorAll("td[aria-selected]")) other.removeAttribute("aria-selected");
      event.currentTarget.setAttribute("aria-selected", "true");
      meaning.textContent = `${meaningOf(cell)} · Value: ${cell.text}`;
      onCell(cell);
    };
    return el("td", {
      tabindex: -1, title: meaningOf(cell), onfocus: show, onclick: event => event.currentTarget.focus(),
      onkeydown: event => {
        const move = MOVES[event.key];
        if (!move) return;
        event.preventDefault();
        focusCell(body, event.currentTarget, move);
      },
    }, cell.text);
  };
  const sorted = [...rows.entries()].sort((one, other) => one[0] - other[0]);
  body.append(...sorted.map(([, row]) => el("tr", {},
    hasRowHeads && (row.path ? el("th", { scope: "row" }, path(row.path)) : el("td", {})), columns.map(column => drawCell(row, column)))));
  const first = body.querySelector("td[tabindex]");
  if (first) first.tabIndex = 0;
  return el("figure", { class: "cells" },
    el("div", { class: "scroll" }, el("table", { role: "grid", "aria-label": table.title || "Table" },
      table.title && el("caption", {}, table.title),
      titles.some(Boolean) && el("thead", {}, el("tr", {},
        hasRowHeads && el("td", {}), titles.map(title => title ? el("th", { scope: "col" }, path(title)) : el("td", {})))),
      body)),
    meaning);
};
