// The same sentence by every search effort: search errors become visible.
import { post } from "./api.js";
import { digitsFor, el, number, table } from "./dom.js";
import { marked } from "./words.js";

export const drawEfforts = (name, app) => {
  const box = el("div", {}, el("p", { class: "soft" }, "Searching…"));
  const body = app.request(name);
  const key = JSON.stringify(body);
  const kept = (app.memory.efforts ??= {});
  const fill = (rows) => box.replaceChildren(...shown(rows));
  if (kept[name]?.key === key) fill(kept[name].rows);
  else {
    post("/api/efforts", body, `efforts ${name}`)
      .then((answer) => {
        if (answer === null) return;
        kept[name] = { key, rows: answer.efforts };
        fill(answer.efforts);
      })
      .catch((error) => box.replaceChildren(el("p", { class: "error" }, error.message)));
  }
  return box;
};

const shown = (rows) => {
  const scores = rows.map((row) => row.score).filter((score) => score !== null);
  if (!scores.length) return [el("p", { class: "notice" }, "No effort finds a derivation of the sentence.")];
  const best = Math.max(...scores);
  const gap = best - Math.min(...scores);
  const digits = digitsFor(gap > 1e-4 ? gap : best);
  const top = rows.find((row) => row.score === best);
  const worse = rows.filter((row) => row.score === null || best - row.score > 1e-4);
  const remark = worse.length
    ? `Search error: ${worse.map((row) => row.effort).join(" and ")} missed a translation that the model scores ${number(gap, digits)} higher.`
    : "No search error was found: more search finds nothing that the model likes better.";
  return [
    el("p", { class: "notice" }, remark),
    table(
      ["effort", "#score", "translation", "#ms", "#edges"],
      rows.map((row) =>
        el(
          "tr",
          {},
          el("td", {}, row.effort),
          el("td", { class: "numeric" }, el("span", { class: worse.includes(row) ? null : "best" }, row.score === null ? "" : number(row.score, digits))),
          el("td", { dir: "auto" }, marked(row.text, row === top ? null : top.text)),
          el("td", { class: "numeric" }, row.decode_ms.toFixed(1)),
          el("td", { class: "numeric" }, row.n_edges.toLocaleString("en")),
        ),
      ),
      { label: "Search efforts" },
    ),
  ];
};
