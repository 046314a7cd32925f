// Findings about whole columns, each with a button that accepts all its sure suggestions.

const FIRST_FINDINGS = 6;

function startFindings(data, decisions) {
  const list = byId("finding-list");
  if (!list) return;

  const more = byId("more-findings");
  let all = data.findings.length <= FIRST_FINDINGS + 2;

  function draw() {
    list.replaceChildren(...(all ? data.findings : data.findings.slice(0, FIRST_FINDINGS)).map(item));
    more.hidden = all;
    more.textContent = `Show all ${data.findings.length} findings`;
  }

  more.addEventListener("click", () => { all = true; draw(); });
  addEventListener("beforeprint", () => { all = true; draw(); });

  function item(finding) {
    const head = make("p", { className: "finding" }, make("span", { className: "badge kind", textContent: finding.kind }), " ", make("bdi", { textContent: finding.text }));
    if (finding.p > 0) head.append(make("span", { className: "muted", textContent: ` (${percent(finding.p)} likely wrong)` }));
    const box = make("li", {}, head);
    if (finding.examples.length) {
      const examples = make("ul", { className: "examples" });
      for (const [name, entry, ...suggestion] of finding.examples) {
        const line = make("li", {}, make("span", { className: "muted" }, `${data.rowWord} `, quoted(name, 24), " "), make("span", { className: "entry" }, emptyOr(entry, 40)));
        if (suggestion.length) line.append(make("span", { className: "arrow", textContent: " → " }), make("span", { className: "suggestion" }, emptyOr(suggestion[0], 40)));
        examples.append(line);
      }
      box.append(examples);
    }
    if (!finding.changes.length) {
      if (finding.examples.some((example) => example.length > 2)) box.append(make("p", { className: "muted", textContent: "Too uncertain to accept them all at once: decide in the list." }));
      return box;
    }
    const cells = finding.changes.map((change) => change.cell);
    const done = cells.filter((cell) => decisions.get(cell)?.verdict === "accept" && decisions.get(cell).text === cell.suggested.get(finding)).length;
    const taken = done === cells.length;
    const count = cells.length.toLocaleString("en");
    const button = make("button", { type: "button", textContent: taken ? `Undo (${count})` : `Accept ${cells.length === 1 ? "its sure suggestion" : `its ${count} sure suggestions`}` });
    button.addEventListener("click", () => {
      const place = data.findings.indexOf(finding);
      if (taken) decisions.set(cells, null);
      else decisions.set(cells, "accept", (cell) => cell.suggested.get(finding));
      list.children[place].querySelector("button")?.focus();
    });
    box.append(make("p", { className: "accept-all" }, button));
    if (done && !taken) box.lastChild.append(make("span", { className: "muted", textContent: ` ${done} accepted` }));
    return box;
  }

  decisions.listeners.push(draw);
  draw();
}
