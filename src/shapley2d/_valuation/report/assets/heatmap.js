// Drawing the map. A view is a window of the ordered rows and columns; the bins of an axis are the lines drawn for it:
// one per row where there is room, else one per pixel, which then shows the largest in magnitude of its rows.

/** Cuts the window [start, start + span) of `count` lines into bins of at least one line, at most one per pixel. */
function makeBins(start, span, count, pixels) {
  const first = Math.max(0, Math.floor(start));
  const last = Math.min(count, Math.ceil(start + span));
  if (last - first <= pixels) {
    const edges = Uint32Array.from({ length: last - first + 1 }, (_, k) => first + k);
    return { edges, offset: (first - start) / span, size: (last - first) / span };
  }
  const edges = Uint32Array.from({ length: pixels + 1 }, (_, k) => Math.min(count, Math.floor(start + (k * span) / pixels)));
  return { edges, offset: 0, size: 1 };
}

class Heatmap {
  constructor(canvas, table) {
    this.canvas = canvas;
    this.table = table;
    this.context = canvas.getContext("2d");
    this.grid = document.createElement("canvas");
    this.rowOrder = table.rowOrder("original");
    this.columnOrder = table.columnOrder("original");
    this.columnReach = reachOf(table.columns, () => 0);
    this.rowReach = reachOf(table.rows, () => 0);
    this.cursor = null; // [row, column] in the order shown
    this.chosenRow = null; // a row of the table
    this.recolour();
    this.showAll();
  }

  recolour() {
    this.palette = makePalette();
    const style = getComputedStyle(document.documentElement);
    this.ink = Object.fromEntries(
      ["ink", "muted", "line", "card", "mark", "halo", "bar-good", "bar-harm", "accent"].map((name) => [name, style.getPropertyValue(`--${name}`).trim()]),
    );
    this.font = getComputedStyle(document.body).fontFamily;
  }

  showAll() {
    this.view = { top: 0, rows: this.table.n, left: 0, columns: this.table.m };
  }

  setOrder(rows, columns) {
    this.rowOrder = this.table.rowOrder(rows);
    this.columnOrder = this.table.columnOrder(columns);
  }

  /** Keeps the window inside the table and wide enough to see something. */
  setView(view) {
    const { n, m } = this.table;
    const rows = Math.min(n, Math.max(Math.min(n, 5), view.rows));
    const columns = Math.min(m, Math.max(Math.min(m, 3), view.columns));
    this.view = {
      rows,
      columns,
      top: Math.min(n - rows, Math.max(0, view.top)),
      left: Math.min(m - columns, Math.max(0, view.left)),
    };
  }

  layout() {
    const box = this.canvas.getBoundingClientRect();
    const narrow = box.width < 520;
    const left = narrow ? 46 : 88;
    const right = narrow ? 34 : 70;
    const top = 146;
    return { width: box.width, height: box.height, x: left, y: top, w: Math.max(20, box.width - left - right), h: Math.max(20, box.height - top - 10), right };
  }

  draw() {
    performance.mark("draw-start");
    const place = (this.place = this.layout());
    this.canvas.dataset.plot = [place.x, place.y, place.w, place.h].join(" "); // where the cells are, for scripts
    this.canvas.dataset.view = [this.view.top, this.view.rows, this.view.left, this.view.columns].join(" ");
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [Math.round(place.width * ratio), Math.round(place.height * ratio)];
    if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height });
    this.rowBins = makeBins(this.view.top, this.view.rows, this.table.n, Math.round(place.h * ratio));
    this.columnBins = makeBins(this.view.left, this.view.columns, this.table.m, Math.round(place.w * ratio));
    const context = this.context;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, place.width, place.height);
    this.drawCells();
    this.drawRowBars();
    this.drawColumnBars();
    this.drawNames();
    this.drawMarks();
    this.drawCursor();
    performance.measure("draw", "draw-start");
  }

  drawCells() {
    const { table, rowBins, columnBins, place, palette } = this;
    const [lines, width] = [rowBins.edges.length - 1, columnBins.edges.length - 1];
    const best = new Float32Array(lines * width);
    for (let x = 0; x < width; x++) {
      const last = Math.max(columnBins.edges[x + 1], columnBins.edges[x] + 1);
      for (let c = columnBins.edges[x]; c < last; c++) this.reduceColumn(this.columnOrder[c], best, x, width);
    }
    Object.assign(this.grid, { width, height: lines });
    const context = this.grid.getContext("2d");
    const image = context.createImageData(width, lines);
    const pixels = new Uint32Array(image.data.buffer);
    for (let k = 0; k < pixels.length; k++) pixels[k] = palette[paletteIndex(best[k], table.limit)];
    context.putImageData(image, 0, 0);
    this.context.save();
    this.context.beginPath();
    this.context.rect(place.x, place.y, place.w, place.h);
    this.context.clip();
    this.context.imageSmoothingEnabled = false;
    this.context.drawImage(this.grid, place.x + columnBins.offset * place.w, place.y + rowBins.offset * place.h, columnBins.size * place.w, rowBins.size * place.h);
    this.context.restore();
  }

  /** Puts the largest value in magnitude of each row bin of one column into a line of `best`. */
  reduceColumn(j, best, x, width) {
    const { codes, n, scales } = this.table;
    const { edges } = this.rowBins;
    const order = this.rowOrder;
    const start = j * n;
    for (let y = 0; y + 1 < edges.length; y++) {
      let found = 0;
      const last = Math.max(edges[y + 1], edges[y] + 1);
      for (let r = edges[y]; r < last; r++) {
        const code = codes[start + order[r]];
        if (Math.abs(code) > Math.abs(found)) found = code;
      }
      const value = found * scales[j];
      if (Math.abs(value) > Math.abs(best[y * width + x])) best[y * width + x] = value;
    }
  }

  rowY(r) { return this.place.y + ((r - this.view.top) / this.view.rows) * this.place.h; }
  columnX(c) { return this.place.x + ((c - this.view.left) / this.view.columns) * this.place.w; }

  /** A bar for each bin of an axis: the largest sum in magnitude of its lines; `bar(first, last, sum)` draws it. */
  drawBars({ edges }, order, sums, bar) {
    for (let k = 0; k + 1 < edges.length; k++) {
      let found = 0;
      for (let line = edges[k]; line < Math.max(edges[k + 1], edges[k] + 1); line++) {
        const value = sums[order[line]];
        if (Math.abs(value) > Math.abs(found)) found = value;
      }
      this.context.fillStyle = this.ink[found < 0 ? "bar-harm" : "bar-good"];
      bar(edges[k], edges[k + 1], found);
    }
  }

  drawRowBars() {
    const { place, context } = this;
    const [from, width] = [place.x + place.w + 6, place.right - 12];
    const [low, high] = this.rowReach;
    const scale = width / (high - low || 1);
    const zero = from - low * scale;
    this.drawBars(this.rowBins, this.rowOrder, this.table.rows, (first, last, sum) => {
      const top = Math.max(place.y, this.rowY(first));
      const bottom = Math.min(place.y + place.h, this.rowY(last));
      const gap = bottom - top > 6 ? 1 : 0;
      context.fillRect(Math.min(zero, zero + sum * scale), top, Math.abs(sum * scale), Math.max(0.5, bottom - top - gap));
    });
    if (width > 50) this.text("row sums", from, place.y - 8, { size: 10 });
  }

  drawColumnBars() {
    const { place, context } = this;
    const [low, high] = this.columnReach;
    const scale = 34 / (high - low || 1);
    const zero = place.y - 5 + low * scale;
    this.drawBars(this.columnBins, this.columnOrder, this.table.columns, (first, last, sum) => {
      const left = Math.max(place.x, this.columnX(first));
      const right = Math.min(place.x + place.w, this.columnX(last));
      const gap = right - left > 6 ? 1 : 0;
      context.fillRect(left, Math.min(zero, zero - sum * scale), Math.max(0.5, right - left - gap), Math.abs(sum * scale));
    });
    if (place.x > 60) this.text("column sums", place.x - 6, place.y - 8, { size: 10, align: "right" });
  }

  text(words, x, y, { size = 11, align = "left", colour = "muted", most = Infinity } = {}) {
    const { context } = this;
    context.font = `${size}px ${this.font}`;
    context.textAlign = align;
    context.fillStyle = this.ink[colour];
    let shown = words.length > 80 ? words.slice(0, 80) + "…" : words;
    while (shown.length > 2 && context.measureText(shown).width > most) shown = shown.slice(0, -2).trimEnd() + "…";
    context.fillText(shown, x, y);
  }

  /** Names of rows and columns; as many as there is room for. */
  drawNames() {
    const { place, view, context, table } = this;
    const rowStep = Math.max(1, Math.ceil((16 * view.rows) / place.h));
    for (let r = Math.ceil(view.top / rowStep) * rowStep; r < view.top + view.rows - 0.5; r += rowStep) {
      const y = this.rowY(r + (rowStep === 1 ? 0.5 : 0)) + 4;
      if (y < place.y + 3 || y > place.y + place.h + 4) continue;
      this.text(table.rowName(this.rowOrder[r]), place.x - 6, y, { align: "right", most: place.x - 10 });
    }
    const columnStep = Math.max(1, Math.ceil((13 * view.columns) / place.w));
    for (let c = Math.ceil(view.left / columnStep) * columnStep; c < view.left + view.columns - 0.4; c += columnStep) {
      const x = this.columnX(c + 0.5);
      if (x < place.x || x > place.x + place.w) continue;
      context.save();
      context.translate(x + 3, place.y - 44);
      context.rotate(-Math.PI / 3);
      this.text(table.columnNames[this.columnOrder[c]], 0, 0, { colour: "ink", most: Math.min(106, (place.width - x) * 1.9) });
      context.restore();
    }
  }

  drawMarks() {
    const { table, view, place, context } = this;
    if (!table.marked.length) return;
    const rowOf = inverse(this.rowOrder);
    const columnOf = inverse(this.columnOrder);
    const [w, h] = [place.w / view.columns, place.h / view.rows];
    for (const flat of table.marked) {
      const [r, c] = [rowOf[Math.floor(flat / table.m)], columnOf[flat % table.m]];
      if (r + 1 <= view.top || r >= view.top + view.rows || c + 1 <= view.left || c >= view.left + view.columns) continue;
      const [x, y] = [this.columnX(c), this.rowY(r)];
      this.outline(x, y, w, h, this.ink.mark, Math.min(w, 9), Math.min(9, Math.max(h, 7)));
    }
  }

  /** A frame around a cell, or a small square where the cell is too small for one. */
  outline(x, y, w, h, colour, least = 0, leastHeight = least) {
    const { context, place } = this;
    const [width, height] = [Math.max(w, least), Math.max(h, leastHeight)];
    const [left, top] = [x + (w - width) / 2, y + (h - height) / 2];
    context.save();
    context.beginPath();
    context.rect(place.x - 5, place.y - 5, place.w + 10, place.h + 10);
    context.clip();
    for (const [line, stroke] of [[4, this.ink.halo], [2, colour]]) {
      context.lineWidth = line;
      context.strokeStyle = stroke;
      context.strokeRect(left + 1, top + 1, width - 2, height - 2);
    }
    context.restore();
  }

  drawCursor() {
    const { view, place } = this;
    const [w, h] = [place.w / view.columns, place.h / view.rows];
    if (this.chosenRow !== null) {
      const r = this.rowOrder.indexOf(this.chosenRow);
      const y = this.rowY(r + 0.5);
      if (y >= place.y && y <= place.y + place.h) this.text("▸", place.x - 1, y + 4, { align: "right", colour: "accent", size: 12 });
    }
    if (this.cursor) this.outline(this.columnX(this.cursor[1]), this.rowY(this.cursor[0]), w, h, this.ink.accent, 8);
  }

  /** The cell that is drawn at a point: of those that share it, the largest in magnitude. Positions in the order shown. */
  cellAt(x, y) {
    const { place, table, view } = this;
    if (x < place.x || x >= place.x + place.w || y < place.y || y >= place.y + place.h) return null;
    const [rows, columns] = [
      binAt(this.rowBins, (y - place.y) / place.h, view.top, view.rows),
      binAt(this.columnBins, (x - place.x) / place.w, view.left, view.columns),
    ];
    let found = [rows[0], columns[0]];
    let most = -1;
    for (let c = columns[0]; c < columns[1]; c++) {
      for (let r = rows[0]; r < rows[1]; r++) {
        const size = Math.abs(table.value(this.rowOrder[r], this.columnOrder[c]));
        if (size > most) [most, found] = [size, [r, c]];
      }
    }
    return found;
  }
}

function inverse(order) {
  const places = new Uint32Array(order.length);
  order.forEach((item, place) => { places[item] = place; });
  return places;
}

/** First and one past the last line of the bin at a fraction of the window. */
function binAt(bins, fraction, start, span) {
  const count = bins.edges.length - 1;
  const oneToOne = bins.edges[count] - bins.edges[0] === count;
  const k = oneToOne ? Math.floor(start + fraction * span) - bins.edges[0] : Math.floor(fraction * count);
  const bin = Math.min(count - 1, Math.max(0, k));
  return [bins.edges[bin], Math.max(bins.edges[bin + 1], bins.edges[bin] + 1)];
}
