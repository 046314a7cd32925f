// Using the map: pointer, wheel, keys, orders, and the words about the cell under the pointer or the cursor.

/** What is known about a cell, as lines of nodes. */
function cellLines(table, i, j) {
  const lines = [];
  const head = make("div", {}, make("span", { className: "muted", textContent: `${table.rowWord} ` }), quoted(table.rowName(i)));
  if (table.label(i) !== null) head.append(make("span", { className: "muted", textContent: ", labelled " }), quoted(table.label(i)));
  lines.push(head);
  const content = make("div", {}, make("strong", {}, quoted(table.columnNames[j])));
  if (table.hasEntries) content.append(" = ", entryNode(table.entry(i, j), 120));
  lines.push(content);
  const worth = make("div", {}, "value ", make("strong", { className: "number", textContent: table.valueText(i, j) + table.unit.suffix }));
  if (!table.exact) worth.append(`, standard error ${numberText(table.error(i, j), table.unit)}`);
  lines.push(worth);
  if (table.typical[j]) lines.push(make("div", { className: "muted" }, "typical: ", quoted(table.typical[j], 160)));
  if (table.isMarked(i, j)) lines.push(make("div", {}, make("span", { className: "badge", textContent: "marked" })));
  return lines;
}

function startMap(table, { onRow }) {
  const canvas = byId("heatmap");
  const tip = byId("tip");
  const map = new Heatmap(canvas, table);
  let scheduled = false;
  const redraw = () => {
    if (scheduled) return;
    scheduled = true;
    requestAnimationFrame(() => { scheduled = false; map.draw(); });
  };
  const cellOf = ([r, c]) => [map.rowOrder[r], map.columnOrder[c]];

  function showTip(cell, x, y) {
    tip.replaceChildren(...cellLines(table, ...cellOf(cell)));
    tip.hidden = false;
    const { width, height } = map.place;
    tip.style.left = `${Math.max(4, x + 16 + tip.offsetWidth > width ? x - tip.offsetWidth - 12 : x + 16)}px`;
    tip.style.top = `${Math.max(4, Math.min(y + 14, height - tip.offsetHeight - 6))}px`;
  }

  function announce(cell) {
    byId("cell-live").textContent = cellLines(table, ...cellOf(cell)).map((line) => line.textContent).join("; ");
  }

  function zoom(factor, x = map.place.x + map.place.w / 2, y = map.place.y + map.place.h / 2, { rows = true, columns = false } = {}) {
    const { view, place } = map;
    const [u, v] = [Math.min(1, Math.max(0, (x - place.x) / place.w)), Math.min(1, Math.max(0, (y - place.y) / place.h))];
    const next = { ...view };
    if (rows) {
      next.rows = Math.min(table.n, Math.max(Math.min(5, table.n), view.rows * factor));
      next.top = view.top + v * (view.rows - next.rows);
    }
    if (columns) {
      next.columns = Math.min(table.m, Math.max(Math.min(3, table.m), view.columns * factor));
      next.left = view.left + u * (view.columns - next.columns);
    }
    map.setView(next);
    canvas.style.touchAction = next.rows < table.n ? "none" : "pan-y";
    redraw();
  }

  const manyColumns = table.m > 40; // then zooming rows alone would leave the columns as thin lines
  function zoomAtCursor(factor) {
    const [r, c] = map.cursor ?? [map.view.top + map.view.rows / 2, map.view.left + map.view.columns / 2];
    zoom(factor, map.columnX(c + 0.5), map.rowY(r + 0.5), { rows: true, columns: manyColumns });
  }

  /** Moves the window so that the cursor is in it. */
  function follow([r, c]) {
    const view = { ...map.view };
    if (r < view.top) view.top = r;
    if (r + 1 > view.top + view.rows) view.top = r + 1 - view.rows;
    if (c < view.left) view.left = c;
    if (c + 1 > view.left + view.columns) view.left = c + 1 - view.columns;
    map.setView(view);
  }

  function moveCursor(down, across) {
    const [r, c] = map.cursor ?? [Math.floor(map.view.top), Math.floor(map.view.left)];
    const start = map.cursor === null;
    map.cursor = [
      Math.min(table.n - 1, Math.max(0, start ? r : r + down)),
      Math.min(table.m - 1, Math.max(0, start ? c : c + across)),
    ];
    follow(map.cursor);
    map.draw();
    announce(map.cursor);
    showTip(map.cursor, map.columnX(map.cursor[1] + 0.5), map.rowY(map.cursor[0] + 0.5));
  }

  const keys = {
    ArrowDown: (event) => moveCursor(event.shiftKey ? 10 : 1, 0),
    ArrowUp: (event) => moveCursor(event.shiftKey ? -10 : -1, 0),
    ArrowRight: (event) => moveCursor(0, event.shiftKey ? 10 : 1),
    ArrowLeft: (event) => moveCursor(0, event.shiftKey ? -10 : -1),
    PageDown: () => moveCursor(Math.max(1, Math.floor(map.view.rows)), 0),
    PageUp: () => moveCursor(-Math.max(1, Math.floor(map.view.rows)), 0),
    Home: () => moveCursor(-table.n, 0),
    End: () => moveCursor(table.n, 0),
    "+": () => zoomAtCursor(0.5),
    "=": () => zoomAtCursor(0.5),
    "-": () => zoomAtCursor(2),
    "0": () => { map.showAll(); redraw(); },
    Enter: () => { if (map.cursor) choose(map.cursor); },
    Escape: () => { map.cursor = null; tip.hidden = true; redraw(); },
  };
  canvas.addEventListener("keydown", (event) => {
    const action = keys[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action(event);
  });
  canvas.addEventListener("blur", () => { tip.hidden = true; });

  function choose(cell) {
    const [i, j] = cellOf(cell);
    onRow(i, j);
  }

  let drag = null;
  const point = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  canvas.addEventListener("pointerdown", (event) => {
    const [x, y] = point(event);
    drag = { x, y, view: { ...map.view }, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = point(event);
    if (drag && event.buttons) {
      if (!drag.moved && Math.hypot(x - drag.x, y - drag.y) < 4) return;
      drag.moved = true;
      canvas.classList.add("dragging");
      tip.hidden = true;
      map.setView({
        ...drag.view,
        top: drag.view.top - ((y - drag.y) / map.place.h) * drag.view.rows,
        left: drag.view.left - ((x - drag.x) / map.place.w) * drag.view.columns,
      });
      redraw();
      return;
    }
    const cell = map.cellAt(x, y);
    if (cell) showTip(cell, x, y);
    else tip.hidden = true;
  });
  canvas.addEventListener("pointerup", (event) => {
    canvas.classList.remove("dragging");
    if (drag && !drag.moved) {
      const cell = map.cellAt(...point(event));
      if (cell) {
        map.cursor = cell;
        choose(cell);
      }
    }
    drag = null;
  });
  canvas.addEventListener("pointercancel", () => { drag = null; });
  canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
  canvas.addEventListener("wheel", (event) => {
    // The page scrolls past the map unless the map was asked to listen.
    if (!event.ctrlKey && document.activeElement !== canvas) return;
    event.preventDefault();
    const amount = event.deltaY || event.deltaX; // some browsers turn the wheel sideways under Shift
    zoom(Math.exp(Math.sign(amount) * Math.min(0.4, Math.abs(amount) / 300)), ...point(event), {
      rows: !event.shiftKey,
      columns: event.shiftKey || (manyColumns && event.ctrlKey),
    });
  }, { passive: false });

  byId("zoom-in").addEventListener("click", () => zoomAtCursor(0.5));
  byId("zoom-out").addEventListener("click", () => zoomAtCursor(2));
  byId("zoom-all").addEventListener("click", () => { map.showAll(); redraw(); });

  const listeners = [];
  function reorder() {
    performance.mark("sort-start");
    const cell = map.cursor && cellOf(map.cursor);
    map.setOrder(byId("row-order").value, byId("column-order").value);
    if (cell) {
      map.cursor = [map.rowOrder.indexOf(cell[0]), map.columnOrder.indexOf(cell[1])];
      follow(map.cursor);
    }
    map.draw();
    performance.measure("sort", "sort-start");
    for (const listener of listeners) listener();
  }
  byId("row-order").addEventListener("change", reorder);
  byId("column-order").addEventListener("change", reorder);

  const refresh = () => { map.recolour(); drawLegend(map); map.draw(); };
  new ResizeObserver(redraw).observe(canvas);
  for (const query of ["(prefers-color-scheme: dark)", "print"]) matchMedia(query).addEventListener("change", refresh);
  drawLegend(map);
  return { map, redraw, onReorder: (listener) => listeners.push(listener) };
}

function drawLegend(map) {
  const canvas = byId("legend");
  const context = canvas.getContext("2d");
  const { palette, table } = map;
  for (let x = 0; x < canvas.width; x++) {
    const shade = cssShade(palette, Math.round((x / (canvas.width - 1)) * (palette.length - 1)));
    context.fillStyle = shade.background;
    context.fillRect(x, 0, 1, canvas.height);
  }
  byId("legend-low").textContent = numberText(-table.limit, table.unit);
  byId("legend-high").textContent = numberText(table.limit, table.unit) + table.unit.suffix;
}
