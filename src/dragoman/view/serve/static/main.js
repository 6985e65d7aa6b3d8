// The page: what is asked, what was answered, and the views of it.
import { busy, get, post } from "./api.js";
import { contributionsOf } from "./bars.js";
import { card, heading } from "./card.js";
import { el, intoSight, plain } from "./dom.js";
import { drawGuide } from "./guide.js";
import { holding } from "./hold.js";
import { VIEWS } from "./views.js";
import { split } from "./words.js";

const PAUSE_MS = 120;
const K = 50;
const EFFORTS = { fast: "fast", default: "default", accurate: "accurate" };
const byId = (id) => document.getElementById(id);

/** As if it had been typed. */
const enter = (id, value) => {
  byId(id).value = value;
  byId(id).dispatchEvent(new Event("input"));
};

const mustWait = holding(byId("view"), () => draw());

const state = {
  text: "",
  reference: "",
  effort: "default",
  chosen: [],
  view: VIEWS[0].name,
  sentence: 0,
  round: null, // of the recorded run, in the place of the systems' own weights
  changed: {}, // weights by system and feature that sentences are decoded with
  live: {}, // the same while a slider moves
  picked: {}, // the candidate of each system that is explained
  results: {},
  errors: {},
};

const app = {
  state,
  about: null,
  run: null,
  meanings: new Map(),
  memory: {}, // of views, across redrawing

  system: (name) => app.about.systems.find((system) => system.name === name),
  result: (name) => state.results[name],

  /** The body of a request about the current sentence. */
  request: (name) => ({
    system: name,
    text: state.text,
    sentence: state.sentence,
    effort: state.effort,
    round: app.fits(name, state.round?.tuning) ? state.round : null,
    weights: state.changed[name] ?? {},
  }),

  /** Whether a tuning of the run was of features that a system has. */
  fits: (name, tuning) => app.system(name).tunings.includes(tuning),

  /** The weights that candidates are ranked with now. */
  weights: (name) => ({ ...state.results[name]?.weights, ...state.live[name] }),

  /** Candidates by the weights of now: the place in the list, and the score. */
  ranked: (name) => {
    const { candidates } = state.results[name];
    if (!state.live[name]) return candidates.map((candidate, at) => ({ candidate, at, score: candidate.score }));
    const weights = app.weights(name);
    return candidates
      .map((candidate, at) => ({
        candidate,
        at,
        score: contributionsOf(candidate.features, weights).reduce((sum, item) => sum + item.contribution, 0),
      }))
      .sort((a, b) => b.score - a.score || a.at - b.at);
  },

  picked: (name) => Math.min(state.picked[name] ?? 0, (state.results[name]?.candidates.length ?? 1) - 1),

  pick: async (name, at) => {
    state.picked[name] = at;
    await ask([name]);
  },

  /** Sliders moved: rank again in the page; nothing is asked. */
  move: (name, feature, value) => {
    state.live[name] = { ...state.changed[name], ...state.live[name], [feature]: value };
    for (const head of document.querySelectorAll(".card > header")) {
      if (head.parentElement.dataset.system === name) head.replaceWith(heading(name, app));
    }
  },

  /** A slider was let go: decode with its weights. */
  settle: async (name) => {
    state.changed[name] = { ...state.changed[name], ...state.live[name] };
    delete state.live[name];
    state.picked[name] = 0;
    await ask([name]);
  },

  reset: async (name) => {
    delete state.changed[name];
    delete state.live[name];
    state.picked[name] = 0;
    await ask([name]);
  },

  useRound: async (round) => {
    state.round = round;
    state.changed = {};
    state.live = {};
    state.picked = {};
    await ask();
  },

  lookUp: (system, phrase) => {
    app.memory.tables = { system, phrase, found: null, asked: true };
    show("tables");
  },

  /** Put a sentence and its reference into the form, and show how it is translated. */
  write: (text, reference) => {
    enter("text", text);
    enter("reference", reference);
    show(VIEWS[0].name);
    byId("text").scrollIntoView({ block: "nearest" });
    byId("text").focus({ preventScroll: true });
  },

  /** Show a view of the first example, where there is one. */
  begin: (view) => {
    if (!state.text.trim() && app.examples.length) byId("example").click();
    show(view);
    byId(`tab-${view}`).focus();
  },

  show: (view) => show(view),
  enter,
  redraw: () => draw(),
  say: (text, isError = false) => {
    byId("status").textContent = plain(text);
    byId("status").classList.toggle("error", isError);
  },
};

/** Ask the systems for the current sentence, and draw what they answer. */
async function ask(names = state.chosen) {
  if (!state.text.trim()) {
    state.results = {};
    state.errors = {};
    app.say("");
    draw();
    return;
  }
  await Promise.all(
    names.map(async (name) => {
      const body = { ...app.request(name), k: K, candidate: state.picked[name] ?? 0, reference: state.reference };
      try {
        const answer = await post("/api/explain", body, `explain ${name}`);
        if (answer === null || !state.text.trim()) return;
        state.results[name] = answer;
        delete state.errors[name];
      } catch (error) {
        const lost = /^there is no (candidate|sentence)/.test(error.message);
        if (lost && (state.picked[name] || state.sentence)) {
          state.picked[name] = 0;
          state.sentence = 0;
          return ask([name]);
        }
        state.errors[name] = error.message;
        delete state.results[name];
      }
      draw();
    }),
  );
}

function draw() {
  if (mustWait()) return;
  const view = VIEWS.find((entry) => entry.name === state.view);
  const focused = document.activeElement?.dataset?.key;
  const scrolled = new Map([...document.querySelectorAll("[data-scroll]")].map((e) => [e.dataset.scroll, e.scrollTop]));
  const inside = [el("p", { class: "soft intro" }, view.intro)];
  if (!state.chosen.length) inside.push(el("p", { class: "notice" }, "No system is chosen: choose one above."));
  const found = state.chosen.some((name) => state.results[name] || state.errors[name]);
  if (!state.text.trim() && (!view.whole || view.name === "compare")) inside.push(drawGuide(app, VIEWS));
  else if (view.whole) inside.push(view.draw(app));
  else if (found) inside.push(el("div", { class: "columns" }, state.chosen.filter((name) => state.results[name] || state.errors[name]).map((name) => card(name, view, app))));
  byId("view").replaceChildren(...inside);
  byId("view").setAttribute("aria-labelledby", `tab-${view.name}`);
  for (const tab of byId("views").children) {
    const selected = tab.dataset.view === state.view;
    tab.setAttribute("aria-selected", String(selected));
    tab.tabIndex = selected ? 0 : -1;
    if (selected) intoSight(tab);
  }
  drawSentences();
  if (focused) document.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  for (const [key, top] of scrolled) document.querySelector(`[data-scroll="${CSS.escape(key)}"]`)?.scrollTo(0, top);
}

function drawSentences() {
  const sentences = state.chosen.map((name) => state.results[name]?.sentences).find(Boolean) ?? [];
  byId("sentences").hidden = sentences.length < 2;
  const key = JSON.stringify([sentences, state.sentence, state.effort, state.chosen]);
  if (sentences.length < 2 || byId("sentences").dataset.drawn === key) return;
  byId("sentences").dataset.drawn = key;
  byId("sentences").replaceChildren(
    el("span", { class: "soft" }, "Sentence:"),
    ...sentences.map((tokens, i) =>
      el(
        "button",
        {
          type: "button",
          "data-key": `sentence ${i}`,
          "aria-current": String(i === state.sentence),
          onclick: () => {
            state.sentence = i;
            state.picked = {};
            ask();
          },
        },
        `${i + 1}. ${split(tokens).slice(0, 5).join(" ")}…`,
      ),
    ),
    el("details", { ontoggle: (event) => event.target.open && wholeText(event.target) }, el("summary", {}, "The whole text")),
  );
}

/** The translation of all lines by every system, below its summary. */
async function wholeText(details) {
  try {
    const answer = await post("/api/translate", { text: state.text, systems: state.chosen, effort: state.effort }, "whole");
    if (answer === null) return;
    const columns = Object.entries(answer.translations).map(([name, text]) =>
      el("div", { class: "card" }, el("h2", {}, name), text.split("\n").map((line) => el("p", { dir: "auto" }, line))),
    );
    details.replaceChildren(details.firstChild, el("div", { class: "columns" }, columns));
  } catch (error) {
    details.replaceChildren(details.firstChild, el("p", { class: "error" }, error.message));
  }
}

function show(name) {
  state.view = name;
  draw();
  remember();
}

const tabs = () => {
  const buttons = VIEWS.filter((view) => !view.when || view.when(app)).map((view) =>
    el(
      "button",
      { type: "button", role: "tab", id: `tab-${view.name}`, "data-view": view.name, "aria-controls": "view", onclick: () => show(view.name) },
      view.label,
    ),
  );
  byId("views").replaceChildren(...buttons);
  byId("views").addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity }[event.key];
    if (!step) return;
    event.preventDefault();
    const now = buttons.findIndex((button) => button.dataset.view === state.view);
    const next = Math.abs(step) === 1 ? (now + step + buttons.length) % buttons.length : step < 0 ? 0 : buttons.length - 1;
    show(buttons[next].dataset.view);
    buttons[next].focus();
  });
};

const chip = (type, name, value, label, checked, change) =>
  el("label", { class: "chip" }, el("input", { type, name, value, checked, onchange: change }), el("span", {}, label));

const choices = () => {
  byId("systems").append(
    ...app.about.systems.map((system) =>
      chip("checkbox", "system", system.name, system.name, state.chosen.includes(system.name), (event) => {
        state.chosen = app.about.systems.map((s) => s.name).filter((n) => (n === system.name ? event.target.checked : state.chosen.includes(n)));
        delete state.results[system.name]; // what it said of another sentence
        draw(); // a system that was taken away goes at once, also the last one
        ask(event.target.checked ? [system.name] : []);
        remember();
      }),
    ),
  );
  byId("efforts").append(
    ...Object.entries(EFFORTS).map(([value, label]) =>
      chip("radio", "effort", value, label, value === state.effort, () => {
        state.effort = value;
        ask();
        remember();
      }),
    ),
  );
};

/** The address keeps what was asked, so that it can be kept and shown again. */
const remember = () => {
  const kept = new URLSearchParams();
  if (state.text) kept.set("text", state.text);
  if (state.reference) kept.set("reference", state.reference);
  if (state.effort !== "default") kept.set("effort", state.effort);
  if (state.chosen.length < app.about.systems.length) state.chosen.forEach((name) => kept.append("system", name));
  kept.set("view", state.view);
  history.replaceState(null, "", `#${kept}`);
};

const recall = () => {
  const kept = new URLSearchParams(location.hash.slice(1));
  state.text = kept.get("text") ?? "";
  state.reference = kept.get("reference") ?? "";
  if (kept.get("effort") in EFFORTS) state.effort = kept.get("effort");
  if (VIEWS.some((view) => view.name === kept.get("view") && (!view.when || view.when(app)))) state.view = kept.get("view");
  const known = app.about.systems.map((system) => system.name);
  const named = kept.getAll("system").filter((name) => known.includes(name));
  state.chosen = named.length ? named : known.slice(0, 4);
};

const typed = (id, key) => {
  let waiting = 0;
  byId(id).value = state[key];
  byId(id).addEventListener("input", (event) => {
    state[key] = event.target.value.replace(/\r/g, "");
    if (key === "text") {
      state.sentence = 0;
      state.picked = {};
    }
    if (!waiting) busy(1);
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      waiting = 0;
      ask();
      remember();
      busy(-1);
    }, PAUSE_MS);
  });
};

/** A button that puts one sentence with its reference after the other into the form. */
const offerExamples = () => {
  let next = 0;
  byId("example").hidden = !app.examples.length;
  byId("example").addEventListener("click", () => {
    const pair = app.examples[next++ % app.examples.length];
    ["text", "reference"].forEach((id, i) => enter(id, pair[i]));
  });
};

const start = async () => {
  try {
    [app.about, app.run, app.examples] = await Promise.all(["about", "run", "examples"].map((name) => get(`/api/${name}`)));
  } catch (error) {
    app.say(error.message, true);
    return;
  }
  for (const system of app.about.systems) {
    for (const { name, meaning } of system.features) if (meaning) app.meanings.set(name, meaning);
  }
  for (const [name, meaning] of Object.entries(app.about.templates)) app.meanings.set(name, meaning);
  recall();
  choices();
  tabs();
  typed("text", "text");
  typed("reference", "reference");
  offerExamples();
  byId("ask").addEventListener("submit", (event) => event.preventDefault());
  draw();
  if (state.text) ask();
};

start();
