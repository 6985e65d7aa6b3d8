(() => {
  "use strict";
  // The pictures stand without this: it says values under the pointer or the arrow keys, and hides series.
  const make = (tag, attributes, ...children) => {
    const made = document.createElement(tag);
    Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
    made.append(...children);
    return made;
  };

  // All points of the series that a picture shows now; single runs come after the means.
  const pointsOf = (svg) =>
    [...svg.querySelectorAll("g[data-points]:not(.off)")]
      .sort((a, b) => a.dataset.thin - b.dataset.thin)
      .flatMap((group) =>
        group.dataset.points.split("\n").filter(Boolean).map((line) => {
          const [, x, y, text] = line.match(/^(\S+) (\S+) (.*)$/);
          return { x: +x, y: +y, name: group.dataset.name, text, thin: group.dataset.thin === "1" };
        }),
      );

  const explain = (plot) => {
    const svg = plot.querySelector("svg");
    const tip = make("output", { class: "tip", "aria-live": "polite", hidden: "" });
    const dot = document.createElementNS(svg.namespaceURI, "circle");
    let current = null;
    dot.setAttribute("r", "6");
    dot.setAttribute("class", "dot");
    plot.append(tip);

    const hide = () => {
      current = null;
      tip.hidden = true;
      dot.remove();
    };
    const show = (point) => {
      current = point;
      const box = svg.getBoundingClientRect();
      const scale = box.width / svg.viewBox.baseVal.width;
      tip.replaceChildren(make("b", {}, point.name), " ", make("span", {}, point.text));
      tip.hidden = false;
      const room = plot.clientWidth - tip.offsetWidth;
      tip.style.left = `${Math.max(0, Math.min(room, point.x * scale - tip.offsetWidth / 2))}px`;
      tip.style.top = `${Math.max(-tip.offsetHeight, point.y * scale - tip.offsetHeight - 12)}px`;
      dot.setAttribute("cx", point.x);
      dot.setAttribute("cy", point.y);
      svg.append(dot);
    };
    const hover = (event) => {
      const box = svg.getBoundingClientRect();
      const scale = svg.viewBox.baseVal.width / box.width;
      const [x, y] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
      const far = (point) => Math.hypot(point.x - x, point.y - y) + (point.thin ? 4 : 0);
      const nearest = pointsOf(svg).reduce((a, b) => (a && far(a) <= far(b) ? a : b), null);
      nearest && far(nearest) < 40 ? show(nearest) : hide();
    };
    // Left and right go along a series, up and down from one to the next.
    const step = (event) => {
      const points = pointsOf(svg);
      if (event.key === "Escape") return hide();
      if (!points.length || !event.key.startsWith("Arrow")) return;
      event.preventDefault();
      const at = points.findIndex((p) => current && p.name === current.name && p.x === current.x && p.y === current.y);
      if (at < 0) return show(points[0]);
      const names = [...new Set(points.map((p) => p.name))];
      const other = (by) => names[(names.indexOf(current.name) + by + names.length) % names.length];
      const along = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (along) {
        const next = points[at + along];
        if (next && next.name === current.name) show(next);
        return;
      }
      const name = other(event.key === "ArrowDown" ? 1 : -1);
      const far = (point) => Math.abs(point.x - current.x);
      show(points.filter((p) => p.name === name).reduce((a, b) => (far(a) <= far(b) ? a : b)));
    };
    if (!pointsOf(svg).length) return;
    plot.tabIndex = 0;
    plot.setAttribute("role", "group");
    plot.setAttribute("aria-label", `${svg.querySelector("title").textContent}: arrow keys say values`);
    svg.addEventListener("pointermove", hover);
    svg.addEventListener("pointerdown", hover);
    svg.addEventListener("pointerleave", hide);
    plot.addEventListener("keydown", step);
    plot.addEventListener("blur", hide);
  };

  const switches = (figure) =>
    figure.querySelectorAll(".switches li").forEach((entry, i) => {
      const button = make("button", { type: "button", "aria-pressed": "true" }, ...entry.childNodes);
      button.addEventListener("click", () => {
        const on = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(on));
        figure.querySelectorAll(`g[data-entry="${i}"]`).forEach((group) => group.classList.toggle("off", !on));
      });
      entry.append(button);
    });

  document.querySelectorAll(".plot").forEach(explain);
  document.querySelectorAll("[data-chart]").forEach(switches);

  // A table that is wider than its place says so, and takes the focus so that arrow keys scroll it.
  const sized = new ResizeObserver((entries) =>
    entries.forEach(({ target }) => {
      const cut = target.scrollWidth > target.clientWidth + 1;
      target.classList.toggle("cut", cut);
      if (!cut) return ["tabindex", "role", "aria-label"].forEach((name) => target.removeAttribute(name));
      target.tabIndex = 0;
      target.setAttribute("role", "region");
      target.setAttribute("aria-label", `${target.dataset.name}, scrolls sideways`);
    }),
  );
  document.querySelectorAll(".scroll").forEach((place) => sized.observe(place));

  // Sentences in another order, those with some words only, all unfolded. Without scripts they stand as in the test set.
  const orders = {
    number: (a, b) => a.number - b.number,
    difference: (a, b) => b.difference - a.difference,
    gain: (a, b) => b.change - a.change,
    loss: (a, b) => a.change - b.change,
    worst: (a, b) => a.worst - b.worst,
    best: (a, b) => b.best - a.best,
    longest: (a, b) => b.length - a.length,
    shortest: (a, b) => a.length - b.length,
  };
  // Source, references and translations, without the names of systems and the tables of their derivations.
  const linesOf = (sample) =>
    [...sample.querySelectorAll("dd")]
      .map((line) => [...line.childNodes].filter((part) => !part.matches?.(".derivation")).map((part) => part.textContent).join(""))
      .join("\n");
  const tools = (form) => {
    const place = document.getElementById(form.dataset.tools);
    const { order, words, fold } = form.elements;
    const said = form.querySelector("output");
    const found = [...place.children].map((node) => ({ node, text: linesOf(node).normalize().toLowerCase() }));
    const apply = () => {
      const by = orders[order.value];
      const wanted = words.value.normalize().toLowerCase().split(/\s+/).filter(Boolean);
      found.sort((a, b) => by(a.node.dataset, b.node.dataset) || orders.number(a.node.dataset, b.node.dataset));
      found.forEach(({ node, text }) => (node.hidden = !wanted.every((word) => text.includes(word))));
      place.append(...found.map(({ node }) => node));
      const n = found.filter(({ node }) => !node.hidden).length;
      said.textContent = n === found.length ? `${n} sentences` : `${n} of ${found.length} sentences`;
    };
    order.addEventListener("change", apply);
    words.addEventListener("input", apply);
    form.addEventListener("submit", (event) => event.preventDefault());
    fold.addEventListener("click", () => {
      const open = fold.getAttribute("aria-pressed") !== "true";
      fold.setAttribute("aria-pressed", String(open));
      fold.textContent = open ? "Fold all" : "Unfold all";
      found.forEach(({ node }) => (node.querySelector("details").open = open));
    });
    form.hidden = false;
    apply();
  };
  document.querySelectorAll("[data-tools]").forEach(tools);

  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    closed.forEach((part) => part.setAttribute("open", ""));
  });
  addEventListener("afterprint", () => closed.forEach((part) => part.removeAttribute("open")));
})();
