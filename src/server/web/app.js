// The page: one conversation, kept in this browser; settings; the engine's state.
//
// A message is { role: "user", content } or an answer { role: "assistant", content, reasoning, calls, thought_ms,
// ttft_ms, stream_ms, pieces, usage, finish, error, clock }. A call is { id, name, arguments, result }: the result that
// the user typed stands with its call and becomes a message of role "tool" only in the request.

import { engineState, hasKey, models, setKey, streamChat } from "./api.js";
import { $, actionButton, copyButton, el } from "./dom.js";
import { messageView } from "./view.js";

const STATE_EVERY_MS = 1500;
const SAVE_EVERY_MS = 1000; // while an answer streams
const NUMBERS = ["temperature", "top_p", "top_k", "min_p", "max_tokens", "seed"];
const EXAMPLE_TOOL = [{
  type: "function",
  function: {
    name: "get_weather",
    description: "The weather in a city now.",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
}];

const settings = { thinking: true, tool_choice: "auto", ...load("settings") };
let messages = load("messages") ?? [];
let views = [];
let running = null; // AbortController of the answer that streams

// --- kept in the browser

function load(name) {
  try {
    return JSON.parse(localStorage.getItem(`tessera.${name}`));
  } catch {
    return null; // storage is off, or holds something else
  }
}

function save() {
  try {
    localStorage.setItem("tessera.settings", JSON.stringify(settings));
    localStorage.setItem("tessera.messages", JSON.stringify(messages));
  } catch {
    notice("This browser keeps no more of the conversation: its storage is full or off.");
  }
}

// --- the conversation on the page

const on = {
  edit: (message, content) => cutAndAsk(messages.indexOf(message), { role: "user", content }),
  regenerate: (message) => cutAndAsk(messages.indexOf(message)),
  answered(message) {
    save();
    if (message.calls.every((call) => call.result !== undefined)) ask();
  },
};

function append(message) {
  const view = messageView(message, on);
  views.push(view);
  $("log").append(view.node);
  $("welcome").hidden = true;
}

function showAll() {
  views = [];
  $("log").replaceChildren();
  messages.forEach(append);
  $("welcome").hidden = messages.length > 0;
  scrollDown();
}

/// Drops messages from `index` on, puts `message` there if one is given, and asks.
function cutAndAsk(index, message) {
  if (running) return;
  const before = messages;
  messages = messages.slice(0, index).concat(message ?? []);
  const lost = before.length - index - 1;
  showAll();
  ask();
  if (lost > 0) notice(`${lost} later ${lost === 1 ? "message" : "messages"} removed.`, () => restore(before));
}

function restore(before) {
  running?.abort();
  messages = before;
  showAll();
  save();
}

const isAtBottom = () => $("scroll").scrollHeight - $("scroll").scrollTop - $("scroll").clientHeight < 60;
const scrollDown = () => ($("scroll").scrollTop = $("scroll").scrollHeight);

let noticeTimer = 0;
function notice(text, undo) {
  clearTimeout(noticeTimer);
  const close = () => $("notice").replaceChildren();
  const button = undo && actionButton("Undo", () => {
    close();
    undo();
  });
  $("notice").replaceChildren(text, ...(button ? [button] : []));
  noticeTimer = setTimeout(close, 8000);
}

// --- asking

function requestMessages() {
  const sent = settings.system ? [{ role: "system", content: settings.system }] : [];
  for (const message of messages) {
    if (message.role === "user") {
      sent.push({ role: "user", content: message.content });
      continue;
    }
    if (message.content === "" && message.calls.length === 0) continue; // failed, or stopped before it said anything
    const answer = { role: "assistant", content: message.content };
    if (message.reasoning) answer.reasoning_content = message.reasoning;
    if (message.calls.length > 0) {
      answer.tool_calls = message.calls.map((call) => (
        { id: call.id, type: "function", function: { name: call.name, arguments: call.arguments } }));
    }
    sent.push(answer);
    for (const call of message.calls.filter(({ result }) => result !== undefined)) {
      sent.push({ role: "tool", tool_call_id: call.id, content: call.result });
    }
  }
  return sent;
}

function requestBody() {
  const body = {
    model: $("model").value,
    messages: requestMessages(),
    stream: true,
    stream_options: { include_usage: true },
    chat_template_kwargs: { enable_thinking: settings.thinking },
  };
  for (const name of NUMBERS) if (settings[name]) body[name] = Number(settings[name]);
  const { tools } = readTools();
  if (tools) Object.assign(body, { tools, tool_choice: settings.tool_choice });
  return body;
}

async function ask() {
  if (running) return;
  const body = requestBody();
  const answer = { role: "assistant", content: "", reasoning: "", calls: [], pieces: 0, thought_ms: 0,
    clock: { asked: performance.now() } };
  messages.push(answer);
  append(answer);
  const view = views.at(-1);
  const mine = new AbortController();
  running = mine;
  showRunning();
  scrollDown();
  const show = () => {
    const follow = isAtBottom();
    view.update(true);
    if (follow) scrollDown();
  };
  let frame = 0;
  const timer = setInterval(show, 250); // the clocks go on while nothing comes
  const saver = setInterval(save, SAVE_EVERY_MS);
  try {
    for await (const chunk of streamChat(body, mine.signal)) {
      take(answer, chunk);
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(show);
    }
  } catch (error) {
    if (mine.signal.aborted) answer.finish = "stopped";
    else answer.error = { text: error.message, details: error.details, status: error.status };
    if (error.status === 401) askForKey();
  }
  cancelAnimationFrame(frame);
  clearInterval(timer);
  clearInterval(saver);
  settle(answer);
  running = null;
  const follow = isAtBottom();
  view.update(false);
  if (follow) scrollDown();
  showRunning();
  save();
  $("spoken").textContent = answer.error ? "" : `Answer: ${answer.content || "none"}`;
}

/// Turns clocks, which mean nothing after a reload, into durations.
function settle(answer) {
  const { asked, first, last } = answer.clock;
  delete answer.clock;
  if (first) Object.assign(answer, { ttft_ms: first - asked, stream_ms: last - first });
}

/// Adds one chunk of the stream to the answer.
function take(answer, chunk) {
  if (chunk.usage) answer.usage = chunk.usage;
  const choice = chunk.choices?.[0];
  if (!choice) return;
  if (choice.finish_reason) answer.finish = choice.finish_reason;
  const { content, reasoning_content: reasoning, tool_calls: calls } = choice.delta ?? {};
  if (!content && !reasoning && !calls) return;
  const { clock } = answer;
  clock.last = performance.now();
  clock.first ??= clock.last;
  answer.pieces += 1;
  if (reasoning) {
    answer.reasoning += reasoning;
    answer.thought_ms = clock.last - clock.first;
  }
  if (content) answer.content += content;
  for (const { index, id, function: part } of calls ?? []) {
    const call = (answer.calls[index] ??= { id: "", name: "", arguments: "" });
    call.id ||= id ?? "";
    call.name += part?.name ?? "";
    call.arguments += part?.arguments ?? "";
  }
}

function showRunning() {
  $("send").textContent = running ? "Stop" : "Send";
  $("send").title = running ? "Stop this answer (Esc)" : "Send (Enter)";
  $("send").classList.toggle("primary", !running);
  $("log").setAttribute("aria-busy", String(Boolean(running)));
  document.body.classList.toggle("running", Boolean(running));
  if (running) $("spoken").textContent = "Answering";
}

// --- composer and keyboard

function fitPrompt() {
  $("prompt").style.height = "auto";
  $("prompt").style.height = `${$("prompt").scrollHeight}px`;
}

$("prompt").addEventListener("input", fitPrompt);
$("prompt").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  if (!running) $("composer").requestSubmit();
});
$("composer").addEventListener("submit", (event) => {
  event.preventDefault();
  if (running) {
    running.abort();
    return;
  }
  const content = $("prompt").value.trim();
  if (content === "") return;
  $("prompt").value = "";
  fitPrompt();
  messages.push({ role: "user", content });
  append(messages.at(-1));
  ask();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || $("key-dialog").open) return;
  if (running) running.abort();
  else if (!$("settings").hidden) showSettings(false);
});
$("scroll").addEventListener("scroll", () => ($("bottom").hidden = isAtBottom()), { passive: true });
$("bottom").addEventListener("click", scrollDown);
$("new").addEventListener("click", () => {
  const before = messages;
  running?.abort();
  messages = [];
  showAll();
  save();
  $("prompt").focus();
  if (before.length > 0) notice("Conversation cleared.", () => restore(before));
});

// --- settings

function showSettings(open) {
  const hadFocus = $("settings").contains(document.activeElement);
  $("settings").hidden = !open;
  $("toggle").setAttribute("aria-expanded", String(open));
  if (open) $("close").focus(); // not a field: that would raise a phone's keyboard
  else if (hadFocus) $("toggle").focus();
}

/// { tools, problem }: what the field holds, as the API wants it. Bare functions are wrapped.
function readTools() {
  const text = settings.tools?.trim();
  if (!text) return {};
  try {
    const tools = [JSON.parse(text)].flat().map((tool) => (tool.function ? tool : { type: "function", function: tool }));
    return { tools };
  } catch (error) {
    return { problem: `Not sent, since it is not JSON: ${error.message}` };
  }
}

function showTools() {
  const { tools, problem } = readTools();
  const names = tools?.map((tool) => tool.function.name ?? "(no name)").join(", ");
  $("tools-state").textContent = problem ?? (names ? `Offered: ${names}` : "");
  $("tools-state").classList.toggle("bad", Boolean(problem));
  $("fields").elements.tools.setAttribute("aria-invalid", String(Boolean(problem)));
}

function fillSettings() {
  for (const field of $("fields").elements) {
    if (!field.name) continue;
    if (field.type === "checkbox") field.checked = settings[field.name];
    else {
      field.value = settings[field.name] ?? "";
      if (field.type === "number") field.placeholder ||= "default";
    }
  }
  showTools();
}

$("fields").addEventListener("input", ({ target }) => {
  settings[target.name] = target.type === "checkbox" ? target.checked : target.value;
  showTools();
  save();
});
$("fields").addEventListener("submit", (event) => event.preventDefault());
$("example-tool").addEventListener("click", () => {
  settings.tools = JSON.stringify(EXAMPLE_TOOL, null, 2);
  fillSettings();
  save();
});
$("toggle").addEventListener("click", () => showSettings($("settings").hidden));
$("close").addEventListener("click", () => showSettings(false));

// --- models, key, state of the engine

let keyRefused = false; // the user closed the dialog: only a request of theirs opens it again
const askForKey = () => $("key-dialog").open || $("key-dialog").showModal();

async function showModels() {
  let list;
  try {
    list = await models();
  } catch (error) {
    if (error.status === 401 && !keyRefused) askForKey();
    return false;
  }
  $("model").replaceChildren(...list.map(({ id, max_model_len: length }) =>
    el("option", { value: id, title: length ? `${length} tokens of context` : "" }, id)));
  if (list.some(({ id }) => id === settings.model)) $("model").value = settings.model;
  showExample();
  return true;
}

/// The request to this server that a reader can paste into a shell.
function showExample() {
  const body = JSON.stringify({ model: $("model").value || "MODEL", messages: [{ role: "user", content: "Hello" }] });
  const lines = [`curl ${new URL("v1/chat/completions", location.href)}`, "-H 'Content-Type: application/json'",
    ...(hasKey() ? ['-H "Authorization: Bearer $TESSERA_API_KEY"'] : []), `-d '${body.replaceAll("'", "'\\''")}'`];
  const text = lines.join(" \\\n  ");
  $("example").replaceChildren(el("figure", { className: "code" },
    el("figcaption", {}, el("span", { textContent: "shell" }), copyButton(() => text, "Copy this command")),
    el("pre", { tabIndex: 0 }, el("code", { textContent: text }))));
}

let haveModels = false;
let lastTokens = null; // { value, at } of the counter of generated tokens
async function showState() {
  if (document.hidden) return;
  let lamp = "gone";
  let text = "no connection to the server";
  try {
    const { ready, metrics } = await engineState();
    haveModels ||= ready && (await showModels());
    lamp = ready ? "ready" : "busy";
    text = ready ? "ready" : "not ready: loading or shutting down";
    if (metrics) text = metricsText(metrics, text);
  } catch {
    lastTokens = null;
    haveModels = false; // what comes back may be another model
  }
  $("lamp").className = lamp;
  $("state").textContent = text;
}

function metricsText(metrics, text) {
  const now = { value: metrics.get("vllm:generation_tokens_total") ?? 0, at: performance.now() };
  const rate = lastTokens ? ((now.value - lastTokens.value) / (now.at - lastTokens.at)) * 1000 : 0;
  lastTokens = now;
  const kv = 100 * (metrics.get("vllm:kv_cache_usage_perc") ?? 0);
  return [text, `${metrics.get("vllm:num_requests_running") ?? 0} running`,
    `${metrics.get("vllm:num_requests_waiting") ?? 0} waiting`, `KV ${kv.toFixed(kv < 10 ? 1 : 0)} %`,
    `${Math.max(0, rate).toFixed(0)} tok/s`].join(" · ");
}

$("model").addEventListener("change", () => {
  settings.model = $("model").value;
  showExample();
  save();
});
$("key-dialog").addEventListener("cancel", () => (keyRefused = true));
$("key-form").addEventListener("submit", async () => {
  keyRefused = false;
  setKey($("key").value.trim());
  $("key").value = "";
  haveModels = await showModels();
});
$("key-cancel").addEventListener("click", () => {
  keyRefused = true;
  $("key-dialog").close();
});

for (const message of messages.filter(({ clock }) => clock)) { // the page was left while these streamed
  message.finish = "stopped";
  settle(message);
}
fillSettings();
showAll();
showExample();
showState();
setInterval(showState, STATE_EVERY_MS);
document.addEventListener("visibilitychange", showState);
