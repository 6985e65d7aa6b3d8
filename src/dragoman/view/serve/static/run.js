// A recorded tuning: scores and weights of its rounds, and the sentence decoded with each.
import { post } from "./api.js";
import { el, feature, number, signed, svg, table } from "./dom.js";
import { bar } from "./bars.js";
import { drawSets } from "./sets.js";
import { marked } from "./words.js";

const METRICS = { bleu: "BLEU", chrf: "chrF", ter: "TER" };

export const drawRun = (app) => {
  const memory = (app.memory.run ??= { tuning: app.run.tunings[0].name, number: null, through: {} });
  const tuning = app.run.tunings.find((entry) => entry.name === memory.tuning);
  const now = tuning.rounds.find((round) => round.number === memory.number) ?? tuning.rounds.find((round) => round.number === tuning.best_round) ?? tuning.rounds[0];
  const pick = (number) => {
    memory.number = number;
    app.redraw();
  };
  const select = el(
    "select",
    {
      id: "tuning",
      "data-key": "tuning",
      onchange: (event) => {
        Object.assign(memory, { tuning: event.target.value, number: null });
        app.redraw();
      },
    },
    app.run.tunings.map((entry) => el("option", { value: entry.name }, entry.name)),
  );
  select.value = tuning.name;
  const used = app.state.round;
  const fits = app.about.systems.some((system) => app.fits(system.name, tuning.name));
  const isUsed = used && used.tuning === tuning.name && used.number === now.number;
  return el(
    "div",
    { class: "card" },
    el("div", { class: "buttons" }, el("label", { for: "tuning" }, `Run ${app.run.name}`), select),
    drawSets(app),
    el("h3", {}, "The rounds"),
    curve(tuning, now, pick, testLine(tuning, app)),
    el("h3", {}, `Round ${now.number}${now.number === tuning.best_round ? " (kept)" : ""}: ${METRICS[tuning.metric] ?? tuning.metric} ${now.dev.toFixed(2)} on the development set, ${now.n_candidates.toLocaleString("en")} candidates so far`),
    el(
      "div",
      { class: "buttons" },
      el("button", { type: "button", "data-key": "use", disabled: Boolean(isUsed) || !fits, onclick: () => app.useRound({ tuning: tuning.name, number: now.number }) }, "Decode with these weights in all views"),
      el("button", { type: "button", "data-key": "own", disabled: !used, onclick: () => app.useRound(null) }, "Back to the systems' own weights"),
    ),
    fits ? null : el("p", { class: "notice" }, "No system here has the features of this tuning: load the one that was tuned to decode with its weights."),
    weightTable(tuning, now, app),
    through(tuning, app, memory),
  );
};

/** The test set before and after, for a tuning whose rounds were not tested: [round, score] of both ends. */
const testLine = (tuning, app) => {
  const set = app.run.sets.find((one) => !one.is_learned_from);
  const score = set?.scores.find((entry) => entry.label === METRICS[tuning.metric]);
  if (!score || tuning.best_round === tuning.rounds[0].number) return [];
  return [
    [tuning.rounds[0].number, score.before],
    [tuning.best_round, score.after],
  ];
};

const curve = (tuning, now, pick, tested) => {
  const [width, height, left, right, top, bottom] = [640, 220, 62, 620, 16, 184];
  const values = [...tuning.rounds.flatMap((round) => [round.dev, round.test]), ...tested.map(([, value]) => value)].filter((value) => value !== null);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const pad = Math.max(0.2, 0.08 * (high - low));
  const first = tuning.rounds[0].number;
  const last = Math.max(first + 1, tuning.rounds[tuning.rounds.length - 1].number);
  const x = (n) => left + ((n - first) / (last - first)) * (right - left);
  const y = (value) => bottom - ((value - low + pad) / (high - low + 2 * pad)) * (bottom - top);
  const path = (key) =>
    tuning.rounds
      .filter((round) => round[key] !== null)
      .map((round, i) => `${i ? "L" : "M"}${x(round.number).toFixed(1)} ${y(round[key]).toFixed(1)}`)
      .join("");
  const hasTest = tuning.rounds.some((round) => round.test !== null);
  const line = tested.map(([n, value], i) => `${i ? "L" : "M"}${x(n).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  const grid = [low, (low + high) / 2, high].map((value) => [
    svg("path", { class: "grid", d: `M${left} ${y(value)}H${right}` }),
    svg("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, value.toFixed(1)),
  ]);
  const dots = tuning.rounds.map((round) =>
    svg(
      "g",
      {
        tabindex: "0",
        role: "button",
        "data-key": `round ${round.number}`,
        "aria-label": `Round ${round.number}: ${round.dev.toFixed(2)}`,
        onclick: () => pick(round.number),
        onkeydown: (event) => (event.key === "Enter" || event.key === " ") && (event.preventDefault(), pick(round.number)),
      },
      svg("circle", { cx: x(round.number), cy: y(round.dev), r: 6, class: round.number === now.number ? "now" : null }),
      round.test === null ? null : svg("circle", { cx: x(round.number), cy: y(round.test), r: 4, class: round.number === now.number ? "test-dot now" : "test-dot" }),
      svg("text", { x: x(round.number), y: bottom + 20, "text-anchor": "middle" }, round.number),
    ),
  );
  return el(
    "div",
    {},
    el("p", { class: "soft" }, `${METRICS[tuning.metric] ?? tuning.metric} by round: development set (solid)${hasTest ? ", test set (dashed)" : tested.length ? ", test set before and after (dashed)" : ""}. Choose a round.`),
    svg(
      "svg",
      { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "group", "aria-label": "Scores by round" },
      grid,
      svg("path", { class: "dev", d: path("dev") }),
      hasTest || tested.length ? svg("path", { class: "test", d: hasTest ? path("test") : line }) : null,
      dots,
    ),
  );
};

/** Its weight ranks nothing, since unknown words are copied whatever they cost, and would flatten all others. */
const UNKNOWN = "unknown";

/** Weights of a round beside those of the first, both scaled to the same sum of absolute values. */
const weightTable = (tuning, now, app) => {
  const scaled = (weights) => {
    const sum = Object.entries(weights).reduce((total, [name, value]) => total + (name === UNKNOWN ? 0 : Math.abs(value)), 0) || 1;
    return Object.fromEntries(Object.entries(weights).map(([name, value]) => [name, value / sum]));
  };
  const [start, here] = [scaled(tuning.rounds[0].weights), scaled(now.weights)];
  const rows = [...new Set([...Object.keys(start), ...Object.keys(here)])]
    .filter((name) => name !== UNKNOWN)
    .map((name) => ({ name, before: start[name] ?? 0, after: here[name] ?? 0 }))
    .sort((a, b) => Math.abs(b.after - b.before) - Math.abs(a.after - a.before) || a.name.localeCompare(b.name))
    .slice(0, 24);
  const largest = Math.max(0, ...rows.map((row) => Math.abs(row.after - row.before)));
  const shown = el("details", { open: true }, el("summary", {}, `Weights: the start, this round, and what changed`));
  shown.append(
    table(
      ["feature", "#start", "#round", "", "#change"],
      rows.map((row) =>
        el("tr", {}, el("td", {}, feature(row.name, app.meanings)), el("td", { class: "numeric" }, number(row.before, 3)), el("td", { class: "numeric" }, number(row.after, 3)), el("td", { class: "bar-cell" }, bar(row.after - row.before, largest)), el("td", { class: "numeric" }, signed(row.after - row.before, 3))),
      ),
      { label: "Weights of the round", class: "contributions" },
    ),
    el("p", { class: "soft" }, "Scaled to a sum of 1, because only ratios of weights matter to the choice. Without unknown: such words are copied whatever they cost."),
  );
  return shown;
};

/** The sentence with the weights of every round. */
const through = (tuning, app, memory) => {
  const names = app.state.chosen.filter((name) => app.result(name)?.candidates.length && app.fits(name, tuning.name));
  const box = el("div", { "aria-live": "polite" });
  if (!names.length) return el("p", { class: "soft" }, "Choose a system with these features and type a sentence above to decode it with the weights of every round.");
  const select = el("select", { "aria-label": "System", "data-key": "through" }, names.map((name) => el("option", { value: name }, name)));
  const key = (name) => JSON.stringify([tuning.name, name, app.state.text, app.state.sentence, app.state.effort, app.state.reference]);
  const fill = (name, found) => {
    let before = null;
    const scored = found.some((entry) => entry.metrics);
    const rows = found.map((entry) => {
      const line = el(
        "tr",
        {},
        el("td", { class: "numeric" }, entry.number),
        el("td", { dir: "auto" }, marked(entry.text, before)),
        scored ? el("td", { class: "numeric" }, entry.metrics ? entry.metrics.bleu.toFixed(1) : "") : null,
      );
      before = entry.text;
      return line;
    });
    box.replaceChildren(el("p", { class: "soft" }, `${name}, decoded with the weights of every round; words that a round changed are marked.`), table(["#round", "translation", ...(scored ? ["#BLEU+1"] : [])], rows, { label: "Translations by round" }));
  };
  const go = async () => {
    const name = select.value;
    const found = [];
    try {
      for (const round of tuning.rounds) {
        const body = { ...app.request(name), weights: {}, round: { tuning: tuning.name, number: round.number }, k: 1, reference: app.state.reference };
        const answer = await post("/api/explain", body, "through");
        if (answer === null) return;
        if (answer.candidates.length) found.push({ number: round.number, text: answer.candidates[0].text, metrics: answer.candidates[0].metrics });
        fill(name, found);
      }
      memory.through = { key: key(name), name, found };
    } catch (error) {
      box.replaceChildren(el("p", { class: "error" }, error.message));
    }
  };
  if (memory.through.found && names.includes(memory.through.name) && memory.through.key === key(memory.through.name)) {
    select.value = memory.through.name;
    fill(memory.through.name, memory.through.found);
  }
  return el("div", {}, el("h3", {}, "This sentence through the rounds"), el("div", { class: "buttons" }, names.length > 1 ? select : null, el("button", { type: "button", "data-key": "through go", onclick: go }, "Decode with every round")), box);
};
