// The list of the most harmful cells: filtered, with the row's context, and as a download.

const FIRST_CELLS = 25;

function csvLines(table, cells) {
  const head = [table.rowWord, "column", "entry", "value", "stderr", "label", "typical", "marked"];
  const lines = cells.map(({ i, j, value, error }) => [
    table.rowName(i), table.columnNames[j], table.hasEntries ? table.entry(i, j) : "", value, error,
    table.label(i), table.typical[j], table.isMarked(i, j) ? "yes" : "",
  ]);
  return [head, ...lines];
}

/** Other entries of a cell's row, those next to it first. */
function contextNode(table, i, j, most = 6) {
  const others = Array.from({ length: table.m }, (_, k) => k).filter((k) => k !== j);
  others.sort((a, b) => Math.abs(a - j) - Math.abs(b - j));
  const near = others.slice(0, most).sort((a, b) => a - b);
  const parts = near.flatMap((k, place) => [place ? ", " : "", quoted(table.columnNames[k], 24), " ", entryNode(table.entry(i, k), 24)]);
  return make("span", {}, ...parts, others.length > most ? ", …" : "");
}

/** Everything about a cell that a search may find, in lower case. */
function searchText(table, { i, j }) {
  const entries = table.hasEntries ? Array.from({ length: table.m }, (_, k) => table.entry(i, k) ?? "missing") : [];
  return [table.rowName(i), table.columnNames[j], table.label(i) ?? "", ...entries].join("\n").toLowerCase();
}

function startCells(table, { onCell }) {
  const cells = table.lowest.map(([i, j, value, error], rank) => ({ i, j, value, error, rank: rank + 1 }));
  const reach = [Math.min(0, ...cells.map((cell) => cell.value - interval(cell.error))), Math.max(0, ...cells.map((cell) => cell.value + interval(cell.error)))];
  const select = byId("cell-column");
  for (const j of [...new Set(cells.map((cell) => cell.j))].sort((a, b) => a - b)) {
    select.append(make("option", { value: String(j), textContent: table.columnNames[j].slice(0, 60) }));
  }
  let all = false;

  function matching() {
    const words = byId("cell-search").value.trim().toLowerCase();
    const marked = byId("cell-marked")?.checked;
    return cells.filter((cell) => (select.value === "" || cell.j === Number(select.value))
      && (!marked || table.isMarked(cell.i, cell.j))
      && (words === "" || (cell.text ??= searchText(table, cell)).includes(words)));
  }

  function line(cell) {
    const { i, j, value, error, rank } = cell;
    const button = make("button", { type: "button", className: "link", "aria-label": `Show ${table.rowWord} ${table.rowName(i)}` }, quoted(table.rowName(i), 40));
    button.addEventListener("click", () => onCell(i, j));
    const name = make("td", { className: "text" }, quoted(table.columnNames[j]));
    if (table.isMarked(i, j)) name.append(make("span", { className: "badge", textContent: "marked" }));
    const worth = worthText(value, error, table.unit);
    const parts = [make("td", { className: "right muted number rank", textContent: String(rank) }), make("td", { className: "row", "data-name": table.rowWord }, button), name];
    if (table.hasEntries) {
      parts.push(make("td", { className: "text", "data-name": "entry" }, make("span", { className: "entry" }, entryNode(table.entry(i, j)))));
      parts.push(make("td", { className: "typical", "data-name": "typical:" }, quoted(table.typical[j], 120)));
    }
    parts.push(make("td", { className: "right number", "data-name": table.unit.heading }, worth, bar({ to: value, low: value - interval(error), high: value + interval(error) }, reach)));
    if (table.labelCodes) parts.push(make("td", { className: "text", "data-name": "label" }, quoted(table.label(i), 40)));
    if (table.hasEntries) parts.push(make("td", { className: "context" }, contextNode(table, i, j)));
    return make("tr", {}, ...parts);
  }

  function show() {
    const found = matching();
    const shown = all ? found : found.slice(0, FIRST_CELLS);
    const names = [["", "right"], [table.rowWord], ["column"]];
    if (table.hasEntries) names.push(["entry"], ["typical in the column"]);
    names.push([table.unit.heading, "right"]);
    if (table.labelCodes) names.push(["label"]);
    if (table.hasEntries) names.push(["the row's other entries"]);
    const caption = make("caption", { className: "visually-hidden", textContent: `The most harmful ${table.noun}s` });
    byId("cell-list").replaceChildren(caption, headRow(names), make("tbody", {}, ...shown.map(line)));
    byId("cell-count").textContent = found.length ? `${found.length} ${table.noun}${found.length === 1 ? "" : "s"}` : `no ${table.noun} matches`;
    byId("cell-download").disabled = !found.length;
    byId("cell-more").hidden = shown.length === found.length;
    byId("cell-more").textContent = `Show all ${found.length}`;
  }

  for (const id of ["cell-search", "cell-column", "cell-marked"]) byId(id)?.addEventListener("input", show);
  byId("cell-more").addEventListener("click", () => { all = true; show(); });
  byId("cell-download").addEventListener("click", () => downloadCsv(`harmful-${table.noun}s.csv`, csvLines(table, matching())));
  addEventListener("beforeprint", () => { all = true; show(); });
  show();
}
