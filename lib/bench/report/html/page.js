// Draws the charts of an HTML report from the data block that the report carries. Every text goes through
// canvas or textContent, never through markup.
"use strict";

(() => {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const charts = [];

  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const colour = (index) => style(`--s${index % 9}`);
  // Modes differ in dash as well as in colour: for print in grey and for colour-blind readers.
  const dashes = [[], [7, 3], [2, 2], [10, 3, 2, 3], [4, 4], [1, 3]];

  const axis = (title, extra = {}) => ({
    title: { display: true, text: title, color: style("--quiet") },
    ticks: { color: style("--quiet"), maxRotation: 0, autoSkipPadding: 12 },
    grid: { color: style("--line") },
    ...extra,
  });

  // Chart.js draws a legend's line solid whatever the curve's dash is.
  const dashed = (chart) => Chart.defaults.plugins.legend.labels.generateLabels(chart)
    .filter((label) => !chart.data.datasets[label.datasetIndex].isEdge)
    .map((label) => ({
      ...label, lineDash: chart.data.datasets[label.datasetIndex].borderDash || [], lineWidth: 2,
    }));

  const options = (x, y, extra = {}) => ({
    animation: false,
    responsive: true,
    maintainAspectRatio: false,
    interaction: { mode: "nearest", intersect: false },
    plugins: { legend: { labels: {
      color: style("--ink"), usePointStyle: true, pointStyleWidth: 34, generateLabels: dashed,
    } } },
    scales: { x, y },
    ...extra,
  });

  const lines = (series) => series.map((one, index) => ({
    label: one.mode,
    data: one.points.map(([x, y]) => ({ x, y })),
    borderColor: colour(one.index),
    backgroundColor: colour(one.index),
    borderDash: dashes[index % dashes.length],
    borderWidth: 2,
    pointRadius: one.points.length > 12 ? 0 : 3,
    pointStyle: "line",
    spanGaps: false,
  }));

  // Between the lowest and the highest of several runs.
  const bands = (series) => series.filter((one) => one.low).flatMap((one) => {
    const edge = (points, fill) => ({
      label: one.mode, data: points.map(([x, y]) => ({ x, y })), fill, isEdge: true, borderWidth: 0, pointRadius: 0,
      borderColor: colour(one.index), backgroundColor: colour(one.index) + "33",
    });
    return [edge(one.low, false), edge(one.high, "-1")];
  });

  const target = (data) => {
    if (data.target === null) return [];
    const last = Math.max(...data.series.map((one) => one.points.at(-1)[0]));
    return [{
      label: `target: ${data.target_words}`, data: [{ x: 0, y: data.target }, { x: last, y: data.target }],
      borderColor: style("--quiet"), borderDash: [4, 4], borderWidth: 1, pointRadius: 0, pointStyle: "line",
    }];
  };

  const bars = (data, unit) => ({
    type: "bar",
    data: {
      labels: data.modes,
      datasets: data.parts.map((part, index) => ({
        label: part.name, data: part.values, backgroundColor: colour(index), maxBarThickness: 42, pointStyle: "rect",
      })),
    },
    options: options(axis(unit, { stacked: true, beginAtZero: true }), axis("", { stacked: true }), { indexAxis: "y" }),
  });

  const drawers = {
    loss: (data) => ({
      type: "line",
      data: { datasets: lines(data.series) },
      options: options(axis("optimizer step", { type: "linear" }), axis("training loss")),
    }),
    accuracy: (data) => ({
      type: "line",
      data: { datasets: lines(data.series) },
      options: options(axis("epoch", { type: "linear", ticks: { stepSize: 1, color: style("--quiet") } }),
                       axis("test accuracy, %")),
    }),
    progress: (data) => ({
      type: "line",
      data: { datasets: [...bands(data.series), ...lines(data.series), ...target(data)] },
      options: options(axis("seconds of training and evaluation", { type: "linear", beginAtZero: true }),
                       axis(data.unit)),
    }),
    steps: (data) => ({
      type: "line",
      data: { datasets: lines(data.series).map((one) => ({ ...one, stepped: "middle", pointRadius: 0 })) },
      options: options(axis("step time, ms", { type: "logarithmic" }), axis("share of steps, %", { beginAtZero: true })),
    }),
    time: (data) => bars(data, "seconds"),
    memory: (data) => bars(data, "MiB"),
  };

  const draw = () => {
    while (charts.length > 0) charts.pop().destroy();
    const data = read("charts");
    for (const canvas of document.querySelectorAll("canvas[data-chart]")) {
      const name = canvas.dataset.chart;
      charts.push(new Chart(canvas, drawers[name](data[name])));
    }
  };

  const download = () => {
    const url = URL.createObjectURL(new Blob([JSON.stringify(read("result"), null, 1)], { type: "application/json" }));
    const link = document.createElement("a");
    link.href = url;
    link.download = "precbench-result.json";
    link.click();
    URL.revokeObjectURL(url);
  };

  // Paper cannot be clicked: what is folded away is printed too.
  const folded = () => document.querySelectorAll("details:not([open])");
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...folded()];
    for (const one of opened) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const one of opened) one.open = false;
  });

  const button = document.getElementById("download");
  if (button) button.addEventListener("click", download);
  if (typeof Chart !== "undefined" && document.getElementById("charts")) {
    Chart.defaults.font.family = "system-ui, sans-serif";
    draw();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
    addEventListener("beforeprint", draw);
    addEventListener("afterprint", draw);
  }
})();
