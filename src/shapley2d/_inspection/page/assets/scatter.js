// Wrong and harmful beside each other: every listed entry as a point.

function startScatter(data, decisions, { current, onCell }) {
  const canvas = byId("scatter");
  if (!canvas) return { draw() {} };
  const known = data.cells.filter((cell) => cell.value !== null);
  const tip = byId("scatter-tip");
  const most = Math.max(1e-12, ...known.map((cell) => -cell.value));
  const least = Math.min(0, ...known.map((cell) => -cell.value));
  const unit = harmUnit(data, Math.max(most, -least));
  const pad = { left: 58, right: 14, top: 12, bottom: 30 };
  let points = [];

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function place(cell, width, height) {
    const harm = Math.sign(-cell.value) * Math.sqrt(Math.abs(cell.value));
    const [low, high] = [-Math.sqrt(-least), Math.sqrt(most)];
    return [
      pad.left + cell.p * (width - pad.left - pad.right),
      height - pad.bottom - ((harm - low) / (high - low || 1)) * (height - pad.top - pad.bottom),
    ];
  }

  function draw() {
    const { width, height } = canvas.getBoundingClientRect();
    const ratio = devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.clearRect(0, 0, width, height);
    pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    pen.fillStyle = colour("--muted");
    pen.strokeStyle = colour("--line");
    const [, zero] = place({ p: 0, value: 0 }, width, height);
    pen.textAlign = "center";
    for (const share of [0, 0.25, 0.5, 0.75, 1]) {
      const [x] = place({ p: share, value: 0 }, width, height);
      pen.beginPath(); pen.moveTo(x, pad.top); pen.lineTo(x, height - pad.bottom); pen.stroke();
      pen.textAlign = share === 1 ? "right" : "center";
      pen.fillText(`${100 * share} %`, share === 1 ? x + pad.right - 4 : x, height - pad.bottom + 18);
    }
    pen.strokeStyle = colour("--muted");
    pen.beginPath(); pen.moveTo(pad.left, zero); pen.lineTo(width - pad.right, zero); pen.stroke();
    pen.textAlign = "right";
    pen.fillText("no harm", pad.left - 6, zero + 4);
    if (zero - pad.top > 24) pen.fillText("harmful", pad.left - 6, pad.top + 10);
    points = known.map((cell) => ({ cell, at: place(cell, width, height) }));
    const inks = { open: colour("--bar-harm"), accept: colour("--bar-good"), edit: colour("--bar-good"), right: colour("--muted") };
    for (const { cell, at: [x, y] } of points) {
      const verdict = decisions.get(cell)?.verdict ?? "open";
      pen.globalAlpha = verdict === "open" ? 0.55 : 0.9;
      pen.fillStyle = inks[verdict];
      pen.beginPath(); pen.arc(x, y, 4, 0, 2 * Math.PI); pen.fill();
    }
    pen.globalAlpha = 1;
    const here = points.find(({ cell }) => cell === current());
    if (here) {
      pen.strokeStyle = colour("--mark");
      pen.lineWidth = 2;
      pen.beginPath(); pen.arc(...here.at, 7, 0, 2 * Math.PI); pen.stroke();
    }
    canvas.dataset.points = String(points.length);
  }

  function nearest(event) {
    const box = canvas.getBoundingClientRect();
    let best = null;
    let distance = 14;
    for (const point of points) {
      const away = Math.hypot(point.at[0] - (event.clientX - box.left), point.at[1] - (event.clientY - box.top));
      if (away < distance) [best, distance] = [point, away];
    }
    return best;
  }

  canvas.addEventListener("mousemove", (event) => {
    const found = nearest(event);
    tip.hidden = !found;
    canvas.style.cursor = found ? "pointer" : "";
    if (!found) return;
    const { cell, at } = found;
    tip.replaceChildren(make("b", {}, quoted(cell.columnName, 40)), ` in ${data.rowWord} `, quoted(cell.name, 40), ": ", entryNode(cell.entry, 40),
      make("br"), `${percent(cell.p)} wrong, harm ${numberText(-cell.value, unit)}${unit.suffix}`);
    tip.style.left = `${Math.min(at[0] + 10, canvas.clientWidth - 220)}px`;
    tip.style.top = `${at[1] + 12}px`;
  });
  canvas.addEventListener("mouseleave", () => { tip.hidden = true; });
  canvas.addEventListener("click", (event) => { const found = nearest(event); if (found) onCell(found.cell); });
  addEventListener("resize", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  return { draw };
}
