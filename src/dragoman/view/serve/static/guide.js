// What the page can show, before anything is typed: a way through a lecture.
import { el } from "./dom.js";

const STEPS = [
  ["derivation", "Phrases and rules", "how a phrase-based system moves phrases, and a hierarchical one nests rules with gaps"],
  ["candidates", "Model error", "a better translation is in the list, but the weights prefer another (needs a reference)"],
  ["efforts", "Search error", "more search finds a translation that the model likes better"],
  ["force", "Out of reach", "a translation that the tables cannot make, whatever the weights"],
  ["weights", "What tuning does", "weights decide which candidate is first: move them"],
  ["run", "What tuning did", "scores, weights and sentences before and after"],
];

export const drawGuide = (app, views) => {
  const steps = STEPS.filter(([name]) => views.some((view) => view.name === name && (!view.when || view.when(app))));
  return el(
    "div",
    { class: "card guide" },
    el("p", {}, app.examples.length ? "Type a sentence, or take an example. Then look at" : "Type a sentence. Then look at"),
    el("ol", {}, steps.map(([name, label, said]) => el("li", {}, el("button", { type: "button", "data-key": `guide ${name}`, onclick: () => app.begin(name) }, label), ` ${said}`))),
  );
};
