// One entry in detail: the expected entry, the reasons, and the row around it.

/** Text for a cell that may be empty. */
function emptyOr(text, most = 60) {
  return text === null || text === "" ? make("i", { textContent: "empty" }) : quoted(text, most);
}

function startDetail(data, { chosen, decide, leave }) {
  const box = byId("detail");

  function show(cell) {
    if (!cell) {
      box.replaceChildren(make("h3", { id: "detail-title", textContent: "No entry" }), make("p", { className: "muted", textContent: "Nothing matches." }));
      return;
    }
    box.replaceChildren(...head(cell), form(cell), ...reasons(cell), ...around(cell));
  }

  function head(cell) {
    const many = chosen().length;
    const title = make("h3", { id: "detail-title" }, quoted(cell.columnName), make("span", { className: "muted" }, ` in ${data.rowWord} `), quoted(cell.name));
    const parts = [title];
    if (many > 1) parts.push(make("p", { className: "selection", textContent: `${many} entries are selected: your decision applies to all of them.` }));
    const change = make("p", { className: "change" }, make("span", { className: "entry" }, emptyOr(cell.entry, 200)), make("span", { className: "arrow", textContent: " → " }),
      make("span", { className: "suggestion" }, cell.expected === cell.entry ? "not known" : emptyOr(cell.expected, 200)));
    parts.push(change);
    const likely = cell.alternatives.length ? "" : cell.likely;
    const facts = [`${percent(cell.p)} likely wrong`];
    if (cell.expected !== cell.entry) facts.push(`the suggestion ${percent(cell.sure)} likely right`);
    const words = make("p", { className: "muted facts-line" }, facts.join(", "));
    if (likely) words.append("; expected ", quoted(likely, 60));
    parts.push(words);
    return parts;
  }

  function form(cell) {
    const many = chosen().length > 1;
    const made = cell.decision();
    const input = make("input", { type: "text", id: "new-entry", autocomplete: "off", value: made?.text ?? cell.expected ?? "", spellcheck: false });
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") { event.preventDefault(); decide("edit", input.value); leave(); }
      if (event.key === "Escape") { event.preventDefault(); event.stopPropagation(); show(cell); leave(); }
    });
    const button = (label, hint, act, extra = "") => {
      const one = make("button", { type: "button", className: extra, title: hint }, label);
      one.addEventListener("click", act);
      return one;
    };
    const line = make("div", { className: "verdicts", role: "group", "aria-label": "Decide" },
      button("Accept", "use the expected entry (a)", () => decide("accept"), made?.verdict === "accept" ? "on" : ""),
      button("This is right", "keep the entry, and do not list it again (r)", () => decide("right"), made?.verdict === "right" ? "on" : ""),
      button("Clear", "undo the decision (c)", () => decide(null)));
    line.querySelectorAll("button").forEach((one) => one.setAttribute("aria-pressed", String(one.className === "on")));
    const label = make("label", { htmlFor: "new-entry", textContent: many ? "Another entry for all of them" : "Another entry" });
    const edit = make("div", { className: "edit" }, label, make("div", { className: "edit-line" }, input,
      button("Set", "write this entry (Enter)", () => decide("edit", input.value), made?.verdict === "edit" ? "on" : "")));
    const choices = make("div", { className: "choices" });
    for (const [text, chance] of cell.alternatives) {
      if (text === cell.entry) continue;
      const one = button("", "use this entry", () => decide("edit", text ?? ""));
      one.append(emptyOr(text, 40), make("span", { className: "muted", textContent: ` ${percent(chance)}` }));
      choices.append(one);
    }
    const empty = button("leave it empty", "the cell should be empty", () => decide("edit", ""));
    if (cell.entry !== null) choices.append(empty);
    return make("div", { className: "decide" }, line, edit, choices);
  }

  function reasons(cell) {
    if (!cell.why.length) return [];
    const list = make("ul", { className: "reasons" });
    for (const [words, share] of cell.why) {
      const item = make("li", {}, make("bdi", { textContent: words }));
      if (share) {
        const bar = make("span", { className: "share", "aria-hidden": "true" });
        const body = make("i");
        body.style.width = `${100 * share}%`;
        bar.append(body);
        item.append(make("span", { className: "muted number", textContent: ` ${percent(share)}` }), bar);
      }
      list.append(item);
    }
    return [make("h4", { textContent: "Why" }), list];
  }

  function around(cell) {
    const table = make("table", { className: "list compact row-around" }, make("caption", { className: "visually-hidden", textContent: "The row around it" }));
    table.append(make("colgroup", {}, make("col", { className: "of-names" }), make("col")));
    const body = make("tbody");
    for (const [j, text] of cell.row) {
      const entry = make("td", {}, emptyOr(text, 120));
      const other = j === cell.j ? null : data.byKey.get(`${cell.i},${j}`);
      if (other && other.p >= 0.1) entry.append(" ", make("span", { className: "badge", textContent: `${percent(other.p)} wrong` }));
      const line = make("tr", { className: j === cell.j ? "here" : "" }, make("th", { scope: "row" }, quoted(data.columns[j], 40)), entry);
      if (j === data.label) line.classList.add("label");
      body.append(line);
    }
    table.append(body);
    return [make("h4", { textContent: "The row around it" }), make("div", { className: "scroll" }, table)];
  }

  return { show, edit: () => { const input = byId("new-entry"); input?.focus(); input?.select(); } };
}
