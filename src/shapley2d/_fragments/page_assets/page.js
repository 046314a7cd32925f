// The page works without this: it highlights cells of the map, tries sets, and unfolds for print.

/** Names of the list show only their cells on the map, while pointed at, or until clicked again. */
function highlight() {
  const map = byId("map");
  if (!map) return;
  let kept = null;
  const show = (rank) => {
    map.classList.toggle("dim", rank !== null);
    for (const cells of map.querySelectorAll(".cells")) cells.classList.toggle("on", cells.classList.contains(`o${rank}`));
  };
  const buttons = [...document.querySelectorAll("#worth tbody th")].map((head, rank) => {
    const button = make("button", { type: "button", className: "name" }, ...head.childNodes);
    button.setAttribute("aria-pressed", "false");
    head.append(button);
    for (const event of ["mouseenter", "focus"]) button.addEventListener(event, () => show(rank));
    for (const event of ["mouseleave", "blur"]) button.addEventListener(event, () => show(kept));
    button.addEventListener("click", () => {
      kept = kept === rank ? null : rank;
      buttons.forEach((one, k) => one.setAttribute("aria-pressed", String(k === kept)));
      show(kept);
    });
    return button;
  });
  byId("hint").hidden = false;
}

function trySets() {
  const box = byId("try");
  if (!box) return;
  const record = JSON.parse(byId("sets").textContent);
  const { scores, halves } = record;
  const inputs = [...box.querySelectorAll("input")];
  const all = 2 ** inputs.length - 1;
  const text = (value) => {
    const fixed = value.toFixed(record.decimals);
    return (Number(fixed) === 0 ? fixed.replace("-", "") : fixed).replace("-", "−");
  };
  const update = () => {
    const members = inputs.flatMap((one, rank) => (one.checked ? [rank] : []));
    const set = members.reduce((sum, rank) => sum + 2 ** rank, 0);
    const points = record.unit ? ` ${record.unit}` : "";
    const lost = `${text(scores[all] - scores[set])} ± ${text(halves[set])}`;
    const cost = members.reduce((sum, rank) => sum + (record.costs[rank] ?? 0), 0);
    box.querySelector("output").textContent =
      `${members.length} ${members.length === 1 ? "member" : "members"}: ${text(scores[set])}${points}` +
      (set === all ? "" : `; ${lost} lost without the rest`) +
      (record.costs.length ? `; cost ${cost.toLocaleString("en")}` : "");
  };
  box.addEventListener("change", update);
  box.hidden = false;
  update();
}

/** Tables that are wider than the window can be scrolled with the keyboard. */
function reachable() {
  const watch = new ResizeObserver((seen) => {
    for (const { target } of seen) {
      const wide = target.scrollWidth > target.clientWidth;
      const state = { tabindex: "0", role: "region", "aria-label": target.querySelector("caption").textContent };
      for (const [name, value] of Object.entries(state)) {
        if (wide) target.setAttribute(name, value);
        else target.removeAttribute(name);
      }
    }
  });
  for (const box of document.querySelectorAll(".scroll")) watch.observe(box);
}

addEventListener("beforeprint", () => {
  for (const one of document.querySelectorAll("details")) one.open = true;
});
startPage(async () => {
  highlight();
  trySets();
  reachable();
});
