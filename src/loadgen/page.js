"use strict";
// The page of a report: everything is drawn from the results, which are in the page.
const results = JSON.parse(document.getElementById("data").textContent);
const colours = ["#0969da", "#cf222e", "#1a7f37", "#8250df", "#bf8700", "#0598bc", "#57606a", "#d4499c"];

function make(tag, text, parent) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (parent) parent.append(made);
  return made;
}

const figure = (value, digits = 1) => value === null || value === undefined ? "-" : value.toFixed(digits);
const share = (value) => value === null || value === undefined ? "-" : (100 * value).toFixed(0) + " %";
const load = (of) => of.rate ?? of.users;

function about() {
  const list = document.getElementById("about");
  for (const key of ["version", "server", "software", "model", "date", "command", "prompts", "sampling"]) {
    if (results[key] === undefined) continue;
    make("dt", key, list);
    make("dd", typeof results[key] === "object" ? JSON.stringify(results[key]) : results[key], list);
  }
}

function warnings() {
  const box = document.getElementById("warnings");
  const texts = new Map();  // to the cases that they are of
  for (const made of results.cases) {
    const say = (text) => texts.set(text, [...(texts.get(text) ?? []), made.name]);
    for (const warning of made.warnings) say(warning.text);
    for (const [kind, of] of Object.entries(made.failures)) say(`${of.count} requests failed (${kind}): ${of.first}`);
  }
  for (const [text, names] of texts) {
    make("p", (names.length === results.cases.length ? "All cases" : names.join("; ")) + ": " + text, box).className = "warn";
  }
  if (texts.size === 0) make("p", "Nothing was found that makes these figures better or worse than they are.", box);
}

function table() {
  const columns = [
    ["case", (c) => c.name], ["ok", (c) => c.requests_ok + "/" + c.requests],
    ["in tok/s", (c) => figure(c.throughput.input_tokens_per_second, 0)],
    ["out tok/s", (c) => figure(c.throughput.output_tokens_per_second)],
    ["steady", (c) => figure(c.steady_output_tokens_per_second)],
    ["a stream", (c) => figure(c.stream_output_tokens_per_second)],
    ...["ttft", "first_answer", "itl", "tpot", "e2e"].flatMap((name) => ["p50", "p95", "p99"].map((at) =>
      [`${name.replace("_", " ")} ${at}, ms`, (c) => figure(c[name + "_ms"]?.[at])])),
    ["input p50", (c) => figure(c.input_tokens?.p50, 0)], ["output p50", (c) => figure(c.output_tokens?.p50, 0)],
    ["goodput", (c) => share(c.goodput?.share)], ["cached", (c) => share(c.cached_share)],
    ["thinking", (c) => share(c.thinking_share)], ["drafts taken", (c) => share(c.drafts_accepted_share)],
  ];
  const rows = document.getElementById("cases");
  const head = make("tr", undefined, rows);
  for (const [name] of columns) make("th", name, head);
  for (const made of results.cases) {
    const row = make("tr", undefined, rows);
    for (const [, value] of columns) make("td", value(made), row);
  }
}

function plot(parent, title, x, y, datasets, more = {}) {
  const box = make("div", undefined, document.getElementById(parent));
  box.className = "plot";
  datasets.forEach((set, i) => {
    const colour = colours[i % colours.length];
    Object.assign(set, { borderColor: colour, backgroundColor: colour, tension: 0, borderWidth: 2, ...set });
  });
  return new Chart(make("canvas", undefined, box), {
    type: "line", data: { datasets },
    options: {
      animation: false, maintainAspectRatio: false, parsing: false,
      plugins: { title: { display: true, text: title }, legend: { position: "bottom", labels: { boxWidth: 12 } } },
      scales: { x: { type: more.log ? "logarithmic" : "linear", title: { display: true, text: x } },
                y: { beginAtZero: true, title: { display: true, text: y } } },
    },
  });
}

/// Lines over the loads: one for each combination of the other axes.
function lines(value) {
  const found = new Map();
  for (const made of results.cases) {
    const y = value(made);
    if (y === null || y === undefined) continue;
    const of = made.case;
    const key = `${of.output} out${of.context ? `, ${of.context} in` : ""}, thinking ${of.thinking}`;
    found.set(key, [...(found.get(key) ?? []), { x: load(of), y, made }]);
  }
  return [...found].map(([label, data]) => ({ label, data: data.sort((a, b) => a.x - b.x) }));
}

function grid() {
  const open = results.cases.some((made) => made.case.rate !== null);
  const x = open ? "requests a second" : "users";
  plot("grid", "Output of all users", x, "tok/s", lines((c) => c.throughput.output_tokens_per_second), { log: !open });
  plot("grid", "Output of one stream, median", x, "tok/s", lines((c) => c.stream_output_tokens_per_second), { log: !open });
  for (const [name, title] of [["ttft_ms", "Time to first token"], ["itl_ms", "Between pieces of text"], ["e2e_ms", "End to end"]]) {
    const sets = ["p50", "p95"].flatMap((at) => lines((c) => c[name]?.[at]).map((set) =>
      ({ ...set, label: `${at}, ${set.label}`, borderDash: at === "p95" ? [6, 4] : [] })));
    plot("grid", title, x, "ms", sets, { log: !open });
  }
  const both = lines((c) => c.throughput.output_tokens_per_second).map((set) => ({
    label: set.label, data: set.data.map(({ made }) => ({ x: made.stream_output_tokens_per_second, y: made.throughput.output_tokens_per_second })) }));
  plot("grid", "All users against one stream", "tok/s of a stream", "tok/s of all", both);
}

/// Share of requests that took at most x.
function distribution(records, key) {
  const values = records.map((r) => r[key]).filter((v) => v !== null && v !== undefined).sort((a, b) => a - b);
  return values.map((v, i) => ({ x: v, y: 100 * (i + 1) / values.length }));
}

let shown = [];
function oneCase(made) {
  for (const chart of shown) chart.destroy();
  document.getElementById("one").replaceChildren();
  const good = made.records.filter((r) => r.error === undefined);
  shown = [["ttft_ms", "Time to first token"], ["tpot_ms", "Time of a token behind the first"], ["e2e_ms", "End to end"]].map(
    ([key, title]) => plot("one", title + ", share of requests at or below", "ms", "%",
      [{ label: made.name, data: distribution(good, key), pointRadius: 0, stepped: true }]));
  const round = good.filter((r) => r.round === 0);
  const end = Math.max(0, ...round.map((r) => r.end_s)), steps = 120;
  const times = Array.from({ length: steps }, (_, i) => end * (i + 0.5) / steps);
  const rate = (r, t) => {
    const first = r.due_s + (r.ttft_ms ?? 0) / 1e3;
    return t >= first && t < r.end_s && r.end_s > first ? (r.output_tokens ?? 0) / (r.end_s - first) : 0;
  };
  shown.push(plot("one", "Requests under way (first round)", "s", "requests", [{ label: "under way", pointRadius: 0,
    data: times.map((t) => ({ x: t, y: round.filter((r) => r.due_s <= t && t < r.end_s).length })) }]));
  shown.push(plot("one", "Output over time (first round; each answer spread evenly)", "s", "tok/s", [{ label: "output", pointRadius: 0,
    data: times.map((t) => ({ x: t, y: round.reduce((sum, r) => sum + rate(r, t), 0) })) }]));
  shown.push(plot("one", "Answers", "tokens of the prompt", "tokens of the answer", [{ label: made.name, showLine: false,
    data: good.map((r) => ({ x: r.input_tokens ?? 0, y: r.output_tokens ?? 0 })) }]));
}

function cases() {
  const choice = document.getElementById("case");
  results.cases.forEach((made, i) => { make("option", made.name, choice).value = i; });
  choice.addEventListener("change", () => oneCase(results.cases[choice.value]));
  if (results.cases.length > 0) oneCase(results.cases[0]);
}

about();
warnings();
table();
if (results.cases.length > 0) grid();
cases();
