// Findings about whole columns, each with a button for all that it suggests.

function startFindings(data, decisions) {
  const list = byId("finding-list");
  if (!list) return;

  function draw() {
    list.replaceChildren(...data.findings.map(item));
  }

  function item(finding) {
    const head = make("p", { className: "finding" }, make("span", { className: "badge kind", textContent: finding.kind }), " ", make("bdi", { textContent: finding.text }));
    const box = make("li", {}, head);
    if (!finding.changes.length) return box;
    const cells = finding.changes.map((change) => change.cell);
    const done = cells.filter((cell) => decisions.get(cell)?.verdict === "accept" && decisions.get(cell).text === cell.suggested.get(finding)).length;
    const all = done === cells.length;
    const count = cells.length.toLocaleString("en");
    const button = make("button", { type: "button", textContent: all ? `Take back (${count})` : `Accept ${cells.length === 1 ? "its suggestion" : `its ${count} suggestions`}` });
    button.addEventListener("click", () => {
      const place = data.findings.indexOf(finding);
      if (all) decisions.set(cells, null);
      else decisions.set(cells, "accept", (cell) => cell.suggested.get(finding));
      list.children[place].querySelector("button")?.focus();
    });
    const examples = make("ul", { className: "examples" });
    for (const { cell } of finding.changes.slice(0, 3)) {
      examples.append(make("li", {}, make("span", { className: "muted" }, "row ", quoted(cell.name, 24), " "), make("span", { className: "entry" }, emptyOr(cell.entry, 40)),
        make("span", { className: "arrow", textContent: " → " }), make("span", { className: "suggestion" }, emptyOr(cell.suggested.get(finding), 40))));
    }
    box.append(examples, make("p", { className: "accept-all" }, button));
    if (done && !all) box.lastChild.append(make("span", { className: "muted", textContent: ` ${done} accepted` }));
    return box;
  }

  decisions.listeners.push(draw);
  draw();
}
