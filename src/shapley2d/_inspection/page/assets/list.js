// The list of suspects: ordered, filtered, moved through and decided on by mouse and keyboard.

const CHUNK = 60;

const percent = (share) => (share > 0 && share < 0.005 ? "< 1 %" : `${Math.round(100 * share)} %`);

class SuspectList {
  constructor(data, decisions, { onMove }) {
    Object.assign(this, { data, decisions, onMove });
    this.table = byId("suspects");
    this.shown = CHUNK;
    this.place = 0;
    this.anchor = 0;
    this.picked = new Set();
    const select = byId("filter-column");
    for (const j of [...new Set(data.cells.map((cell) => cell.j))].sort((a, b) => a - b)) {
      select.append(make("option", { value: String(j), textContent: data.columns[j].slice(0, 60) }));
    }
    for (const id of ["filter-column", "filter-state", "search"]) byId(id).addEventListener("input", () => this.find());
    byId("more").addEventListener("click", () => { this.shown += 5 * CHUNK; this.draw(); });
    this.find();
  }

  get current() { return this.found[this.place] ?? null; }

  /** The cells that a decision is about: the selection, or the one in view. */
  chosen() {
    const picked = this.found.filter((cell) => this.picked.has(cell));
    return picked.length ? picked : this.current ? [this.current] : [];
  }

  find() {
    const column = byId("filter-column").value;
    const state = byId("filter-state").value;
    const words = byId("search").value.trim().toLowerCase();
    const here = this.current_ ?? null;
    this.found = this.data.cells.filter((cell) => (column === "" || cell.j === Number(column))
      && (state === "" || (state === "decided") === (this.decisions.get(cell) !== null))
      && (words === "" || cell.text().includes(words)));
    this.found.sort((a, b) => b.p - a.p || a.rank - b.rank);
    const isLabel = (cell) => Number(cell.j === this.data.label);
    this.found.sort((a, b) => isLabel(a) - isLabel(b));
    this.labels = this.found.findIndex(isLabel);
    this.picked.clear();
    this.shown = CHUNK;
    this.place = Math.max(0, here ? this.found.indexOf(here) : 0);
    this.anchor = this.place;
    this.draw();
    this.moved();
  }

  draw() {
    while (this.place >= this.shown) this.shown += CHUNK;
    const names = [["", "state"], [this.data.rowWord], ["column"], ["entry → expected"], ["wrong", "right"], ["sure", "right"], ["why"], [""]];
    const lines = this.found.slice(0, this.shown).map((cell, place) => this.line(cell, place));
    if (this.labels >= 0 && this.labels < lines.length) {
      lines.splice(this.labels, 0, make("tr", { className: "part" }, make("th", { colSpan: names.length, scope: "rowgroup", textContent: "Labels to check" })));
    }
    const empty = make("tr", {}, make("td", { colSpan: names.length, className: "muted", textContent: "no entry matches" }));
    this.table.replaceChildren(headRow(names), make("tbody", {}, ...(lines.length ? lines : [empty])));
    byId("more").hidden = this.found.length <= this.shown;
    byId("more").textContent = `Show more (${(this.found.length - this.shown).toLocaleString("en")} left)`;
  }

  line(cell, place) {
    const line = make("tr", { role: "row", tabIndex: -1 });
    line.dataset.place = String(place);
    const state = make("td", { className: "state", role: "gridcell" });
    const name = make("td", { className: "row", role: "gridcell", "data-name": this.data.rowWord }, quoted(cell.name, 24));
    const column = make("td", { className: "text", role: "gridcell" }, quoted(cell.columnName, 40));
    if (cell.j === this.data.label) column.append(make("span", { className: "badge", textContent: "label" }));
    const change = make("td", { className: "text change", role: "gridcell" });
    const wrong = make("td", { className: "right number wrong", role: "gridcell", "data-name": "wrong" }, percent(cell.p), meter(cell.p));
    const known = cell.expected !== cell.entry;
    const sure = make("td", { className: "right number sure", role: "gridcell", "data-name": "sure" }, known ? percent(cell.sure) : "");
    const parts = [state, name, column, change, wrong, sure];
    const [first] = cell.why;
    parts.push(make("td", { className: "context why", role: "gridcell" }, first ? quoted(first[0].split(": expected ")[0], 90) : ""));
    const acts = make("td", { className: "acts", role: "gridcell" });
    for (const [label, hint, verdict] of [["✓", "Accept", "accept"], ["✎", "Edit", "edit"], ["=", "This is right", "right"]]) {
      const button = make("button", { type: "button", tabIndex: -1, title: hint, "aria-label": `${hint}: ${this.data.rowWord} ${cell.name}, ${cell.columnName}` }, label);
      button.dataset.verdict = verdict;
      acts.append(button);
    }
    parts.push(acts);
    line.append(...parts);
    this.fill(line, cell);
    return line;
  }

  /** What changes in a line when something is decided or selected. */
  fill(line, cell) {
    const made = this.decisions.get(cell);
    const here = cell === this.current;
    line.className = [made ? `is-${made.verdict}` : "", here ? "chosen" : "", this.picked.has(cell) ? "picked" : ""].join(" ").trim();
    line.setAttribute("aria-selected", String(here || this.picked.has(cell)));
    line.tabIndex = here ? 0 : -1;
    const words = made ? VERDICTS[made.verdict] : "open";
    line.querySelector(".state").replaceChildren(make("span", { className: "dot", role: "img", "aria-label": words, title: words }));
    const next = made && made.verdict !== "right" ? made.text : cell.expected;
    const change = line.querySelector(".change");
    const suggestion = make("span", { className: "suggestion" }, next === cell.entry ? "not known" : emptyOr(next, 40));
    change.replaceChildren(make("span", { className: "entry" }, emptyOr(cell.entry, 40)), make("span", { className: "arrow", textContent: " → " }), suggestion);
  }

  lineAt(place) { return this.table.querySelector(`tr[data-place="${place}"]`); }

  refresh(cells = null) {
    const wanted = cells && new Set(cells);
    for (const line of this.table.querySelectorAll("tbody tr[data-place]")) {
      const cell = this.found[Number(line.dataset.place)];
      if (!wanted || wanted.has(cell)) this.fill(line, cell);
    }
  }

  /** Go to a place of the list; with `extend` everything from where the selection began is selected. */
  go(place, { extend = false, focus = true } = {}) {
    const last = this.found.length - 1;
    if (last < 0) return;
    const to = Math.max(0, Math.min(last, place));
    this.place = to;
    if (extend) {
      const [from, until] = [Math.min(this.anchor, to), Math.max(this.anchor, to)];
      this.picked = new Set(this.found.slice(from, until + 1));
    } else {
      this.anchor = to;
      this.picked.clear();
    }
    if (to >= this.shown) this.draw();
    else this.refresh();
    const line = this.lineAt(to);
    if (focus) line?.focus({ preventScroll: true });
    line?.scrollIntoView({ block: "nearest" });
    this.moved();
  }

  toggle(place) {
    const cell = this.found[place];
    if (!this.picked.size && this.current) this.picked.add(this.current);
    if (this.picked.has(cell)) this.picked.delete(cell);
    else this.picked.add(cell);
    this.place = this.anchor = place;
    this.refresh();
    this.moved();
  }

  moved() {
    this.current_ = this.current;
    this.onMove(this.current);
  }
}

/** A share as a short bar. */
function meter(share) {
  const box = make("span", { className: "meter", "aria-hidden": "true" });
  const body = make("i");
  body.style.width = `${Math.min(100, 100 * share)}%`;
  box.append(body);
  return box;
}
