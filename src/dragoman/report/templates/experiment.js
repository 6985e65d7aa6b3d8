(() => {
  "use strict";
  if (typeof Plotly === "undefined") return; // the pictures that are there already stay
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const coarse = matchMedia("(pointer: coarse)").matches;
  const drawn = new Set();
  // Of the element, not of the window: also where a part of the page opens or a phone is turned.
  const sizes = new ResizeObserver((entries) =>
    entries.forEach((entry) => entry.contentRect.width > 0 && Plotly.Plots.resize(entry.target)),
  );

  const colour = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const axis = (own) => ({
    ...own,
    title: { ...own.title, font: { size: 12.5 } },
    gridcolor: colour("--grid"),
    linecolor: colour("--line"),
    zerolinecolor: colour("--line"),
    fixedrange: coarse,
  });
  const layout = (chart) => ({
    ...chart.layout,
    xaxis: axis(chart.layout.xaxis),
    yaxis: axis(chart.layout.yaxis),
    height: chart.height,
    margin: { l: 56, r: 16, t: 8, b: 44 },
    font: { family: getComputedStyle(document.body).fontFamily, size: 12.5, color: colour("--ink") },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("--soft"), activecolor: colour("--accent") },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    showlegend: false,
    hovermode: "closest",
    dragmode: coarse ? false : "zoom",
  });
  const config = (name) => ({
    displaylogo: false,
    displayModeBar: coarse ? false : "hover",
    modeBarButtons: [["toImage", "resetScale2d"]],
    toImageButtonOptions: { format: "svg", filename: name },
  });
  const inked = (traces) =>
    traces.map((trace) =>
      trace.ink ? { ...trace, marker: { ...trace.marker, color: colour("--ink"), line: { ...trace.marker.line, color: colour("--ink") } } } : trace,
    );

  const swatch = (entry) => {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("width", entry.line ? "26" : "12");
    svg.setAttribute("height", "12");
    svg.setAttribute("aria-hidden", "true");
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", entry.line ? "M0 6H26" : "M6 0V12");
    path.setAttribute("stroke", entry.colour);
    path.setAttribute("stroke-width", entry.line ? "2.5" : "12");
    if (entry.dash) path.setAttribute("stroke-dasharray", entry.dash);
    svg.append(path);
    return svg;
  };
  const button = (entry, chart, plot) => {
    const made = document.createElement("button");
    const name = document.createElement("span");
    name.textContent = entry.name;
    made.type = "button";
    made.setAttribute("aria-pressed", "true");
    made.append(swatch(entry), name);
    made.addEventListener("click", () => {
      const visible = made.getAttribute("aria-pressed") !== "true";
      made.setAttribute("aria-pressed", String(visible));
      const places = chart.traces.flatMap((trace, i) => (trace.meta === entry.name ? [i] : []));
      Plotly.restyle(plot, { visible }, places);
    });
    return made;
  };
  const draw = (figure) => {
    if (drawn.has(figure)) return;
    drawn.add(figure);
    const name = figure.dataset.chart;
    const chart = charts[name];
    const plot = figure.querySelector(".plot");
    figure.classList.add("live"); // instead of the picture that stands there until now
    Plotly.newPlot(plot, inked(chart.traces), layout(chart), config(name));
    sizes.observe(plot);
    figure.querySelector(".legend").append(...chart.legend.map((entry) => button(entry, chart, plot)));
  };

  const watcher = new IntersectionObserver(
    (entries) => entries.forEach((entry) => entry.isIntersecting && draw(entry.target)),
    { rootMargin: "600px" },
  );
  document.querySelectorAll("[data-chart]").forEach((figure) => watcher.observe(figure));
  dark.addEventListener("change", () => {
    drawn.forEach((figure) => {
      const chart = charts[figure.dataset.chart];
      Plotly.react(figure.querySelector(".plot"), inked(chart.traces), layout(chart), config(figure.dataset.chart));
      figure.querySelectorAll(".legend button").forEach((entry) => entry.setAttribute("aria-pressed", "true"));
    });
  });

  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    closed.forEach((part) => part.setAttribute("open", ""));
  });
  addEventListener("afterprint", () => closed.forEach((part) => part.removeAttribute("open")));
})();
