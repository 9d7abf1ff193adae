// Settings, their fields on the page, and what of them goes into a request. Kept in this browser; a tab reads them when
// it is opened, and what another tab changes later is that tab's.

import { $, el } from "./dom.js";
import { notice } from "./notice.js";

const KEPT = "tessera.settings";
// Name, label, least, most, step, what it does. The server checks ranges; these help to type.
const NUMBERS = [
  ["temperature", "Temperature", 0, 5, 0.1, "0 takes the likeliest token; higher is more varied"],
  ["top_p", "Top p", 0, 1, 0.05, "Only the likeliest tokens that together have this probability"],
  ["top_k", "Top k", 0, null, 1, "Only so many of the likeliest tokens; 0: all"],
  ["min_p", "Min p", 0, 1, 0.01, "Only tokens at least so many times as likely as the likeliest"],
  ["presence_penalty", "Presence penalty", -2, 2, 0.1, "Above 0: fewer tokens that the answer has"],
  ["frequency_penalty", "Frequency penalty", -2, 2, 0.1, "The same, for each time it has them"],
  ["repetition_penalty", "Repetition penalty", 0, 3, 0.05, "Above 1: fewer tokens that occurred, in prompt or answer"],
  ["max_tokens", "Max tokens", 1, null, 1, "Tokens of an answer at most"],
  ["min_tokens", "Min tokens", 0, null, 1, "No end before so many tokens"],
  ["seed", "Seed", null, null, 1, "The same prompt, settings and seed give the same answer"],
];
const PRESETS = {
  "server": ["The server's defaults", {}],
  "exact": ["Exact: always the likeliest token", { temperature: "0" }],
  "precise": ["Precise", { temperature: "0.3", top_p: "0.9", top_k: "20" }],
  "balanced": ["Balanced", { temperature: "0.7", top_p: "0.95", top_k: "20" }],
  "creative": ["Creative", { temperature: "1.1", top_p: "0.98", min_p: "0.02" }],
};
const PRESET_FIELDS = ["temperature", "top_p", "top_k", "min_p", "presence_penalty", "frequency_penalty",
  "repetition_penalty"];
const THINKING = {
  "": {},
  on: { chat_template_kwargs: { enable_thinking: true } },
  off: { chat_template_kwargs: { enable_thinking: false } },
  low: { reasoning_effort: "low" },
  medium: { reasoning_effort: "medium" },
  high: { reasoning_effort: "high" },
};
const EXAMPLE_TOOL = [{
  type: "function",
  function: {
    name: "get_weather",
    description: "The weather in a city now.",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
}];

export const settings = { thinking: "", tool_choice: "auto", theme: "auto", ...read() };

function read() {
  try {
    return JSON.parse(localStorage.getItem(KEPT));
  } catch {
    return null; // storage is off, or holds something else
  }
}

/// Only these fields are written: another tab may have changed others.
export function changeSettings(fields) {
  Object.assign(settings, fields);
  try {
    localStorage.setItem(KEPT, JSON.stringify({ ...read(), ...fields }));
  } catch (error) {
    notice(`This browser does not keep settings: ${error.message}`);
  }
}

function parsed(name, convert) {
  const text = settings[name]?.trim();
  if (!text) return {};
  try {
    return { value: convert(JSON.parse(text)) };
  } catch (error) {
    return { problem: `Not sent, since it is not JSON: ${error.message}` };
  }
}

/// { value, problem }: what the field holds, as the API wants it. Bare functions are wrapped.
const readTools = () => parsed("tools", (value) =>
  [value].flat().map((tool) => (tool.function ? tool : { type: "function", function: tool })));

const readMore = () => parsed("more", (value) => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error("an object is expected");
  return value;
});

/// What decides about the prompt beside the messages.
export function promptFields() {
  const { value: tools } = readTools();
  return { ...THINKING[settings.thinking], ...(tools && { tools, tool_choice: settings.tool_choice }) };
}

/// Everything in a request but model and messages.
export function requestFields() {
  const fields = promptFields();
  for (const [name] of NUMBERS) if (settings[name]) fields[name] = Number(settings[name]);
  if (settings.thinking_token_budget) fields.thinking_token_budget = Number(settings.thinking_token_budget);
  const stop = (settings.stop ?? "").split("\n").filter((line) => line !== "")
    .map((line) => line.replaceAll("\\n", "\n"));
  if (stop.length > 0) fields.stop = stop;
  return { ...fields, ...readMore().value };
}

function say(id, field, problem, text) {
  $(id).textContent = problem ?? text;
  $(id).classList.toggle("bad", Boolean(problem));
  $("fields").elements[field].setAttribute("aria-invalid", String(Boolean(problem)));
}

/// What follows from the fields: which preset they are, and whether their JSON is any.
function showState() {
  const { value: tools, problem } = readTools();
  const names = tools?.map((tool) => tool.function.name ?? "(no name)").join(", ");
  say("tools-state", "tools", problem, names ? `Offered: ${names}` : "");
  say("more-state", "more", readMore().problem, "");
  const is = ([, fields]) => PRESET_FIELDS.every((name) => (settings[name] ?? "") === (fields[name] ?? ""));
  $("preset").value = Object.entries(PRESETS).find(([, preset]) => is(preset))?.[0] ?? "own";
  document.documentElement.dataset.theme = settings.theme;
}

function fill() {
  for (const field of $("fields").elements) if (field.name) field.value = settings[field.name] ?? "";
  showState();
}

/// `onChange` is called when the user has changed something.
export function setUpSettings(onChange) {
  $("numbers").append(...NUMBERS.map(([name, label, min, max, step, title]) => {
    const placeholder = name === "seed" ? "random" : "default";
    const inputMode = step < 1 ? "decimal" : "numeric";
    const range = { ...(min !== null && { min }), ...(max !== null && { max }) };
    return el("label", { title }, label, el("input", { name, step, type: "number", inputMode, placeholder, ...range }));
  }));
  $("preset").append(...Object.entries(PRESETS).map(([value, [label]]) => el("option", { value }, label)),
    el("option", { value: "own", disabled: true }, "Own values"));
  const change = (fields) => {
    changeSettings(fields);
    fill();
    onChange();
  };
  $("fields").addEventListener("input", ({ target }) => {
    if (!target.name) return;
    changeSettings({ [target.name]: target.value });
    showState();
    onChange();
  });
  $("fields").addEventListener("submit", (event) => event.preventDefault());
  $("preset").addEventListener("input", () => {
    const [, fields] = PRESETS[$("preset").value];
    change(Object.fromEntries(PRESET_FIELDS.map((name) => [name, fields[name] ?? ""])));
  });
  $("example-tool").addEventListener("click", () => change({ tools: JSON.stringify(EXAMPLE_TOOL, null, 2) }));
  addEventListener("storage", ({ key }) => { // one theme for all tabs
    if (key !== KEPT) return;
    settings.theme = read()?.theme ?? "auto";
    fill();
  });
  fill();
}
