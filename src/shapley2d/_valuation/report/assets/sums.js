// Values of the columns and of the rows as bars, and the values as a plain table for those who cannot see the map.

const PAGE = 25;

function startColumns(table) {
  const reach = reachOf(table.columns, (j) => table.columnErrors[j]);
  const orders = {
    high: (a, b) => table.columns[b] - table.columns[a],
    low: (a, b) => table.columns[a] - table.columns[b],
    original: (a, b) => a - b,
    name: (a, b) => table.columnNames[a].localeCompare(table.columnNames[b]),
  };
  const typical = table.typical.some((words) => words);

  function line(j) {
    const [value, error] = [table.columns[j], table.columnErrors[j]];
    const parts = [
      make("th", { scope: "row", className: "text" }, quoted(table.columnNames[j])),
      make("td", { className: "bars" }, bar({ to: value, low: value - interval(error), high: value + interval(error) }, reach)),
      make("td", { className: "right number", "data-name": table.columnUnit.heading, textContent: worthText(value, error, table.columnUnit) }),
    ];
    if (table.total) parts.push(make("td", { className: "right number share", "data-name": "share", textContent: shareText(value, table.total) }));
    if (typical) parts.push(make("td", { className: "typical" }, quoted(table.typical[j], 160)));
    return make("tr", {}, ...parts);
  }

  function show(page) {
    const order = Array.from({ length: table.m }, (_, j) => j).sort(orders[byId("column-sort").value]);
    const names = [[table.columnNouns[0]], ["", "bars"], [table.columnUnit.heading, "right"]];
    if (table.total) names.push(["share", "right share"]);
    if (typical) names.push(["typical entries", "typical"]);
    const caption = make("caption", { className: "visually-hidden", textContent: `Values of the ${table.columnNouns[1]}` });
    const lines = order.slice(page * PAGE, (page + 1) * PAGE).map(line);
    byId("column-list").replaceChildren(caption, headRow(names), make("tbody", {}, ...lines));
    fillPager(byId("column-pager"), { page, size: PAGE, total: table.m, what: table.columnNouns[1], show });
  }

  byId("column-sort").addEventListener("change", () => show(0));
  show(0);
}

function startRows(table, { onRow }) {
  const reach = reachOf(table.rows, (i) => table.rowError(i));
  let order = [];

  function arrange() {
    const by = byId("row-sort").value;
    order = table.rowOrder(by === "original" ? by : "value");
    if (by === "high") order.reverse();
    const words = byId("row-search").value.trim().toLowerCase();
    if (words) order = order.filter((i) => table.rowName(i).toLowerCase().includes(words) || (table.label(i) ?? "").toLowerCase().includes(words));
    show(0);
  }

  function line(i) {
    const [value, error] = [table.rows[i], table.rowError(i)];
    const button = make("button", { type: "button", className: "link", "aria-label": `Show ${table.rowWord} ${table.rowName(i)}` }, quoted(table.rowName(i), 40));
    button.addEventListener("click", () => onRow(i));
    const parts = [make("th", { scope: "row", className: "text" }, button)];
    if (table.labelCodes) parts.push(make("td", { className: "text" }, quoted(table.label(i), 40)));
    parts.push(make("td", { className: "bars" }, bar({ to: value, low: value - interval(error), high: value + interval(error) }, reach)));
    parts.push(make("td", { className: "right number", textContent: worthText(value, error, table.rowUnit, table.rowScale) }));
    return make("tr", {}, ...parts);
  }

  function show(page) {
    const names = [[table.rowWord], ...(table.labelCodes ? [["label"]] : []), ["", "bars"], [table.rowUnit.heading, "right"]];
    const caption = make("caption", { className: "visually-hidden", textContent: `Values of the ${table.rowNouns[1]}` });
    const lines = Array.from(order.slice(page * PAGE, (page + 1) * PAGE), line);
    byId("row-list").replaceChildren(caption, headRow(names), make("tbody", {}, ...lines));
    fillPager(byId("row-pager"), { page, size: PAGE, total: order.length, what: table.rowNouns[1], show });
  }

  byId("row-sort").addEventListener("change", arrange);
  byId("row-search").addEventListener("input", arrange);
  arrange();
}

function reachOf(values, errorAt) {
  let [low, high] = [0, 0];
  values.forEach((value, k) => {
    low = Math.min(low, value - interval(errorAt(k)));
    high = Math.max(high, value + interval(errorAt(k)));
  });
  return [low, high];
}

/** The map's values as pages of an ordinary table, in the map's order. */
function startTableView(table, { map, onReorder }) {
  const [rowsPerPage, columnsPerPage] = [20, 12];
  const box = byId("table-view");
  let across = 0;

  function show(page) {
    const columns = Array.from(map.columnOrder.slice(across * columnsPerPage, (across + 1) * columnsPerPage));
    const rows = map.rowOrder.slice(page * rowsPerPage, (page + 1) * rowsPerPage);
    const lines = Array.from(rows, (i) => make("tr", {}, make("th", { scope: "row" }, quoted(table.rowName(i), 30)),
      ...columns.map((j) => make("td", { className: "right number", textContent: table.valueText(i, j) }))));
    const names = columns.map((j) => make("th", { scope: "col", className: "right" }, quoted(table.columnNames[j], 18)));
    const head = make("thead", {}, make("tr", {}, make("th", { scope: "col", textContent: table.rowWord }), ...names));
    const caption = make("caption", { textContent: `Values of the ${table.noun}s, ${table.unit.heading}` });
    byId("value-table").replaceChildren(caption, head, make("tbody", {}, ...lines));
    const [down, sideways] = [make("span", { className: "pager" }), make("span", { className: "pager" })];
    fillPager(down, { page, size: rowsPerPage, total: table.n, what: "rows", show });
    fillPager(sideways, { page: across, size: columnsPerPage, total: table.m, what: "columns", show: (to) => { across = to; show(page); } });
    byId("table-pager").replaceChildren(down, sideways);
  }

  box.addEventListener("toggle", () => { if (box.open) show(0); });
  onReorder(() => { if (box.open) show(0); });
}
