// Colours from the style sheet, so that light, dark and paper each have their own.

const STEPS = 255; // colours to either side of the neutral one

function cssColour(name) {
  const hex = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const digits = hex.length === 4 ? [...hex.slice(1)].map((digit) => digit + digit).join("") : hex.slice(1);
  return [0, 2, 4].map((k) => parseInt(digits.slice(k, k + 2), 16));
}

/** A table of 511 colours from most harmful over neutral to most valuable, as the pixels of an ImageData. */
function makePalette() {
  const stops = ["--harm-deep", "--harm", "--neutral", "--good", "--good-deep"].map(cssColour);
  const palette = new Uint32Array(2 * STEPS + 1);
  for (let k = 0; k < palette.length; k++) {
    const place = (k / (palette.length - 1)) * (stops.length - 1);
    const lower = Math.min(stops.length - 2, Math.floor(place));
    const [red, green, blue] = stops[lower].map((part, c) => Math.round(part + (place - lower) * (stops[lower + 1][c] - part)));
    palette[k] = (255 << 24) | (blue << 16) | (green << 8) | red;
  }
  return palette;
}

/** Position of a value in the palette, clipped at the limit. */
function paletteIndex(value, limit) {
  return STEPS + Math.max(-STEPS, Math.min(STEPS, Math.round((value / limit) * STEPS)));
}

/** A palette colour for the style of an element, and an ink that reads on it. */
function cssShade(palette, index) {
  const [red, green, blue] = [palette[index] & 255, (palette[index] >> 8) & 255, (palette[index] >> 16) & 255];
  const light = 0.3 * red + 0.59 * green + 0.11 * blue > 140;
  return { background: `rgb(${red} ${green} ${blue})`, ink: light ? "#111" : "#fff" };
}
