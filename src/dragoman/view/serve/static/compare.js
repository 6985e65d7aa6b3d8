// Two candidates, of one system or of two, subtracted feature by feature.
import { bar, contributionsOf } from "./bars.js";
import { digitsFor, el, feature, number, signed } from "./dom.js";
import { marked } from "./words.js";

const N_SHOWN = 24;

export const drawCompare = (app) => {
  const names = app.state.chosen.filter((name) => app.result(name)?.candidates.length);
  if (!names.length) return el("p", {}, "Type a sentence first.");
  const all = names.flatMap((name) =>
    app.ranked(name).map(({ candidate, at, score }) => ({ key: `${name}\n${at}`, name, at, score, candidate })),
  );
  const usual = { a: `${names[0]}\n0`, b: names.length > 1 ? `${names[1]}\n0` : (all[1] ?? all[0]).key };
  const asked = app.memory.compare ?? {};
  const find = (side) => all.find((entry) => entry.key === asked[side]) ?? all.find((entry) => entry.key === usual[side]);
  const [a, b] = [find("a"), find("b")];
  const choose = (side, chosen) => {
    const select = el(
      "select",
      {
        id: `side-${side}`,
        "data-key": `side ${side}`,
        onchange: (event) => {
          app.memory.compare = { a: a.key, b: b.key, [side]: event.target.value };
          app.redraw();
        },
      },
      all.map((entry) => el("option", { value: entry.key }, `${entry.name} ${entry.at + 1}: ${entry.candidate.text}`)),
    );
    select.value = chosen.key;
    return el("div", {}, el("label", { for: `side-${side}` }, side.toUpperCase()), select);
  };
  const [ofA, ofB] = [a, b].map((side) => new Map(contributionsOf(side.candidate.features, app.weights(side.name)).map((item) => [item.name, item])));
  const keys = [...new Set([...ofA.keys(), ...ofB.keys()])];
  const rows = keys
    .map((key) => {
      const [x, y] = [ofA.get(key)?.contribution ?? 0, ofB.get(key)?.contribution ?? 0];
      return { key, x, y, difference: x - y };
    })
    .sort((p, q) => Math.abs(q.difference) - Math.abs(p.difference) || p.key.localeCompare(q.key));
  const largest = Math.max(0, ...rows.map((row) => Math.abs(row.difference)));
  const rest = rows.slice(N_SHOWN);
  const digits = digitsFor(largest);
  const line = (label, x, y) =>
    el(
      "tr",
      {},
      el("td", {}, label),
      el("td", { class: "numeric" }, signed(x, digits)),
      el("td", { class: "numeric" }, signed(y, digits)),
      el("td", { class: "bar-cell" }, bar(x - y, largest)),
      el("td", { class: "numeric" }, signed(x - y, digits)),
    );
  const sum = (list, side) => list.reduce((total, row) => total + row[side], 0);
  return el(
    "div",
    { class: "card" },
    el("div", { class: "compare" }, choose("a", a), choose("b", b)),
    el("div", { class: "compare" }, [
      [a, b],
      [b, a],
    ].map(([one, other]) => el("p", { class: "translation", dir: "auto" }, marked(one.candidate.text, other.candidate.text)))),
    a.name === b.name
      ? el("p", { class: "soft" }, a.score >= b.score ? `The model prefers A by ${number(a.score - b.score, digitsFor(a.score - b.score))}.` : `The model prefers B by ${number(b.score - a.score, digitsFor(b.score - a.score))}.`)
      : el("p", { class: "soft" }, "Each system counts with its own weights; only contributions of one system add up to a preference."),
    el(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Differences of features" },
      el(
        "table",
        { class: "contributions" },
        el("thead", {}, el("tr", {}, ["feature", "A", "B", "", "A − B"].map((label, i) => el("th", { class: [1, 2, 4].includes(i) ? "numeric" : null }, label)))),
        el("tbody", {}, rows.slice(0, N_SHOWN).map((row) => line(feature(row.key, app.meanings), row.x, row.y)), rest.length ? line(`${rest.length} more`, sum(rest, "x"), sum(rest, "y")) : null),
        el("tfoot", {}, line("score", sum(rows, "x"), sum(rows, "y"))),
      ),
    ),
  );
};
