// Derivations as pictures: phrases between source and target, or the tree of a hierarchical one.
import { digitsFor, el, feature, number, rightToLeft, signed, svg, widthOf } from "./dom.js";
import { split } from "./words.js";
import { bar } from "./bars.js";

const SIZE = 15;
const GAP = 15;
const N_COLOURS = 8;
const LEVEL = 40;

/** Centres and widths of words set side by side from x = left. */
const row = (words, left) => {
  let x = left;
  return words.map((word) => {
    const width = Math.max(8, widthOf(word, SIZE));
    const place = { word, x: x + width / 2, left: x, right: x + width };
    x += width + GAP;
    return place;
  });
};

const endOf = (places) => (places.length ? places[places.length - 1].right : 0);

/** Two rows of words, each in its direction of reading, the shorter one in the middle of the longer one. */
const rows = (above, below) => {
  const [a, b] = [row(above, 0), row(below, 0)];
  const width = Math.max(endOf(a), endOf(b)) + 24;
  const centred = (places) => {
    const shift = (width - endOf(places)) / 2;
    if (rightToLeft(places.map((p) => p.word))) {
      const end = width - shift;
      return places.map((p) => ({ ...p, x: end - p.x, left: end - p.right, right: end - p.left, direction: "rtl" }));
    }
    return places.map((p) => ({ ...p, x: p.x + shift, left: p.left + shift, right: p.right + shift }));
  };
  return [centred(a), centred(b), width];
};

const wordAt = (place, y, properties = {}) =>
  svg("text", { x: place.x, y, "text-anchor": "middle", class: "word", direction: place.direction, ...properties }, place.word);

/** A picture whose parts with data-part are linked: hovered or focused, all parts of that number light up. */
const picture = (width, height, label, parts, details) => {
  const drawn = svg(
    "svg",
    { viewBox: `0 0 ${Math.ceil(width)} ${Math.ceil(height)}`, role: "group", "aria-label": label, class: "picture" },
    parts,
  );
  drawn.style.width = `${Math.ceil(width)}px`;
  drawn.style.minWidth = `${Math.ceil(0.66 * width)}px`;
  const panel = el("div", { class: "panel", "aria-live": "polite" });
  const show = (number) => {
    drawn.classList.toggle("picked", number !== null);
    for (const part of drawn.querySelectorAll("[data-part]")) {
      part.classList.toggle("on", part.dataset.part === number);
    }
    panel.replaceChildren(number === null ? el("p", { class: "soft" }, "Point at a part, or go there with Tab.") : details(Number(number)));
  };
  const partOf = (event) => event.target.closest("[data-part]")?.dataset.part ?? null;
  drawn.addEventListener("pointerover", (event) => partOf(event) !== null && show(partOf(event)));
  drawn.addEventListener("focusin", (event) => show(partOf(event)));
  drawn.addEventListener("click", (event) => partOf(event) !== null && show(partOf(event)));
  drawn.addEventListener("keydown", (event) => {
    if (event.key === "Escape") return show(null);
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const all = [...drawn.querySelectorAll("[tabindex]")];
    all[(all.indexOf(document.activeElement) + step + all.length) % all.length].focus();
  });
  show(null);
  return el("div", { class: "derivation" }, el("div", { class: "scroll" }, drawn), panel);
};

/** Whether a piece is a word that the tables do not know. */
export const isCopied = (piece) => Boolean(piece) && piece.features.some((item) => item.name === "unknown");

/** What is special about a piece, if anything. */
const remarkOn = (piece) => (isCopied(piece) ? "copied: the tables have no translation of it by itself" : null);

const N_SHOWN = 6;

/** What a phrase or rule is, and what it adds to the score. */
const contributions = (title, piece, app, system, phrase) => {
  const largest = Math.max(0, ...piece.features.map((item) => Math.abs(item.contribution)));
  const digits = digitsFor(largest);
  const rest = piece.features.slice(N_SHOWN);
  const line = (name, value) => el("li", {}, name, bar(value, largest), el("span", { class: "numeric" }, signed(value, digits)));
  return el(
    "div",
    {},
    el("p", { class: "rule" }, el("b", { dir: "auto" }, title[0]), " → ", el("b", { dir: "auto" }, title[1]), " ", el("span", { class: "soft" }, `score ${signed(piece.score, digits)}`)),
    remarkOn(piece) ? el("p", { class: "soft" }, remarkOn(piece)) : null,
    piece.features.length
      ? el(
          "ul",
          { class: "bars small" },
          piece.features.slice(0, N_SHOWN).map((item) => line(feature(item.name, app.meanings), item.contribution)),
          rest.length ? line(el("span", { class: "soft" }, `${rest.length} more`), rest.reduce((sum, item) => sum + item.contribution, 0)) : null,
        )
      : null,
    phrase ? el("button", { type: "button", onclick: () => app.lookUp(system, phrase) }, "Look up in the tables") : null,
  );
};

/** A phrase-based derivation: every phrase pair a ribbon from its source to its target words. */
export const drawPhrases = (explanation, app, system) => {
  const [source, target, width] = rows(split(explanation.source), split(explanation.text));
  const [top, bottom, height] = [30, 150, 176];
  const parts = [];
  const pieces = explanation.pieces;
  pieces.forEach((piece, i) => {
    const from = source.slice(piece.span[0], piece.span[1]);
    const to = piece.positions.map((position) => target[position]);
    const inside = [];
    if (from.length) inside.push(box(from, top));
    if (to.length) inside.push(box(to, bottom));
    if (from.length && to.length) inside.unshift(ribbon(from, to, top + 10, bottom - 20));
    if (!inside.length) return;
    const label = [`${piece.source || "nothing"} becomes ${piece.target || "nothing"}`, remarkOn(piece), `score ${number(piece.score)}`].filter(Boolean).join(", ");
    parts.push(
      svg(
        "g",
        { class: `piece colour-${i % N_COLOURS}${isCopied(piece) ? " copied" : ""}`, "data-part": i, tabindex: "0", role: "img", "aria-label": label },
        inside,
        from.map((place) => wordAt(place, top)),
        to.map((place) => wordAt(place, bottom)),
      ),
    );
  });
  const links = explanation.alignment.map(([s, t]) =>
    svg("path", { class: "link", d: `M${source[s].x} ${top + 10}L${target[t].x} ${bottom - 20}` }),
  );
  return picture(width, height, "Phrases between source and target", [parts, links], (i) =>
    contributions([pieces[i].source || "—", pieces[i].target || "—"], pieces[i], app, system, pieces[i].source),
  );
};

const box = (places, y) => {
  const [left, right] = [Math.min(...places.map((p) => p.left)), Math.max(...places.map((p) => p.right))];
  return svg("rect", { x: left - 6, y: y - 20, width: right - left + 12, height: 30, rx: 6, class: "box" });
};

const ribbon = (from, to, top, bottom) => {
  const [a, b] = [Math.min(...from.map((p) => p.left)) - 5, Math.max(...from.map((p) => p.right)) + 5];
  const [c, d] = [Math.min(...to.map((p) => p.left)) - 5, Math.max(...to.map((p) => p.right)) + 5];
  const middle = (top + bottom) / 2;
  const path = `M${a} ${top}C${a} ${middle} ${c} ${middle} ${c} ${bottom}H${d}C${d} ${middle} ${b} ${middle} ${b} ${top}Z`;
  return svg("path", { d: path, class: "ribbon" });
};

/** Nodes without glue: a rule that only joins its parts under its own label gives them to its parent. */
const flattened = (nodes) => {
  const kept = [];
  const visit = (at, depth) => {
    const node = nodes[at];
    const made = { ...node, at, depth, below: [] };
    kept.push(made);
    const add = (child) => {
      const below = nodes[child];
      const glue = below.label === node.label && below.positions.length === 0 && below.target.every((s) => typeof s === "number");
      if (glue) order(below).forEach(add);
      else made.below.push(visit(child, depth + 1));
    };
    order(node).forEach(add);
    return made;
  };
  const order = (node) => node.target.filter((symbol) => typeof symbol === "number").map((symbol) => node.children[symbol]);
  visit(0, 0);
  return kept;
};

const ownSource = (nodes, node) => {
  const inside = new Set();
  for (let s = node.span[0]; s < node.span[1]; s++) inside.add(s);
  for (const child of node.children) for (let s = nodes[child].span[0]; s < nodes[child].span[1]; s++) inside.delete(s);
  return [...inside];
};

const sideText = (nodes, node, side) =>
  node[side].map((symbol) => (typeof symbol === "number" ? `[${nodes[node.children[symbol]].label},${symbol + 1}]` : symbol)).join(" ");

/** A hierarchical derivation as a tree over the target or the source; `over` says which. */
export const drawTree = (explanation, app, system, over) => {
  const nodes = explanation.nodes;
  const tree = flattened(nodes);
  const depth = Math.max(...tree.map((node) => node.depth));
  const words = { source: split(explanation.source), target: split(explanation.text) };
  const under = over === "target" ? "source" : "target";
  const [near, far, width] = rows(words[over], words[under]);
  const places = { [over]: near, [under]: far };
  const nearY = 26 + (depth + 1) * LEVEL;
  const farY = nearY + 96;
  const own = new Map(tree.map((node) => [node.at, { target: node.positions, source: ownSource(nodes, node) }]));
  const at = new Map();
  for (const node of [...tree].reverse()) {
    const xs = [...own.get(node.at)[over].map((i) => near[i].x), ...node.below.map((child) => at.get(child.at))];
    const x = xs.length ? (Math.min(...xs) + Math.max(...xs)) / 2 : width / 2;
    at.set(node.at, x);
  }
  const y = (node) => 22 + node.depth * LEVEL;
  const lines = tree.flatMap((node) =>
    node.below.map((child) => svg("path", { class: "branch", d: `M${at.get(node.at)} ${y(node) + 9}L${at.get(child.at)} ${y(child) - 11}` })),
  );
  const owner = new Map(tree.flatMap((node) => node.positions.map((t) => [t, node.at])));
  const colours = new Map(tree.map((node, i) => [node.at, i % N_COLOURS]));
  const links = explanation.alignment.map(([s, t]) => {
    const [a, b] = over === "target" ? [target(t), source(s)] : [source(s), target(t)];
    return svg("path", {
      class: `link colour-${colours.get(owner.get(t)) ?? 0}`,
      "data-part": owner.get(t) ?? 0,
      d: `M${a} ${nearY + 9}C${a} ${nearY + 45} ${b} ${farY - 50} ${b} ${farY - 18}`,
    });
  });
  function target(t) {
    return places.target[t].x;
  }
  function source(s) {
    return places.source[s].x;
  }
  const groups = tree.map((node) => {
    const mine = own.get(node.at);
    const piece = explanation.pieces[node.piece];
    const title = [`${node.label}: ${sideText(nodes, node, "source")} becomes ${sideText(nodes, node, "target")}`, remarkOn(piece)].filter(Boolean).join(", ");
    const wide = widthOf(node.label, 13) + 14;
    return svg(
      "g",
      { class: `piece colour-${colours.get(node.at)}${isCopied(piece) ? " copied" : ""}`, "data-part": node.at, tabindex: "0", role: "img", "aria-label": title },
      mine[over].map((i) => svg("path", { class: "stem", d: `M${at.get(node.at)} ${y(node) + 9}L${near[i].x} ${nearY - 19}` })),
      svg("rect", { class: "node", x: at.get(node.at) - wide / 2, y: y(node) - 12, width: wide, height: 22, rx: 6 }),
      svg("text", { class: "label", x: at.get(node.at), y: y(node) + 4, "text-anchor": "middle" }, node.label),
      mine[over].map((i) => [box([near[i]], nearY), wordAt(near[i], nearY)]),
      mine[under].map((i) => [box([far[i]], farY), wordAt(far[i], farY)]),
    );
  });
  return picture(width, farY + 24, `The rules as a tree over the ${over}`, [lines, links, groups], (i) => {
    const node = nodes[i];
    const piece = node.piece >= 0 ? explanation.pieces[node.piece] : { score: node.score, features: [] };
    const sides = [`${node.label}: ${sideText(nodes, node, "source")}`, sideText(nodes, node, "target") || "—"];
    const hasWords = node.source.some((symbol) => typeof symbol === "string");
    return contributions(sides, piece, app, system, hasWords ? sideText(nodes, node, "source") : null);
  });
};
