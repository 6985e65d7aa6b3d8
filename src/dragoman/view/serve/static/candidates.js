// The k-best list: differences marked, scores by metrics against the reference.
import { digitsFor, el, number } from "./dom.js";
import { marked } from "./words.js";

const METRICS = [
  ["bleu", "BLEU+1", 1],
  ["chrf", "chrF", 1],
  ["ter", "TER", -1],
];

const moved = (rank, at) =>
  rank === at ? null : el("span", { class: rank < at ? "up" : "down" }, rank < at ? ` ▲${at - rank}` : ` ▼${rank - at}`);

/** Rows of candidates by the weights of now: the first `limit`, and those that are the best by a metric. */
export const candidateRows = (name, app, against, limit = Infinity) => {
  const ranked = app.ranked(name);
  const candidates = app.result(name).candidates;
  const scored = candidates[0].metrics !== null;
  const best = Object.fromEntries(
    METRICS.map(([key, , sign]) => [key, scored ? Math.max(...candidates.map((c) => sign * c.metrics[key])) * sign : null]),
  );
  const top = ranked[0];
  const other = against === "reference" ? app.state.reference : top.candidate.text;
  const firstBest = new Set(scored ? METRICS.map(([key]) => candidates.findIndex((c) => c.metrics[key] === best[key])) : []);
  const shown = ranked.map((entry, rank) => ({ ...entry, rank })).filter(({ at, rank }) => rank < limit || firstBest.has(at));
  const digits = digitsFor(top.score - ranked[ranked.length - 1].score);
  return shown.map(({ candidate, at, score, rank }) =>
    el(
      "tr",
      { "aria-selected": String(at === app.picked(name)) },
      el("td", { class: "numeric" }, rank + 1, moved(rank, at)),
      el("td", { class: "numeric" }, rank ? number(score - top.score, digits) : number(score)),
      el(
        "td",
        {},
        el(
          "button",
          { type: "button", class: "pick", "data-key": `pick ${name} ${at}`, dir: "auto", title: "Explain this candidate", onclick: () => app.pick(name, at) },
          marked(candidate.text, against === "best" && rank === 0 ? null : other),
        ),
      ),
      scored
        ? METRICS.map(([key]) => el("td", { class: "numeric" }, el("span", { class: candidate.metrics[key] === best[key] ? "best" : null }, candidate.metrics[key].toFixed(1))))
        : null,
    ),
  );
};

/** Candidates shown until more are asked for. */
const N_FIRST = 12;

export const candidateTable = (name, app, against = "best", limit = Infinity) => {
  const scored = app.result(name).candidates[0].metrics !== null;
  const columns = ["#", "score", "translation", ...(scored ? METRICS.map(([, label]) => label) : [])];
  return el(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": `Candidates of ${name}` },
    el(
      "table",
      { class: "candidates" },
      el("thead", {}, el("tr", {}, columns.map((label) => el("th", { scope: "col", class: label === "translation" ? null : "numeric" }, label)))),
      el("tbody", {}, candidateRows(name, app, against, limit)),
    ),
  );
};

/** What the list says about errors of the model, if there is a reference. */
const remark = (name, app) => {
  const candidates = app.result(name).candidates;
  if (candidates[0].metrics === null) {
    return el("p", { class: "soft" }, "Type a reference above to see which candidate is closest to it.");
  }
  const best = candidates.reduce((a, c, at) => (c.metrics.bleu > candidates[a].metrics.bleu ? at : a), 0);
  if (best === 0) return el("p", { class: "notice" }, "The first candidate is the closest to the reference: no model error among these candidates.");
  const gain = candidates[best].metrics.bleu - candidates[0].metrics.bleu;
  const lower = candidates[0].score - candidates[best].score;
  return el(
    "p",
    { class: "notice" },
    `Model error: candidate ${best + 1} is ${gain.toFixed(1)} BLEU+1 closer to the reference, but the weights score it ${number(lower, digitsFor(lower))} lower. `,
    el(
      "button",
      {
        type: "button",
        onclick: () => {
          app.memory.compare = { a: `${name}\n0`, b: `${name}\n${best}` };
          app.show("compare");
        },
      },
      "Compare the two",
    ),
  );
};

export const drawCandidates = (name, app) => {
  const against = app.state.reference.trim() ? (app.memory.against ?? "reference") : "best";
  const n = app.result(name).candidates.length;
  const all = app.memory.allOf?.has(name);
  const limit = Math.max(N_FIRST, app.picked(name) + 1);
  const choose = (value, label) =>
    el(
      "button",
      {
        type: "button",
        "aria-pressed": String(value === against),
        "data-key": `against ${name} ${value}`,
        onclick: () => {
          app.memory.against = value;
          app.redraw();
        },
      },
      label,
    );
  return el(
    "div",
    {},
    remark(name, app),
    app.state.reference.trim()
      ? el("div", { class: "toggle", role: "group", "aria-label": "Marked words" }, choose("reference", "Mark words not in the reference"), choose("best", "Mark words not in the first"))
      : null,
    candidateTable(name, app, against, all ? Infinity : limit),
    all || limit >= n
      ? null
      : el(
          "button",
          {
            type: "button",
            "data-key": `all ${name}`,
            onclick: () => {
              (app.memory.allOf ??= new Set()).add(name);
              app.redraw();
              document.querySelector(`[data-key="${CSS.escape(`pick ${name} ${limit}`)}"]`)?.focus();
            },
          },
          `Show all ${n}`,
        ),
  );
};
