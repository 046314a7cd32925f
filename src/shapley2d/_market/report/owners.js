// The grid of blocks, and the bars of the payments.

const MAX_BLOCKS = 600;

function drawBlocks(table, palette) {
  const grid = byId("block-grid");
  if (!grid) return;
  if (table.n * table.m > MAX_BLOCKS) {
    grid.replaceChildren(make("caption", { textContent: "There are too many blocks for a grid: see the map below." }));
    return;
  }
  const owners = new Map(table.owners.map(([i, j, name]) => [i * table.m + j, name]));
  const names = table.columnNames.map((name) => make("th", { scope: "col" }, quoted(name)));
  const lines = Array.from({ length: table.n }, (_, i) => {
    const cells = Array.from({ length: table.m }, (_, j) => blockCell(table, palette, i, j, owners.get(i * table.m + j)));
    return make("tr", {}, make("th", { scope: "row" }, quoted(table.rowName(i))), ...cells);
  });
  const caption = make("caption", { textContent: `Values of the blocks, ${table.unit.heading}` });
  grid.replaceChildren(caption, make("thead", {}, make("tr", {}, make("td"), ...names)), make("tbody", {}, ...lines));
}

function blockCell(table, palette, i, j, owner) {
  const [value, error] = [table.value(i, j), interval(table.error(i, j))];
  const cell = make("td", {}, make("strong", { className: "number", textContent: table.valueText(i, j) }));
  if (error > 0) cell.append(make("span", { className: "number", textContent: `${numberText(value - error, table.unit)} to ${numberText(value + error, table.unit)}` }));
  if (owner !== undefined) cell.append(make("span", {}, quoted(owner, 40)));
  const shade = cssShade(palette, paletteIndex(value, table.limit * 1.4));
  cell.style.background = shade.background;
  cell.style.color = shade.ink;
  return cell;
}

function drawPayments() {
  const cells = [...document.querySelectorAll("#payment-list td.bars")];
  const lines = cells.map(({ dataset }) => ({ to: Number(dataset.value), low: Number(dataset.low ?? dataset.value), high: Number(dataset.high ?? dataset.value) }));
  const ends = [0, ...lines.flatMap(({ to, low, high }) => [to, low, high])];
  cells.forEach((cell, k) => cell.replaceChildren(bar(lines[k], [Math.min(...ends), Math.max(...ends)])));
}

drawings.push(drawBlocks, drawPayments);
