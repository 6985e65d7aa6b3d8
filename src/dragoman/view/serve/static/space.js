// The search space: a lattice of phrases from left to right, or a chart of spans.
import { post } from "./api.js";
import { el, rightToLeft, svg, widthOf } from "./dom.js";
import { split } from "./words.js";

const percent = (share) => `${share >= 0.0995 ? Math.round(100 * share) : (100 * share).toPrecision(1)} %`;

export const drawSpace = (name, app) => {
  const settings = (app.memory.space ??= { threshold: 0.002, scale: 1 });
  const box = el("div", { class: "drawn", "data-space": name }, el("p", { class: "soft" }, "Searching…"));
  const body = () => ({ ...app.request(name), threshold: settings.threshold, scale: settings.scale, edges: 160 });
  const kept = (app.memory.spaces ??= {});
  const load = async () => {
    const key = JSON.stringify(body());
    try {
      if (kept[name]?.key !== key) {
        const answer = await post("/api/forest", body(), `space ${name}`);
        if (answer === null) return;
        kept[name] = { key, answer };
      }
      box.replaceChildren(...picture(kept[name].answer));
    } catch (error) {
      box.replaceChildren(el("p", { class: "error" }, error.message));
    }
  };
  const slider = (label, min, max, value, shown, set) => {
    const said = el("output", { class: "numeric" }, shown(value));
    const input = el("input", {
      type: "range",
      min,
      max,
      step: 0.05,
      "aria-label": label,
      "data-key": `${label} ${name}`,
      oninput: (event) => {
        const now = Number(event.target.value);
        said.textContent = shown(now);
        set(now);
        load();
      },
    });
    input.value = String(value);
    return el("label", {}, label, input, said);
  };
  load();
  return el(
    "div",
    {},
    el(
      "div",
      { class: "buttons" },
      slider("prune below", -4, 0, Math.log10(settings.threshold), (x) => percent(10 ** x), (x) => (settings.threshold = Math.min(1, 10 ** x))),
      slider("scale of scores", -1.5, 1, Math.log10(settings.scale), (x) => `× ${(10 ** x).toPrecision(2)}`, (x) => (settings.scale = 10 ** x)),
    ),
    box,
  );
};

const picture = (answer) => {
  const counts = `${answer.edges.length.toLocaleString("en")} rules drawn of ${answer.n_edges.toLocaleString("en")} edges and ${answer.n_nodes.toLocaleString("en")} nodes; darker: more probable; outlined: the best derivation.`;
  if (!answer.nodes.length) return [el("p", {}, "No derivation covers the sentence.")];
  const panel = el("div", { class: "panel", "aria-live": "polite" }, el("p", { class: "soft" }, "Point at a node, or go there with Tab."));
  const draw = answer.nodes.some((node) => node.label !== null) ? chart : lattice;
  return [el("p", { class: "soft" }, counts), el("div", { class: "scroll" }, draw(answer, panel)), panel];
};

const rulesAt = (answer, at) => {
  const node = answer.nodes[at];
  const words = answer.source.slice(node.span[0], node.span[1]).join(" ");
  const edges = answer.edges.filter((edge) => edge.head === at).sort((a, b) => b.posterior - a.posterior);
  return [
    el("p", { class: "rule" }, node.label ? el("b", {}, `${node.label} `) : null, el("b", { dir: "auto" }, words || "start"), " ", el("span", { class: "soft" }, `posterior ${percent(node.posterior)}`)),
    el("ul", { class: "bars" }, edges.slice(0, 8).map((edge) => el("li", {}, el("span", { dir: "auto" }, edge.rule || "—"), gauge(edge.posterior), el("span", { class: "numeric" }, percent(edge.posterior))))),
  ];
};

const gauge = (share) => {
  const fill = el("i", { class: "more" });
  fill.style.width = `${100 * share}%`;
  fill.style.left = "0";
  return el("span", { class: "bar gauge", "aria-hidden": "true" }, fill);
};

const share = (made, value) => {
  made.style.setProperty("--share", value.toFixed(3));
  return made;
};

const lively = (drawn, groups, answer, panel) => {
  const show = (at) => {
    panel.replaceChildren(...rulesAt(answer, at));
    const lit = new Set([at, ...answer.edges.filter((edge) => edge.head === at).flatMap((edge) => edge.tails)]);
    groups.forEach((group, i) => group.classList.toggle("lit", lit.has(i)));
  };
  groups.forEach((group, i) => {
    for (const kind of ["pointerenter", "focus", "click"]) group.addEventListener(kind, () => show(i));
  });
  return drawn;
};

/** Spans as bars over the words they cover, short ones at the bottom, packed into rows. */
const chart = (answer, panel) => {
  const places = [];
  let x = 12;
  for (const word of answer.source) {
    const width = Math.max(30, widthOf(word, 13) + 16);
    places.push([x, x + width]);
    x += width;
  }
  const mirrored = rightToLeft(answer.source);
  if (mirrored) places.forEach(([left, right], i) => (places[i] = [x + 12 - right, x + 12 - left]));
  const order = answer.nodes.map((node, at) => ({ ...node, at })).sort((a, b) => a.span[1] - a.span[0] - (b.span[1] - b.span[0]) || a.span[0] - b.span[0] || a.at - b.at);
  const rows = [];
  const rowOf = new Map();
  let floor = 0;
  let length = 0;
  for (const node of order) {
    const size = node.span[1] - node.span[0];
    if (size !== length) {
      floor = rows.length ? Math.max(0, rows.length - 1) : 0;
      if (size > length + 0 && rows.length && rows[floor].length) floor = rows.length;
      length = size;
    }
    let row = floor;
    while (rows[row]?.some(([b, e]) => b < node.span[1] && node.span[0] < e)) row++;
    (rows[row] ??= []).push(node.span);
    rowOf.set(node.at, row);
  }
  const height = rows.length * 24 + 44;
  const top = (at) => height - 44 - rowOf.get(at) * 24 - 22;
  const lines = places.map(([left]) => svg("path", { class: "grid", d: `M${left} 6V${height - 30}` }));
  const words = answer.source.map((word, i) => svg("text", { x: (places[i][0] + places[i][1]) / 2, y: height - 12, "text-anchor": "middle" }, word));
  const groups = answer.nodes.map((node, at) => {
    const empty = node.span[0] >= node.span[1];
    const ends = empty ? [12, 40] : [...places[node.span[0]], ...places[node.span[1] - 1]];
    const [left, right] = [Math.min(...ends), Math.max(...ends)];
    return share(
      svg(
        "g",
        { class: node.best ? "path" : null, tabindex: "0", role: "img", "aria-label": `${node.label ?? ""} over ${answer.source.slice(...node.span).join(" ")}` },
        svg("rect", { class: "bar-node", x: left + 2, y: top(at), width: right - left - 4, height: 19, rx: 4 }),
        svg("text", { x: (left + right) / 2, y: top(at) + 14, "text-anchor": "middle" }, node.goal ? "goal" : (node.label ?? "")),
      ),
      node.posterior,
    );
  });
  const drawn = svg("svg", { class: "picture space", viewBox: `0 0 ${x + 12} ${height}`, role: "group", "aria-label": "Chart of spans" }, lines, groups, words);
  drawn.style.width = `${x + 12}px`;
  drawn.style.minWidth = `${0.7 * (x + 12)}px`;
  return lively(drawn, groups, answer, panel);
};

/** Partial translations from left to right by the number of source words they cover. */
const lattice = (answer, panel) => {
  const layerOf = (node) => node.covered + (node.goal ? 1 : 0);
  const n = Math.max(...answer.nodes.map(layerOf));
  const best = answer.edges.filter((edge) => edge.best && edge.tails.length && edge.rule);
  const room = (edge) => (widthOf(edge.rule, 12) + 12) / Math.max(1, layerOf(answer.nodes[edge.head]) - layerOf(answer.nodes[edge.tails[0]]));
  const step = Math.min(130, Math.max(44, ...best.map(room)));
  const width = 72 + n * step;
  const mirrored = rightToLeft(best.flatMap((edge) => split(edge.rule)));
  const across = (layer) => (mirrored ? width - 36 - layer * step : 36 + layer * step);
  const layers = new Map();
  answer.nodes.forEach((node, at) => layers.set(layerOf(node), [...(layers.get(layerOf(node)) ?? []), at]));
  const y = new Map();
  let deepest = 1;
  for (const layer of layers.values()) {
    layer.sort((a, b) => answer.nodes[b].best - answer.nodes[a].best || answer.nodes[b].posterior - answer.nodes[a].posterior);
    layer.forEach((at, i) => y.set(at, i));
    deepest = Math.max(deepest, layer.length);
  }
  const placeOf = (at) => [across(layerOf(answer.nodes[at])), 46 + y.get(at) * 34];
  const height = 46 + deepest * 34 + 14;
  const edges = answer.edges
    .filter((edge) => edge.tails.length)
    .map((edge) => {
      const [[a, b], [c, d]] = [placeOf(edge.tails[0]), placeOf(edge.head)];
      const drawn = svg("path", { class: edge.best ? "edge path" : "edge", d: a === c ? `M${a} ${b}C${a + 26} ${b} ${c + 26} ${d} ${c} ${d}` : `M${a} ${b}C${(a + c) / 2} ${b} ${(a + c) / 2} ${d} ${c} ${d}` });
      drawn.append(svg("title", {}, `${edge.rule || "end"} (${percent(edge.posterior)})`));
      return share(drawn, edge.posterior);
    });
  const labels = best.map((edge) => {
    const [[a, b], [c, d]] = [placeOf(edge.tails[0]), placeOf(edge.head)];
    let text = [...edge.rule];
    while (text.length > 2 && widthOf(text.join(""), 12) > Math.abs(c - a) - 4) text = [...text.slice(0, -2), "…"];
    return svg("text", { x: (a + c) / 2, y: (b + d) / 2 - 14, "text-anchor": "middle" }, text.join(""));
  });
  const groups = answer.nodes.map((node, at) => {
    const [cx, cy] = placeOf(at);
    const words = answer.source.slice(node.span[0], node.span[1]).join(" ");
    return share(
      svg(
        "g",
        { class: node.best ? "path" : null, tabindex: "0", role: "img", "aria-label": `${node.covered} words translated, the last: ${words || "none"}` },
        svg("circle", { class: "node-dot", cx, cy, r: 8 }),
      ),
      node.posterior,
    );
  });
  const ticks = [...layers.keys()].map((covered) => svg("text", { x: across(covered), y: 14, "text-anchor": "middle", "fill-opacity": "0.65" }, covered === n ? "end" : covered));
  const drawn = svg("svg", { class: "picture space", viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Lattice of partial translations by the number of source words translated" }, ticks, edges, groups, labels);
  drawn.style.width = `${width}px`;
  drawn.style.minWidth = `${0.66 * width}px`;
  return lively(drawn, groups, answer, panel);
};
