// Elements from data. Text becomes text nodes only, so that no corpus can be markup.

const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

/** Between pieces of a raw system that are joined without a space; few fonts have the sign that its tokens use. */
const GLUE = /\uffed/g;
export const GLUE_SHOWN = "·";

/** Text with control characters, bidi ones too, made visible: \u202e becomes \\u202e; glue becomes a dot. */
export const plain = (text) =>
  String(text).replace(GLUE, GLUE_SHOWN).replace(CONTROL, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);

const LETTER = /\p{L}/u;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Whether words are read from right to left: most of those with letters begin with one of such a script. */
export const rightToLeft = (words) => {
  const letters = words.map((word) => LETTER.exec(word)?.[0]).filter(Boolean);
  return 2 * letters.filter((letter) => RIGHT_TO_LEFT.test(letter)).length > letters.length;
};

const fill = (made, properties, children) => {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "class") made.setAttribute("class", value);
    else if (name === "value" || name === "checked" || name === "disabled" || name === "hidden") made[name] = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(3)) {
    if (child === null || child === undefined || child === false) continue;
    made.append(child instanceof Node ? child : document.createTextNode(plain(child)));
  }
  return made;
};

export const el = (tag, properties = {}, ...children) => fill(document.createElement(tag), properties, children);

export const svg = (tag, properties = {}, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);

/** A number with sign, so that contributions read as such. */
export const signed = (value, digits = 2) => {
  const text = Math.abs(value).toFixed(digits);
  if (Number(text) === 0) return text;
  return (value < 0 ? "−" : "+") + text;
};

export const number = (value, digits = 2) => {
  const text = Math.abs(value).toFixed(digits);
  return value < 0 && Number(text) !== 0 ? `−${text}` : text;
};

/** Digits after the point that differences of this size need; weights of a tuned system may be small, and so are scores. */
export const digitsFor = (size) => (size > 0 ? Math.min(6, Math.max(2, 2 - Math.floor(Math.log10(size)))) : 2);

export const feature = (name, meanings) =>
  meanings.get(name.split(":")[0]) || meanings.get(name)
    ? el("abbr", { title: meanings.get(name) || meanings.get(name.split(":")[0]) }, name)
    : el("span", {}, name);

/** A table in a box that scrolls; `columns` are names, a name that starts with # is numeric. */
export const table = (columns, rows, properties = {}) =>
  el(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": properties.label || "table" },
    el(
      "table",
      { class: properties.class },
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          columns.map((name) =>
            el("th", { scope: "col", class: name.startsWith("#") ? "numeric" : null }, name.replace(/^#/, "")),
          ),
        ),
      ),
      el("tbody", {}, rows),
    ),
  );

const measure = document.createElement("canvas").getContext("2d");

/** Width of a text in pixels, as the pictures set it. */
export const widthOf = (text, size = 15) => {
  measure.font = `${size}px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif`;
  return measure.measureText(plain(text)).width;
};

/** Where the tabs are wider than the screen, they scroll to the one that is shown. */
export const intoSight = (tab) => {
  const row = tab.parentElement;
  const [left, right] = [tab.offsetLeft - row.offsetLeft, tab.offsetLeft - row.offsetLeft + tab.offsetWidth];
  if (left < row.scrollLeft) row.scrollLeft = left - 16;
  else if (right > row.scrollLeft + row.clientWidth) row.scrollLeft = right - row.clientWidth + 16;
};
