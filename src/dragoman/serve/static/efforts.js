// The same sentence by every search effort: search errors become visible.
import { post } from "./api.js";
import { el, number, table } from "./dom.js";
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
  const best = Math.max(...rows.map((row) => row.score));
  const top = rows.find((row) => row.score === best);
  const worse = rows.filter((row) => best - row.score > 1e-4);
  const remark = worse.length
    ? `Search error: ${worse.map((row) => row.effort).join(" and ")} missed a translation that the model scores ${number(best - Math.min(...worse.map((row) => row.score)))} higher.`
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
          el("td", { class: "numeric" }, el("span", { class: best - row.score <= 1e-4 ? "best" : null }, number(row.score))),
          el("td", { dir: "auto" }, marked(row.text, row === top ? null : top.text)),
          el("td", { class: "numeric" }, row.decode_ms.toFixed(1)),
          el("td", { class: "numeric" }, row.n_edges.toLocaleString("en")),
        ),
      ),
      { label: "Search efforts" },
    ),
  ];
};
