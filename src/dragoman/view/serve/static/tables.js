// The phrase or rule table: translations of a phrase and the training sentences it comes from.
import { post } from "./api.js";
import { el, number, plain } from "./dom.js";
import { split } from "./words.js";

export const drawTables = (app) => {
  const names = app.about.systems.map((system) => system.name);
  const memory = (app.memory.tables ??= { system: app.state.chosen[0] ?? names[0], phrase: "", found: null, asked: false });
  const box = el("div", { "aria-live": "polite" });
  const select = el("select", { id: "table-system", "data-key": "table-system", onchange: (event) => choose(event.target.value) }, names.map((name) => el("option", { value: name }, name)));
  select.value = memory.system;
  const input = el("input", { type: "text", id: "phrase", "data-key": "phrase", dir: "auto", spellcheck: "false", placeholder: "a source phrase, such as das haus or [X,1] nicht", oninput: (event) => (memory.phrase = event.target.value) });
  input.value = plain(memory.phrase);
  // What was found in a derivation has the tokens' own signs, which the form shows in another way.
  const typed = () => (input.value === plain(memory.phrase) ? memory.phrase : input.value);
  const choose = (system) => {
    Object.assign(memory, { system, phrase: typed(), found: null, error: null, asked: true });
    app.redraw();
  };
  const fill = () => box.replaceChildren(...(memory.error ? [el("p", { class: "error" }, memory.error)] : memory.found ? shown(memory.found) : []));
  const ask = async (system, phrase) => {
    Object.assign(memory, { system, phrase, asked: false, error: null });
    if (!phrase.trim()) return;
    try {
      const answer = await post("/api/lookup", { system, phrase, targets: 12, sentences: 3 }, "lookup");
      if (answer === null) return;
      memory.found = answer;
    } catch (error) {
      memory.error = error.message;
    }
    fill();
  };
  if (memory.asked) ask(memory.system, memory.phrase);
  fill();
  return el(
    "div",
    { class: "card" },
    el(
      "form",
      {
        class: "buttons",
        onsubmit: (event) => {
          event.preventDefault();
          ask(select.value, typed());
        },
      },
      select,
      el("label", { for: "phrase", class: "soft" }, "Phrase"),
      el("span", { class: "grow" }, input),
      el("button", {}, "Look up"),
    ),
    phrases(app, memory, ask, input),
    box,
  );
};

/** The phrases of the sentence that is shown, to look up by a touch. */
const phrases = (app, memory, ask, input) => {
  const pieces = app.result(memory.system)?.explanation?.pieces ?? [];
  const sources = [...new Set(pieces.map((piece) => piece.source).filter((source) => source.replace(/\[[^\]\s]+,\d+\]/g, "").trim()))];
  if (!sources.length) return null;
  const put = (source) => {
    input.value = plain(source);
    ask(memory.system, source);
  };
  return el(
    "div",
    { class: "buttons", role: "group", "aria-label": "Phrases of the sentence" },
    el("span", { class: "soft" }, "Of this sentence:"),
    sources.map((source) => el("button", { type: "button", dir: "auto", "data-key": `phrase ${source}`, onclick: () => put(source) }, source)),
  );
};

const shown = (found) => {
  const seen = found.n_occurrences === null ? "" : ` is in ${found.n_occurrences.toLocaleString("en")} lines of the training text.`;
  if (!found.rows.length) return [el("p", {}, el("b", {}, found.source), seen || " has no translation in the table.", " Unknown words are copied.")];
  const scores = Object.keys(found.rows[0].scores);
  const cell = (name, value) => (/^(p_|lex_)/.test(name) ? Math.exp(value).toFixed(4) : number(value, 3));
  const rows = found.rows.map((row) => [
    el(
      "tr",
      {},
      el("td", { dir: "auto" }, el("b", {}, row.target)),
      el("td", { class: "numeric" }, row.count.toLocaleString("en")),
      scores.map((name) => el("td", { class: "numeric" }, cell(name, row.scores[name]))),
    ),
  ]);
  return [
    seen ? el("p", {}, el("b", {}, found.source), seen) : el("p", { class: "soft" }, "The system keeps no training text: its tables were imported, or made by an earlier version."),
    el(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Translations of the phrase" },
      el("table", {}, el("thead", {}, el("tr", {}, ["translation", "count", ...scores].map((name, i) => el("th", { class: i ? "numeric" : null }, name)))), el("tbody", {}, rows)),
    ),
    ...found.rows
      .filter((row) => row.sentences.length)
      .map((row) =>
        el(
          "details",
          {},
          el("summary", {}, `Training sentences with ${row.target}`),
          row.sentences.map(([line, source, target]) =>
            el("div", { class: "sentence" }, el("p", { class: "soft" }, `line ${line.toLocaleString("en")}`), el("p", { dir: "auto" }, highlighted(source, found.source)), el("p", { dir: "auto" }, highlighted(target, row.target))),
          ),
        ),
      ),
  ];
};

/** A sentence with the words of a phrase marked where they stand side by side. */
const highlighted = (sentence, phrase) => {
  const words = split(sentence);
  const inside = words.map(() => false);
  for (const part of phrase.split(/\[[^\]\s]+,\d+\]/).map(split)) {
    for (let i = 0; part.length && i + part.length <= words.length; i++) {
      if (part.every((word, j) => words[i + j] === word)) part.forEach((_, j) => (inside[i + j] = true));
    }
  }
  return words.map((word, i) => [i ? " " : "", inside[i] ? el("mark", {}, word) : word]);
};
