// Text of a passage: lines of a table as a table, everything else as paragraphs.
import { el } from "./dom.js";

const isRow = line => (line.match(/\|/g) ?? []).length >= 1 && !/^https?:/.test(line.trim());

const cellsOf = line => line.replace(/^\s*\|/, "").replace(/\|\s*$/, "").split("|").map(cell => cell.trim());

const isRule = line => /^[\s|:-]+$/.test(line) && line.includes("-");

const tableOf = lines => {
  const hasHead = lines.length > 1 && isRule(lines[1]);
  const rows = lines.filter(line => !isRule(line)).map(cellsOf);
  return el("div", { class: "scroll" }, el("table", {}, rows.map((cells, place) =>
    el("tr", {}, cells.map(cell => el(hasHead && place === 0 ? "th" : "td", {}, cell))))));
};

export const textBlock = text => {
  const blocks = [];
  let rows = [];
  const flush = () => {
    if (rows.length > 1) blocks.push(tableOf(rows));
    else if (rows.length) blocks.push(el("div", {}, rows[0]));
    rows = [];
  };
  for (const line of text.split("\n")) {
    if (isRow(line)) { rows.push(line); continue; }
    flush();
    blocks.push(el("div", {}, line));
  }
  flush();
  return blocks;
};

// Cells of a table with the paths of their headers, as a table with header rows.
export const cellTable = table => {
  const rows = new Map();
  for (const cell of table.cells) {
    const row = rows.get(cell.row) ?? { path: cell.row_path, cells: new Map() };
    row.cells.set(cell.column, cell);
    rows.set(cell.row, row);
  }
  const columns = [...new Set(table.cells.map(cell => cell.column))].sort((one, other) => one - other);
  const titles = columns.map(column => table.cells.find(cell => cell.column === column)?.column_path ?? "");
  const hasRowHeads = [...rows.values()].some(row => row.path);
  return el("div", { class: "scroll" }, el("table", {},
    table.title && el("caption", {}, table.title),
    titles.some(Boolean) && el("thead", {}, el("tr", {},
      hasRowHeads && el("td", {}), titles.map(title => el("th", { scope: "col" }, title.replaceAll(" > ", " › "))))),
    el("tbody", {}, [...rows.entries()].sort((one, other) => one[0] - other[0]).map(([, row]) => el("tr", {},
      hasRowHeads && el("th", { scope: "row" }, row.path.replaceAll(" > ", " › ")),
      columns.map(column => el("td", {}, row.cells.get(column)?.text ?? "")))))));
};
