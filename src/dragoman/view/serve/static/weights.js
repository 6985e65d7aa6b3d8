// Sliders on weights: candidates are ranked anew while one moves, the sentence is decoded when it is let go.
import { candidateRows, candidateTable } from "./candidates.js";
import { el, feature, number } from "./dom.js";

const N_SPARSE = 6;
const N_CANDIDATES = 10;

/** Features to move: the dense ones, and sparse ones in whose contributions candidates differ most. */
const movable = (name, app) => {
  const result = app.result(name);
  const dense = app.system(name).features.map((entry) => entry.name);
  const spread = new Map();
  for (const { features } of result.candidates) {
    for (const key of Object.keys(features)) if (!dense.includes(key)) spread.set(key, 0);
  }
  for (const key of spread.keys()) {
    const values = result.candidates.map((candidate) => (candidate.features[key] ?? 0) * (result.weights[key] ?? 0));
    spread.set(key, Math.max(...values) - Math.min(...values));
  }
  const sparse = [...spread].filter(([, size]) => size > 0).sort((a, b) => b[1] - a[1]);
  return [...dense, ...sparse.slice(0, N_SPARSE).map(([key]) => key)];
};

export const drawSliders = (name, app) => {
  const kept = app.result(name).weights;
  const own = Object.fromEntries(app.system(name).features.map((entry) => [entry.name, entry.weight]));
  const list = candidateTable(name, app, "best", N_CANDIDATES);
  const refresh = () => list.querySelector("tbody").replaceChildren(...candidateRows(name, app, "best", N_CANDIDATES));
  const rows = movable(name, app).map((key, i) => {
    const weight = kept[key] ?? 0;
    const start = app.request(name).round ? weight : (own[key] ?? weight);
    const reach = Math.max(0.5, 2.5 * Math.abs(start), Math.abs(weight - start));
    const shown = el("output", { class: "numeric", for: `slide ${name} ${i}` }, number(weight, 3));
    const changed = app.state.changed[name]?.[key] !== undefined;
    const slider = el("input", {
      type: "range",
      id: `slide ${name} ${i}`,
      "data-key": `slide ${name} ${key}`,
      "data-feature": key,
      min: start - reach,
      max: start + reach,
      step: reach / 100,
      oninput: (event) => {
        shown.textContent = number(Number(event.target.value), 3);
        app.move(name, key, Number(event.target.value));
        refresh();
      },
      onchange: () => app.settle(name),
    });
    slider.value = String(weight);
    return el("li", { class: changed ? "changed" : null }, el("label", { for: `slide ${name} ${i}` }, feature(key, app.meanings)), slider, shown);
  });
  return el(
    "div",
    {},
    el("ul", { class: "sliders" }, rows),
    el(
      "div",
      { class: "buttons" },
      el("button", { type: "button", disabled: !app.state.changed[name], "data-key": `reset ${name}`, onclick: () => app.reset(name) }, "Back to the system's weights"),
    ),
    list,
  );
};
