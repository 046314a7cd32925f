// One row in detail: a waterfall of its cells that adds up to its value.

const MAX_STEPS = 16;

function showRow(table, i, j = null) {
  const what = `${table.rowWord[0].toUpperCase()}${table.rowWord.slice(1)} `;
  byId("row-title").replaceChildren(what, quoted(table.rowName(i)));
  const order = Array.from({ length: table.m }, (_, column) => column);
  order.sort((a, b) => Math.abs(table.value(i, b)) - Math.abs(table.value(i, a)));
  const shown = order.length > MAX_STEPS ? order.slice(0, MAX_STEPS - 1) : order;
  if (j !== null && !shown.includes(j)) shown[shown.length - 1] = j;
  const steps = shown.map((column) => ({ column, value: table.value(i, column), error: table.error(i, column) }));
  const rest = table.rows[i] - steps.reduce((sum, step) => sum + step.value, 0);
  if (order.length > shown.length) steps.push({ column: null, value: rest, error: 0 });
  byId("row-words").replaceChildren(...rowWords(table, i));
  byId("waterfall").replaceChildren(...waterfall(table, i, j, steps, order.length - shown.length));
}

function rowWords(table, i) {
  const words = [];
  if (table.label(i) !== null) words.push("labelled ", quoted(table.label(i)), "; ");
  words.push(`worth ${worthText(table.rows[i], table.rowError(i), table.rowUnit, table.rowScale)}${table.rowUnit.suffix}`);
  words.push(`${shareWords(table, i)}; from its ${table.noun}s, largest first.`);
  return words;
}

/** Where a row stands, as a share of all rows: if the page has them all, and its sign is certain. */
function shareWords(table, i) {
  const harms = table.rows[i] < 0;
  if (table.n < table.nRows || Math.abs(table.rows[i]) <= interval(table.rowError(i))) return "";
  const behind = table.rows.filter((value) => (harms ? value <= table.rows[i] : value >= table.rows[i])).length;
  const share = Math.ceil((100 * behind) / table.n);
  return share > 50 ? "" : `, among the ${share} % most ${harms ? "harmful" : "valuable"} ${table.rowNouns[1]}`;
}

function waterfall(table, i, j, steps, others) {
  let end = 0;
  const bars = steps.map((step) => {
    const from = end;
    end += step.value;
    return { ...step, from, to: end, low: end - interval(step.error), high: end + interval(step.error) };
  });
  const error = interval(table.rowError(i));
  const total = { from: 0, to: table.rows[i], low: table.rows[i] - error, high: table.rows[i] + error };
  const ends = [0, ...[...bars, total].flatMap((one) => [one.from, one.to, one.low, one.high])];
  const scale = [Math.min(...ends), Math.max(...ends)];
  const largest = Math.max(...steps.map((step) => Math.abs(step.value)));
  const unit = { ...table.unit, decimals: decimalsOf(numberText(largest, table.unit)) };
  const rows = bars.map((step) => waterfallStep(table, i, j, step, others, scale, unit));
  const last = make("tr", { className: "total" }, make("th", { scope: "row", colSpan: table.hasEntries ? 2 : 1, textContent: `the ${table.rowNoun}'s value` }));
  last.append(make("td", { className: "bars" }, bar(total, scale)));
  last.append(make("td", { className: "right number", textContent: numberText(table.rows[i], unit) }));
  const entry = table.hasEntries ? [["entry", "what"]] : [];
  const head = headRow([["column", "name"], ...entry, ["adds up", "bars"], [table.unit.heading, "right"]]);
  return [make("caption", { className: "visually-hidden", textContent: `What the ${table.rowNoun}'s value is made of` }), head, make("tbody", {}, ...rows, last)];
}

function waterfallStep(table, i, j, step, others, scale, unit) {
  const name = make("th", { scope: "row", className: "name" });
  const entry = make("td", { className: "what" });
  if (step.column === null) {
    name.append(`${others} other columns`);
    name.colSpan = table.hasEntries ? 2 : 1;
  } else {
    if (table.isMarked(i, step.column)) name.append(make("span", { className: "ring small", role: "img", "aria-label": "marked" }));
    name.append(quoted(table.columnNames[step.column]));
    name.title = table.columnNames[step.column];
    if (table.hasEntries) {
      entry.append(entryNode(table.entry(i, step.column)));
      entry.title = table.entry(i, step.column) ?? "missing";
    }
  }
  const value = make("td", { className: "right number", textContent: numberText(step.value, unit) });
  const parts = [name, ...(table.hasEntries && step.column !== null ? [entry] : []), make("td", { className: "bars" }, bar(step, scale)), value];
  return make("tr", { className: step.column === j ? "here" : "" }, ...parts);
}
