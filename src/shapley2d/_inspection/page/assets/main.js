// Puts the page together once its data are unpacked.

/** Cells by their keys, those of the list and those that only a finding about a column would change. */
function prepare(data) {
  data.byKey = new Map();
  data.cells.forEach((cell, rank) => {
    const [name, row] = data.rows[cell.i];
    Object.assign(cell, { rank, name, row, columnName: data.columns[cell.j], suggested: new Map() });
    let text = null;
    cell.text = () => (text ??= [name, cell.columnName, cell.entry ?? "empty", cell.expected ?? "empty", ...row.map(([, entry]) => entry ?? ""), ...cell.why.map(([words]) => words)].join("\n").toLowerCase());
    data.byKey.set(keyOf(cell), cell);
  });
  for (const finding of data.findings) {
    finding.changes = finding.changes.map(([i, j, name, entry, suggestion, p]) => {
      const key = `${i},${j}`;
      if (!data.byKey.has(key)) data.byKey.set(key, { i, j, name, entry, p, why: [[finding.text, 0]], columnName: data.columns[j], suggested: new Map() });
      const cell = data.byKey.get(key);
      cell.suggested.set(finding, suggestion);
      return { cell };
    });
  }
}

async function start() {
  const data = JSON.parse(new TextDecoder().decode(await unpack("payload")));
  prepare(data);
  const decisions = new Decisions(data, data.byKey);
  for (const cell of data.byKey.values()) cell.decision = () => decisions.get(cell);
  let list = null;
  let detail = null;

  const say = (words) => { byId("live").textContent = words; };

  function decide(verdict, text = null) {
    const cells = list.chosen();
    if (!cells.length) return;
    const edits = verdict === "edit" && !(cells.length === 1 && text === (cells[0].expected ?? ""));
    const kind = verdict === "edit" && !edits ? "accept" : verdict;
    decisions.set(cells, kind, (cell) => (kind === "accept" ? cell.expected : text === "" ? null : text));
    const words = kind === null ? "cleared" : VERDICTS[kind];
    say(`${words}: ${cells.length === 1 ? `${data.rowWord} ${cells[0].name}, ${cells[0].columnName}` : `${cells.length} entries`}. ${decisions.size} decided`);
    if (cells.length === 1 && kind !== null) list.go(list.place + 1);
    else list.go(list.place);
  }

  function tally() {
    const { accept, edit, right } = decisions.counts();
    const parts = [[accept, "accepted"], [edit, "edited"], [right, "right"]].filter(([count]) => count).map(([count, word]) => `${count} ${word}`);
    byId("tally").textContent = parts.length ? parts.join(", ") : "nothing decided yet";
    byId("tile-decided").textContent = decisions.size.toLocaleString("en");
    byId("undo").disabled = !decisions.past.length;
    byId("download").disabled = !decisions.size && !data.remembered.length;
  }

  detail = startDetail(data, { chosen: () => list?.chosen() ?? [], decide, leave: () => list.lineAt(list.place)?.focus() });
  list = new SuspectList(data, decisions, { onMove: (cell) => detail.show(cell) });
  startFindings(data, decisions);
  decisions.listeners.push(() => { list.refresh(); detail.show(list.current); tally(); });

  byId("suspects").addEventListener("click", (event) => {
    const line = event.target.closest("tr[data-place]");
    if (!line) return;
    const place = Number(line.dataset.place);
    const verdict = event.target.closest("button")?.dataset.verdict;
    if (verdict && !(list.picked.size > 1 && list.picked.has(list.found[place]))) list.go(place);
    if (verdict === "edit") detail.edit();
    else if (verdict) decide(verdict);
    else if (event.ctrlKey || event.metaKey) list.toggle(place);
    else list.go(place, { extend: event.shiftKey });
  });
  byId("suspects").addEventListener("mousedown", (event) => { if (event.shiftKey) event.preventDefault(); });

  const keys = {
    j: (extend) => list.go(list.place + 1, { extend }), ArrowDown: (extend) => list.go(list.place + 1, { extend }),
    k: (extend) => list.go(list.place - 1, { extend }), ArrowUp: (extend) => list.go(list.place - 1, { extend }),
    a: () => decide("accept"), r: () => decide("right"), c: () => decide(null), e: () => detail.edit(),
    u: () => undo(), d: () => save(), Home: (extend) => list.go(0, { extend }), End: (extend) => list.go(list.found.length - 1, { extend }),
    Escape: () => list.go(list.place),
  };

  function undo() {
    const [first] = decisions.undo();
    if (!first) return;
    const place = list.found.findIndex((cell) => keyOf(cell) === first);
    if (place >= 0) list.go(place);
    say(`undone. ${decisions.size} decided`);
  }

  function save() {
    if (!byId("download").disabled) decisions.download();
  }

  addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, select, textarea");
    if (typing || event.altKey) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (event.ctrlKey || event.metaKey) {
      if (key === "z") { event.preventDefault(); undo(); }
      return;
    }
    const inList = event.target.closest?.("#suspects") || event.target === document.body;
    if (!inList && ["ArrowDown", "ArrowUp", "Home", "End", "Escape"].includes(event.key)) return;
    if (!(key in keys)) return;
    event.preventDefault();
    keys[key](event.shiftKey);
  });
  byId("undo").addEventListener("click", undo);
  byId("download").addEventListener("click", save);
  tally();
}

startPage(start);
