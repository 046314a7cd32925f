// Small helpers: elements, numbers, text. Text from the table only ever becomes textContent.

const byId = (id) => document.getElementById(id);

/** An element with properties and children; strings become text nodes. */
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** Text from the table, isolated so that right-to-left text cannot disturb its surroundings. */
function quoted(text, most = 60) {
  const shown = text.length > most ? text.slice(0, most - 1) + "…" : text;
  return make("bdi", { textContent: shown, title: shown === text ? "" : text, dir: "auto" });
}

function entryNode(text, most = 60) {
  return text === null ? make("i", { textContent: "missing" }) : quoted(text, most);
}

/** A number in a unit with its decimals, else with about three digits but none beyond what `precision` supports. */
function numberText(value, unit, precision = 0) {
  const scaled = value * unit.factor;
  if (Math.abs(scaled) < 5e-7) return "0";
  const smallest = Math.max(Math.abs(scaled) / 100, precision * unit.factor, 1e-9);
  const digits = unit.decimals ?? Math.min(6, Math.max(0, Math.ceil(-Math.log10(smallest))));
  const text = scaled.toFixed(digits);
  const signed = (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
  return signed.replace(/\B(?=(\d{3})+(?!\d))(?<!\.\d*)/g, ",");
}

/** How many decimals a number has that others are to be compared with. */
function decimalsOf(text) {
  return (text.split(".")[1] ?? "").length;
}

/** A share of the sum of all values, in whole per cent. */
function shareText(value, total) {
  return `${String(Math.round((100 * value) / total) || 0).replace("-", "−")} %`;
}

/** Half the width of a 95 % interval; main.js sets the factor that goes with the errors. */
const interval = (error) => interval.factor * error;
interval.factor = NaN;

/** A value with its 95 % interval to two digits, unless that is too small to show. */
function worthText(value, error, unit, precision = 0) {
  const shown = numberText(value, unit, Math.max(precision, interval(error) / 10));
  const spread = numberText(interval(error), { ...unit, decimals: decimalsOf(shown) });
  return shown + (Number(spread) === 0 ? "" : ` ± ${spread}`);
}

/** A bar from 0 to a value on a scale, with its interval as a line. */
function bar({ from = 0, to, low, high }, [least, most]) {
  const place = (value) => (100 * (value - least)) / (most - least || 1);
  const box = make("span", { className: "bar", "aria-hidden": "true" });
  const zero = make("b");
  zero.style.left = `${place(0)}%`;
  const body = make("i", { className: to >= from ? "good" : "harm" });
  body.style.left = `${place(Math.min(from, to))}%`;
  body.style.width = `${Math.abs(place(to) - place(from))}%`;
  box.append(zero, body);
  if (high > low) {
    const line = make("u");
    line.style.left = `${place(low)}%`;
    line.style.width = `${place(high) - place(low)}%`;
    box.append(line);
  }
  return box;
}

function headRow(names) {
  const cells = names.map(([name, kind]) => make("th", { scope: "col", className: kind ?? "", textContent: name }));
  return make("thead", {}, make("tr", {}, ...cells));
}

/** Buttons that move through pages of a list; `show(page)` draws one. */
function fillPager(box, { page, size, total, what, show }) {
  box.replaceChildren();
  if (total <= size) return;
  const last = Math.ceil(total / size) - 1;
  const step = (label, to, enabled) => {
    const button = make("button", { type: "button", textContent: label, disabled: !enabled });
    button.addEventListener("click", () => {
      show(to);
      const again = [...box.querySelectorAll("button")].find((one) => one.textContent === label);
      if (again) (again.disabled ? box.querySelector("button:enabled") : again).focus();
    });
    return button;
  };
  const from = page * size;
  const words = `${what} ${(from + 1).toLocaleString("en")}–${Math.min(total, from + size).toLocaleString("en")} of ${total.toLocaleString("en")}`;
  box.append(step("First", 0, page > 0), step("Previous", page - 1, page > 0));
  box.append(make("span", { textContent: words }));
  box.append(step("Next", page + 1, page < last), step("Last", last, page < last));
}

/** The bytes that an element of the page holds deflated, as text. */
async function unpack(id) {
  const encoded = byId(id).textContent.trim();
  const bytes = Uint8Array.fromBase64 ? Uint8Array.fromBase64(encoded) : fromBase64(encoded);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function fromBase64(encoded) {
  const binary = atob(encoded);
  const bytes = new Uint8Array(binary.length);
  for (let k = 0; k < binary.length; k++) bytes[k] = binary.charCodeAt(k);
  return bytes;
}

/** A field of a CSV file. An apostrophe keeps spreadsheets from running text as a formula; full-width signs count too. */
function csvField(value) {
  let text = String(value ?? "");
  const plainNumber = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text);
  if (/^'*([\t\r\n]|[\s\u0000-\u0020\u007f\ufeff\u200b]*[=@+\-\uff1d\uff20\uff0b\uff0d])/.test(text) && !plainNumber) text = "'" + text;
  return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text;
}

function downloadCsv(name, lines) {
  const text = lines.map((line) => line.map(csvField).join(",") + "\r\n").join("");
  const url = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv;charset=utf-8" }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Run the page's script; where it fails, the page says why. */
function startPage(start) {
  start().then(() => {
    performance.mark("ready");
    document.documentElement.dataset.ready = "yes";
  }).catch((error) => {
    const old = typeof DecompressionStream === "undefined";
    byId("failure").textContent = old
      ? "This browser is too old to unpack the page: use one from 2023 or later."
      : `The page cannot be shown: ${error.message}`;
    byId("failure").hidden = false;
    throw error;
  });
}
