// "Why not this?": a translation that the user types, derived by the system's own tables.
import { post } from "./api.js";
import { bar } from "./bars.js";
import { drawPhrases, drawTree } from "./derivation.js";
import { digitsFor, el, feature, number, signed } from "./dom.js";
import { marked } from "./words.js";

const VERDICTS = {
  same: "This is the system's own translation.",
  model: "Model error, if it is the better one: the system can make it, search has it within reach, and the weights prefer another.",
  search: "Search error: the weights prefer it to the system's own translation, which search stopped at.",
  unreachable: "Out of reach: within the limits of reordering the tables cannot make it, whatever the weights. Below is the nearest that they can.",
  unfound: "Out of reach, as far as the search could see, which was pruned: a derivation may have been missed. Below is the nearest one found.",
};

export const drawForced = (name, app) => {
  const memory = (app.memory.force ??= { target: "", found: {} });
  const box = el("div", { "aria-live": "polite" });
  const input = el("input", {
    type: "text",
    id: `wanted ${name}`,
    "data-key": `wanted ${name}`,
    dir: "auto",
    spellcheck: "false",
    placeholder: "another translation",
    oninput: (event) => (memory.target = event.target.value),
  });
  input.value = memory.target || app.state.reference;
  const ask = async () => {
    const target = input.value;
    if (!target.trim()) return;
    if (target !== app.state.reference) memory.target = target;
    const body = { ...app.request(name), target };
    try {
      const found = await post("/api/force", body, `force ${name}`);
      if (found === null) return;
      memory.found[name] = { key: JSON.stringify(app.request(name)), found };
      box.replaceChildren(...shown(found, app, name));
    } catch (error) {
      box.replaceChildren(el("p", { class: "error" }, error.message));
    }
  };
  const kept = memory.found[name];
  if (kept && kept.key === JSON.stringify(app.request(name))) box.replaceChildren(...shown(kept.found, app, name));
  return el(
    "div",
    {},
    el(
      "form",
      {
        class: "buttons",
        onsubmit: (event) => {
          event.preventDefault();
          ask();
        },
      },
      el("label", { for: `wanted ${name}` }, "Why not"),
      el("span", { class: "grow" }, input),
      el("button", {}, "Ask"),
    ),
    box,
  );
};

const shown = (found, app, name) => {
  const largest = Math.max(0, ...found.differences.map((item) => Math.abs(item.contribution)));
  const digits = digitsFor(Math.min(largest, Math.abs(found.score_difference)) || largest);
  const rows = found.differences.slice(0, 14).map((item) =>
    el(
      "tr",
      {},
      el("td", {}, feature(item.name, app.meanings)),
      el("td", { class: "numeric" }, number(item.given)),
      el("td", { class: "numeric" }, number(item.own)),
      el("td", { class: "bar-cell" }, bar(item.contribution, largest)),
      el("td", { class: "numeric" }, signed(item.contribution, digits)),
    ),
  );
  const rest = found.differences.slice(14).reduce((sum, item) => sum + item.contribution, 0);
  const draw = found.given.nodes ? drawTree(found.given, app, name, app.memory.over ?? "target") : drawPhrases(found.given, app, name);
  return [
    el("p", { class: "notice verdict", "data-verdict": found.verdict }, VERDICTS[found.verdict === "unreachable" && !found.is_complete ? "unfound" : found.verdict]),
    found.edits.length ? el("ul", {}, found.edits.map((line) => el("li", {}, line))) : null,
    el("p", { class: "soft" }, `Score ${number(found.given.score, digits)}, the system's own ${number(found.own.score, digits)}: ${signed(found.score_difference, digits)}.`, found.is_complete || found.verdict === "unreachable" ? "" : " The search for it was pruned: a better derivation may have been missed."),
    el("p", { dir: "auto" }, marked(found.texts.given, found.texts.own)),
    draw,
    rows.length
      ? el(
          "div",
          { class: "scroll", tabindex: "0", role: "region", "aria-label": "What speaks for and against it" },
          el(
            "table",
            { class: "contributions" },
            el("thead", {}, el("tr", {}, ["feature", "this", "own", "", "speaks for it"].map((label, i) => el("th", { class: [1, 2, 4].includes(i) ? "numeric" : null }, label)))),
            el("tbody", {}, rows),
            found.differences.length > 14 ? el("tfoot", {}, el("tr", {}, el("td", { colspan: "4" }, `${found.differences.length - 14} more`), el("td", { class: "numeric" }, signed(rest, digits)))) : null,
          ),
        )
      : null,
  ].filter(Boolean);
};
