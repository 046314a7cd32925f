// The valued table: unpacks the page's data and answers what is in a cell and what it is worth.

/** int16 from a plane of low bytes followed by a plane of high bytes. */
function joinPlanes(bytes, count) {
  const numbers = new Int16Array(count);
  for (let k = 0; k < count; k++) numbers[k] = bytes[k] | (bytes[count + k] << 8);
  return numbers;
}

function codeArray(bytes, start, count, width) {
  const part = bytes.slice(start, start + count * width);
  return width === 1 ? part : width === 2 ? new Uint16Array(part.buffer) : new Uint32Array(part.buffer);
}

/** A unit with its heading in a list and what goes behind a number. */
function unitOf({ factor, words }, exponent = 0) {
  const power = `10${String(exponent).replace(/[-\d]/g, (sign) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(sign)])}`;
  const [heading, behind] = exponent ? [`value in ${power}`, ` × ${power}`] : [words || "value", words && ` ${words}`];
  return { factor: factor * 10 ** -exponent, heading, suffix: behind };
}

/** What cells, rows and columns are shown in. Where that is not points, a power of ten, one for all values, brings the limit between 1 and 1000. */
function readUnits({ units, scored, limit, columns }) {
  const { cells, rows, points } = units;
  const size = limit * points.factor;
  const scaled = !points.words && size > 0 && (size < 0.1 || size >= 1e4);
  const unit = unitOf(cells, scaled ? 3 * Math.floor(Math.log10(size) / 3) : 0);
  const columnUnit = scored ? unitOf(points) : unit;
  const largest = columns.reduce((most, value) => Math.max(most, Math.abs(value * points.factor)), 0);
  if (points.words && largest >= 1e-6 && largest < 1e9) columnUnit.decimals = Math.max(1 - Math.floor(Math.log10(largest)), 1);
  return { unit, columnUnit, rowUnit: scored ? unitOf(rows) : columnUnit };
}

class ValuedTable {
  static async read() {
    const record = JSON.parse(byId("record").textContent);
    const [numbers, entries, texts] = await Promise.all(["numbers", "entries", "texts"].map(unpack));
    return new ValuedTable(record, numbers, entries, JSON.parse(new TextDecoder().decode(texts)));
  }

  constructor(record, numbers, entries, texts) {
    Object.assign(this, record, readUnits(record));
    const { n, m } = record;
    const count = n * (m + 1); // the last column: the rows' own values
    this.codes = joinPlanes(numbers, count);
    this.errorCodes = numbers.subarray(2 * count);
    this.rowCodes = this.codes.subarray(n * m);
    this.rowScale = record.scales[m];
    this.rows = Float64Array.from(this.rowCodes, (code) => code * this.rowScale);
    this.readEntries(entries, texts);
    this.markedSet = new Set(record.marked);
    [[this.noun], this.rowNouns, this.columnNouns] = record.nouns;
    if (this.rowNouns[0] !== "row") this.rowWord = this.rowNouns[0];
    this.rowNoun = this.rowNouns[0].split(" ")[0];
  }

  readEntries(bytes, texts) {
    let start = 0;
    this.entryCodes = this.widths.map((width) => {
      const codes = codeArray(bytes, start, this.n, width);
      start += this.n * width;
      return codes;
    });
    this.levels = texts.levels;
    this.rowNames = texts.rowNames;
    this.labelLevels = this.labelled ? this.levels.pop() : null;
    this.labelCodes = this.labelled ? this.entryCodes.pop() : null;
  }

  value(i, j) { return this.codes[j * this.n + i] * this.scales[j]; }
  /** A standard error from its logarithmic code. */
  error(i, j) {
    const code = this.exact ? 0 : this.errorCodes[j * this.n + i];
    return code ? this.errorScales[j] * 2 ** ((code - 255) / 16) : 0;
  }
  rowError(i) { return this.error(i, this.m); }
  rowName(i) { return this.rowNames ? this.rowNames[i] : String(i); }
  label(i) { return this.labelCodes ? this.labelLevels[this.labelCodes[i]] : null; }
  get hasEntries() { return this.entryCodes.length > 0; }
  /** The entry as text, null where it is missing. */
  entry(i, j) { return this.levels[j][this.entryCodes[j][i]]; }
  isMarked(i, j) { return this.markedSet.has(i * this.m + j); }

  /** A value in words: in the unit of the cells, no finer than it was stored. */
  valueText(i, j) { return numberText(this.value(i, j), this.unit, this.scales[j]); }

  rowOrder(by) {
    const order = Uint32Array.from({ length: this.n }, (_, i) => i);
    if (by === "original") return order;
    const byValue = countingSort(order, (i) => this.rowCodes[i] + 32768, 65536);
    return by === "label" ? countingSort(byValue, (i) => this.labelCodes[i], this.labelLevels.length) : byValue;
  }

  columnOrder(by) {
    const order = Uint32Array.from({ length: this.m }, (_, j) => j);
    return by === "value" ? order.sort((a, b) => this.columns[b] - this.columns[a]) : order;
  }
}

/** Items in the order of their whole-number keys below `count`; equal ones stay in the order given. */
function countingSort(items, key, count) {
  const starts = new Uint32Array(count + 1);
  for (const item of items) starts[key(item) + 1]++;
  for (let k = 0; k < count; k++) starts[k + 1] += starts[k];
  const sorted = new Uint32Array(items.length);
  for (const item of items) sorted[starts[key(item)]++] = item;
  return sorted;
}
