// The decisions: kept in the browser if its settings allow it, undone step by step, and as a file.

const FIELDS = ["row", "name", "column", "entry", "decision", "new", "probability", "why", "target", "table"];
const VERDICTS = { accept: "accepted", edit: "edited", right: "right" };

const keyOf = (cell) => `${cell.i},${cell.j}`;

class Decisions {
  /** @param data what the page holds; @param cells all cells that can be decided, by their keys */
  constructor(data, cells) {
    this.data = data;
    this.cells = cells;
    this.place = `shapley2d decisions ${data.table}`;
    this.made = new Map();
    this.past = [];
    this.listeners = [];
    this.read();
  }

  get(cell) { return this.made.get(keyOf(cell)) ?? null; }
  get size() { return this.made.size; }

  counts() {
    const counts = { accept: 0, edit: 0, right: 0 };
    for (const { verdict } of this.made.values()) counts[verdict]++;
    return counts;
  }

  /** Decide on some cells: `text(cell)` is the new entry, null for an empty cell; a verdict of null clears. */
  set(cells, verdict, text = () => null) {
    if (!cells.length) return;
    this.past.push(cells.map((cell) => [keyOf(cell), this.get(cell)]));
    for (const cell of cells) {
      if (verdict === null) this.made.delete(keyOf(cell));
      else this.made.set(keyOf(cell), { verdict, text: verdict === "right" ? null : text(cell) });
    }
    this.changed();
  }

  undo() {
    const step = this.past.pop();
    if (!step) return [];
    for (const [key, before] of step) {
      if (before === null) this.made.delete(key);
      else this.made.set(key, before);
    }
    this.changed();
    return step.map(([key]) => key);
  }

  changed() {
    try {
      localStorage.setItem(this.place, JSON.stringify([...this.made]));
    } catch { /* the browser keeps nothing: the file is what counts */ }
    for (const listener of this.listeners) listener();
  }

  read() {
    try {
      for (const [key, { verdict, text }] of JSON.parse(localStorage.getItem(this.place) ?? "[]")) {
        const known = this.cells.has(key) && verdict in VERDICTS && (text === null || typeof text === "string");
        if (known) this.made.set(key, { verdict, text });
      }
    } catch { /* nothing is kept, or not by us */ }
  }

  lines() {
    const { data } = this;
    const lines = [...this.made].map(([key, { verdict, text }]) => {
      const cell = this.cells.get(key);
      const why = cell.why.map(([words, share]) => (share ? `${words} (${Math.round(100 * share)} %)` : words)).join("; ");
      return [cell.i, data.named ? cell.name : "", data.columns[cell.j], cell.entry, verdict, text, cell.p, why];
    });
    const decided = new Set(lines.map((line) => `${line[0]},${line[2]}`));
    const before = data.remembered.filter(([row, , column]) => !decided.has(`${row},${column}`));
    const all = [...lines, ...before].map((line) => [...line, data.target, data.table]);
    return [FIELDS, ...all];
  }

  download() { downloadCsv("decisions.csv", this.lines()); }
}
