// What moved: columns, rows and cells, each as a list of bars from the value before to the value after.

function startMoves(name, { unit, named, before, after, certain }) {
  const total = before.length;
  const reach = [Math.min(0, ...before, ...after), Math.max(0, ...before, ...after)];
  const largest = Math.max(1e-6, ...before.map((from, k) => Math.abs(after[k] - from)));
  const shown = { factor: 1, decimals: Math.min(6, Math.max(1, 1 - Math.floor(Math.log10(largest)))) };
  const signed = (change) => (numberText(change, shown).replace(/^(?=[\d.])/, change > 0 ? "+" : "")).replace(/^\+(0(\.0+)?)$/, "$1");

  function line(k) {
    const edited = named.entry && named.entry[k] !== named.entry_before[k];
    const texts = Object.entries(named).map(([heading, texts]) => make("td", { className: "text" },
      make("span", { className: edited && heading.startsWith("entry") ? "entry" : "" }, entryNode(texts[k]))));
    const [from, to] = [before[k], after[k]];
    const numbers = [numberText(from, shown), numberText(to, shown), signed(to - from)];
    const cells = numbers.map((text) => make("td", { className: "right number", textContent: text }));
    return make("tr", { className: certain[k] ? "" : "muted" }, ...texts, make("td", { className: "bars" }, bar({ from, to }, reach)), ...cells);
  }

  function show(page) {
    const names = [...Object.keys(named).map((text) => [text.replace("_", " ")]), [unit, "bars"], ["before", "right"], ["after", "right"], ["change", "right"]];
    const caption = make("caption", { className: "visually-hidden", textContent: `How the values of the ${name} moved` });
    const lines = Array.from({ length: Math.min(25, total - 25 * page) }, (_, k) => line(25 * page + k));
    byId(`${name}-list`).replaceChildren(caption, headRow(names), make("tbody", {}, ...lines));
    fillPager(byId(`${name}-pager`), { page, size: 25, total, what: name, show });
  }

  show(0);
}

startPage(async () => {
  const record = JSON.parse(byId("record").textContent);
  for (const [name, part] of Object.entries(record)) startMoves(name, part);
});
