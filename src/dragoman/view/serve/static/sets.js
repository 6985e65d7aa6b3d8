// The sets of a tuned system before and after tuning: scores, and the sentences that changed most.
import { el, number, signed, table } from "./dom.js";
import { marked } from "./words.js";

const LEVEL = 0.05;

/** What a p-value says of a change. */
const verdict = (score) => {
  const gain = (score.after - score.before) * (score.higher_is_better ? 1 : -1);
  if (gain === 0) return "the same";
  const word = gain > 0 ? "better" : "worse";
  if (score.p_value === null) return word;
  return score.p_value < LEVEL ? word : `${word}, may be chance`;
};

const scores = (one) =>
  table(
    ["metric", "#before", "#after", "#change", "#p", "verdict"],
    one.scores.map((score) =>
      el(
        "tr",
        {},
        el("td", {}, score.label, score.higher_is_better ? "" : " (less is better)"),
        el("td", { class: "numeric" }, number(score.before)),
        el("td", { class: "numeric" }, number(score.after)),
        el("td", { class: "numeric" }, signed(score.after - score.before)),
        el("td", { class: "numeric" }, score.p_value === null ? "" : score.p_value.toFixed(3)),
        el("td", {}, verdict(score)),
      ),
    ),
    { label: `Scores of the ${one.name}` },
  );

const sentence = (found, one, app) =>
  el(
    "div",
    { class: "sentence" },
    el("p", { class: "soft", dir: "auto" }, found.source),
    el("p", { dir: "auto" }, el("span", { class: "soft" }, "before "), marked(found.before, found.after)),
    el("p", { dir: "auto" }, el("span", { class: "soft" }, "after "), marked(found.after, found.before)),
    el("p", { class: "soft", dir: "auto" }, `reference ${found.reference}`),
    el("p", { class: "soft" }, `${signed(found.change, 1)} chrF `, one.is_learned_from ? null : el("button", { type: "button", "data-key": `try ${found.source}`, onclick: () => app.write(found.source, found.reference) }, "Look at it")),
  );

/** Every set with its scores; below, folded, the sentences that changed most. */
export const drawSets = (app) => {
  if (!app.run.sets.length) return null;
  const test = app.run.sets.some((one) => !one.is_learned_from);
  return el(
    "div",
    { class: "sets" },
    el("h3", {}, "The sets before and after tuning"),
    app.run.sets.map((one) => [
      el("p", {}, el("b", {}, `${one.name[0].toUpperCase()}${one.name.slice(1)}`), `: ${one.n_sentences.toLocaleString("en")} sentences, ${one.n_changed.toLocaleString("en")} of them translated otherwise. `, el("span", { class: "soft" }, one.is_learned_from ? "The weights were learned from it." : "Nothing was learned from it.")),
      scores(one),
      one.sentences.length ? el("details", {}, el("summary", {}, "Sentences that changed most"), one.sentences.map((found) => sentence(found, one, app))) : null,
    ]),
    test ? null : el("p", { class: "notice" }, "Without a test set (tune --test) nobody knows what was learned and what was memorised."),
  );
};
