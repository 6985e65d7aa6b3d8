// Contributions of features as bars to both sides of zero.
import { digitsFor, el, feature, number, signed } from "./dom.js";

const N_SHOWN = 16;

/** A bar from the middle: to the left below zero, to the right above; `largest` fills its half. */
export const bar = (value, largest) => {
  const fill = el("i", { class: value < 0 ? "less" : "more" });
  fill.style.width = `${largest > 0 ? Math.min(50, (50 * Math.abs(value)) / largest) : 0}%`;
  return el("span", { class: "bar", "aria-hidden": "true" }, fill);
};

/** Contributions of a candidate by feature, the largest first. */
export const contributionsOf = (features, weights) =>
  Object.entries(features)
    .map(([name, value]) => ({ name, value, weight: weights[name] ?? 0, contribution: value * (weights[name] ?? 0) }))
    .sort((a, b) => Math.abs(b.contribution) - Math.abs(a.contribution) || a.name.localeCompare(b.name));

const line = (item, largest, app) =>
  el(
    "tr",
    {},
    el("td", {}, feature(item.name, app.meanings)),
    el("td", { class: "numeric" }, number(item.value)),
    el("td", { class: "numeric" }, number(item.weight, 3)),
    el("td", { class: "bar-cell" }, bar(item.contribution, largest)),
    el("td", { class: "numeric" }, signed(item.contribution, digitsFor(largest))),
  );

/** The table of a candidate's features; what is not among the largest is summed until it is asked for. */
export const contributionTable = (items, app) => {
  const largest = Math.max(0, ...items.map((item) => Math.abs(item.contribution)));
  const body = el("tbody", {}, items.slice(0, N_SHOWN).map((item) => line(item, largest, app)));
  const rest = items.slice(N_SHOWN);
  if (rest.length) {
    const sum = rest.reduce((total, item) => total + item.contribution, 0);
    const more = el("button", { type: "button" }, `Show ${rest.length} more`);
    const last = el("tr", {}, el("td", { colspan: "3" }, more), el("td", { class: "bar-cell" }, bar(sum, largest)), el("td", { class: "numeric" }, signed(sum, digitsFor(largest))));
    more.addEventListener("click", () => last.replaceWith(...rest.map((item) => line(item, largest, app))));
    body.append(last);
  }
  return el(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "Contributions of features" },
    el(
      "table",
      { class: "contributions" },
      el(
        "thead",
        {},
        el("tr", {}, el("th", {}, "feature"), el("th", { class: "numeric" }, "value"), el("th", { class: "numeric" }, "weight"), el("th", {}), el("th", { class: "numeric" }, "value × weight")),
      ),
      body,
    ),
  );
};
