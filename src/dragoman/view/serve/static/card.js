// The card of a system: its translation with scores, and below it a view.
import { isCopied } from "./derivation.js";
import { el, number } from "./dom.js";

/** Words that the shown derivation copies; spellings of the text and of the reference that the system knows more of. */
const unknownTo = ({ explanation, suggestion }, app) => {
  const copied = [...new Set(explanation.pieces.filter(isCopied).map((piece) => piece.source))];
  const offer = (id, key, label) =>
    suggestion[id] ? [" ", el("button", { type: "button", "data-key": key, title: suggestion[id], onclick: () => app.enter(id, suggestion[id]) }, label)] : null;
  return [
    copied.length
      ? el("p", { class: "soft", "data-copied": true }, "Unknown to its tables, and copied: ", copied.map((word, i) => [i ? ", " : "", el("b", { dir: "auto" }, word)]), offer("text", "suggestion", "Write it as the system was trained"))
      : null,
    suggestion.reference ? el("p", { class: "soft" }, "The reference has words that it never makes.", offer("reference", "suggested reference", "Write them as the system does")) : null,
  ];
};

/** What a system says, with its scores. */
export const heading = (name, app) => {
  const { state } = app;
  const system = app.system(name);
  const result = state.results[name];
  const kind = el("span", { class: "soft" }, system.kind === "hiero" ? "hierarchical" : system.kind === "phrase" ? "phrase-based" : system.kind, system.tuned ? ", tuned" : "");
  const top = result?.candidates.length ? app.ranked(name)[0] : null;
  const shown = result?.candidates[app.picked(name)];
  const figures = [];
  if (top) {
    const line = state.live[name] || app.picked(name) === 0 ? top : { candidate: shown, score: shown.score };
    figures.push(el("p", { class: "translation", "data-translation": name, dir: "auto" }, line.candidate.text));
    const parts = [["score", number(line.score)]];
    if (line.candidate.metrics) {
      parts.push(["BLEU+1", line.candidate.metrics.bleu.toFixed(1)], ["chrF", line.candidate.metrics.chrf.toFixed(1)], ["TER", line.candidate.metrics.ter.toFixed(1)]);
    }
    if (state.live[name]) parts.push(["re-ranked", `${result.candidates.length} candidates; let go to decode`]);
    else parts.push(["decoded in", `${result.decode_ms.toFixed(result.decode_ms < 10 ? 1 : 0)} ms`]);
    if (!state.live[name] && app.picked(name) > 0) parts.push(["shown", `candidate ${app.picked(name) + 1}`]);
    if (state.round) parts.push(["weights", app.fits(name, state.round.tuning) ? `round ${state.round.number} of ${state.round.tuning}` : "its own: the run has other features"]);
    figures.push(el("p", { class: "figures soft" }, parts.map(([what, value]) => el("span", {}, `${what} `, el("b", {}, value)))));
    figures.push(unknownTo(result, app));
  } else if (state.errors[name]) figures.push(el("p", { class: "error" }, state.errors[name]));
  const head = el("header", {}, el("h2", {}, name), kind);
  return figures.length ? el("header", {}, [...head.childNodes], el("div", { class: "said" }, figures)) : head;
};

/** A system and a view of what it says. */
export const card = (name, view, app) => {
  const made = el("article", { class: "card", "data-system": name, "aria-label": name }, heading(name, app));
  if (app.state.results[name]?.candidates.length) made.append(view.draw(name, app));
  return made;
};
