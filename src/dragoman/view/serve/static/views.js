// The views, in the order of their tabs. A `whole` view is drawn once, others once for each system.
import { contributionsOf, contributionTable } from "./bars.js";
import { drawCandidates } from "./candidates.js";
import { drawCompare } from "./compare.js";
import { drawPhrases, drawTree } from "./derivation.js";
import { digitsFor, el, number } from "./dom.js";
import { drawEfforts } from "./efforts.js";
import { drawForced } from "./force.js";
import { drawRun } from "./run.js";
import { drawSpace } from "./space.js";
import { drawTables } from "./tables.js";
import { drawSliders } from "./weights.js";

const derivation = (name, app) => {
  const { explanation } = app.result(name);
  if (!explanation.nodes) return drawPhrases(explanation, app, name);
  const over = app.memory.over ?? "target";
  const choose = (side) =>
    el(
      "button",
      {
        type: "button",
        "aria-pressed": String(side === over),
        "data-key": `over ${name} ${side}`,
        onclick: () => {
          app.memory.over = side;
          app.redraw();
        },
      },
      `Tree over the ${side}`,
    );
  return el("div", {}, el("div", { class: "toggle" }, choose("target"), choose("source")), drawTree(explanation, app, name, over));
};

const features = (name, app) => {
  const candidate = app.result(name).candidates[app.picked(name)];
  const items = contributionsOf(candidate.features, app.weights(name));
  const sum = items.reduce((total, item) => total + item.contribution, 0);
  return el("div", {}, contributionTable(items, app), el("p", { class: "soft" }, `The sum, ${number(sum, digitsFor(Math.abs(items[0]?.contribution ?? 0)))}, is the model score: ${items.length} features of candidate ${app.picked(name) + 1}.`));
};

export const VIEWS = [
  {
    name: "derivation",
    label: "Derivation",
    intro: "How the translation was put together: phrase pairs that were moved, or rules with gaps that were nested. Point at one to see what it stands for and what it adds to the score.",
    draw: derivation,
  },
  {
    name: "features",
    label: "Features",
    intro: "The score of a translation is a sum: value times weight of every feature. Bars to the right speak for it, bars to the left against it.",
    draw: features,
  },
  {
    name: "candidates",
    label: "Candidates",
    intro: "The best distinct translations of the search. With a reference, a better candidate below the first one is a model error: search found it, the weights prefer another.",
    draw: drawCandidates,
  },
  {
    name: "weights",
    label: "Weights",
    intro: "Move a weight and the candidates are ranked anew at once; let go and the sentence is decoded with it. This is what tuning does, for all sentences and all weights.",
    draw: drawSliders,
  },
  {
    name: "efforts",
    label: "Search effort",
    intro: "The same model, searched less and more. Where more search finds a translation with a higher score, the lower one is a search error.",
    draw: drawEfforts,
  },
  {
    name: "force",
    label: "Why not …?",
    intro: "Type the translation that you expected. Either the tables cannot make it, or the weights prefer another (model error), or search missed it (search error).",
    draw: drawForced,
  },
  {
    name: "space",
    label: "Search space",
    intro: "What the search had in view, packed: every path from left to right, or every tree, is a translation. Prune by posterior; the best derivation stays.",
    draw: drawSpace,
  },
  {
    name: "compare",
    label: "Compare",
    intro: "Two translations subtracted feature by feature: bars to the right speak for A, bars to the left for B.",
    whole: true,
    draw: drawCompare,
  },
  {
    name: "tables",
    label: "Tables",
    intro: "What the tables say of a phrase, and the training sentences it comes from (systems made by train keep them).",
    whole: true,
    draw: drawTables,
  },
  {
    name: "run",
    label: "Run",
    intro: "A recorded tuning, round by round: scores, weights, and this sentence decoded with the weights of each round.",
    whole: true,
    when: (app) => app.run !== null,
    draw: drawRun,
  },
];
