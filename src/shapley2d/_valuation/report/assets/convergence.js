// The convergence plot.

function svg(tag, attributes, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

/** Round numbers within a range for a logarithmic axis; fewer of them where it spans several decades. */
function logTicks(low, high) {
  const ticks = [];
  const parts = high / low > 200 ? [1] : high / low > 20 ? [1, 3] : [1, 2, 5];
  for (let decade = Math.floor(Math.log10(low)); decade <= Math.ceil(Math.log10(high)); decade++) {
    for (const part of parts) {
      const tick = part * 10 ** decade;
      if (tick >= low * 0.999 && tick <= high * 1.001) ticks.push(tick);
    }
  }
  return ticks;
}

function drawConvergence(table) {
  const box = byId("convergence-plot");
  if (!box) return;
  const [width, height, left, bottom] = [640, 300, 64, 44];
  const counts = table.history.map(([count]) => count);
  const ratios = [...table.history.map(([, ratio]) => ratio), ...(table.tolerance ? [table.tolerance] : [])];
  const [x0, x1] = [Math.min(...counts), Math.max(...counts)];
  const [y0, y1] = [Math.min(...ratios) * 0.85, Math.max(...ratios) * 1.15];
  const x = (count) => left + ((width - left - 14) * Math.log(count / x0)) / (Math.log(x1 / x0) || 1);
  const y = (ratio) => height - bottom - ((height - bottom - 12) * Math.log(ratio / y0)) / Math.log(y1 / y0);
  const last = table.history.at(-1);
  const words = `Convergence: the ratio of error to spread falls from ${table.history[0][1].toPrecision(2)} to ${last[1].toPrecision(2)} after ${last[0]} evaluations${table.tolerance ? `; tolerance: ${table.tolerance}` : ""}.`;
  const plot = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words });
  for (const tick of logTicks(y0, y1)) {
    plot.append(svg("line", { x1: left, x2: width - 14, y1: y(tick), y2: y(tick), stroke: "var(--line)" }));
    plot.append(svg("text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, String(Number(tick.toPrecision(2)))));
  }
  for (const tick of logTicks(x0, x1)) {
    plot.append(svg("text", { x: x(tick), y: height - bottom + 18, "text-anchor": "middle" }, Number(tick.toPrecision(2)).toLocaleString("en")));
  }
  plot.append(svg("text", { x: (left + width) / 2, y: height - 6, "text-anchor": "middle" }, "evaluations"));
  if (table.tolerance) {
    plot.append(svg("line", { x1: left, x2: width - 14, y1: y(table.tolerance), y2: y(table.tolerance), stroke: "var(--bar-harm)", "stroke-dasharray": "5 4" }));
    plot.append(svg("text", { x: left + 6, y: y(table.tolerance) - 6 }, `tolerance: ${table.tolerance}`));
  }
  const points = table.history.map(([count, ratio]) => `${x(count).toFixed(1)},${y(ratio).toFixed(1)}`).join(" ");
  plot.append(svg("polyline", { points, fill: "none", stroke: "var(--bar-good)", "stroke-width": 2 }));
  for (const [count, ratio] of table.history) plot.append(svg("circle", { cx: x(count), cy: y(ratio), r: 2.5, fill: "var(--bar-good)" }));
  box.replaceChildren(plot);
}
