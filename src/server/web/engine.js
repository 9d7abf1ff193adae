// Models, the key, and the line that says what the engine does.

import { engineState, hasKey, models, setKey } from "./api.js";
import { $, el } from "./dom.js";
import { codeBlock } from "./markdown.js";
import { changeSettings, settings } from "./settings.js";

const STATE_EVERY_MS = 1500;
let lengths = new Map(); // of each model's context
let haveModels = false;
let keyRefused = false; // the user closed the dialog: only a request of theirs opens it again
let lastTokens = null; // { value, at } of the counter of generated tokens
let onModels = () => {};

export const modelName = () => $("model").value;
export const contextLength = () => lengths.get(modelName()) ?? 0;

/// A path or an organisation says nothing in a narrow header; unless two models then have one name.
function shortNames(ids) {
  const short = ids.map((id) => id.split("/").filter(Boolean).at(-1) ?? id);
  return short.map((name, at) => (short.indexOf(name) === short.lastIndexOf(name) ? name : ids[at]));
}

/// `refusal` is the server's own word on a key that it did not take.
export function askForKey(refusal = "") {
  const refused = hasKey() && refusal !== "";
  $("key-title").textContent = refused ? "The server refused this API key" : "This server asks for an API key";
  $("key-problem").textContent = refused ? refusal : "";
  if (!$("key-dialog").open) $("key-dialog").showModal();
  $("key").focus();
}

async function showModels() {
  let list;
  try {
    list = await models();
  } catch (error) {
    if (error.status === 401 && !keyRefused) askForKey(error.message);
    return false;
  }
  lengths = new Map(list.map(({ id, max_model_len: length }) => [id, length]));
  const names = shortNames(list.map(({ id }) => id));
  $("model").replaceChildren(...list.map(({ id, max_model_len: length }, at) =>
    el("option", { value: id, title: length ? `${id}, ${length} tokens of context` : id }, names[at])));
  if (list.some(({ id }) => id === settings.model)) $("model").value = settings.model;
  showExample();
  onModels();
  return true;
}

/// The request to this server that a reader can paste into a shell.
function showExample() {
  $("model").title = `Model ${modelName()}`;
  const body = JSON.stringify({ model: modelName() || "MODEL", messages: [{ role: "user", content: "Hello" }] });
  const lines = [`curl ${new URL("v1/chat/completions", location.href)}`, "-H 'Content-Type: application/json'",
    ...(hasKey() ? ['-H "Authorization: Bearer $TESSERA_API_KEY"'] : []), `-d '${body.replaceAll("'", "'\\''")}'`];
  $("example").replaceChildren(codeBlock(lines.join(" \\\n  "), "shell"));
}

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

/// `onModel` is called when there is a model to ask, and when another one is chosen.
export function setUpEngine(onModel) {
  onModels = onModel;
  $("model").addEventListener("change", () => {
    changeSettings({ model: modelName() });
    showExample();
    onModel();
  });
  $("key-dialog").addEventListener("cancel", () => (keyRefused = true));
  $("key-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    keyRefused = false;
    setKey($("key").value.trim());
    $("key-form").reset();
    $("key-dialog").close();
    haveModels = await showModels();
  });
  $("key-cancel").addEventListener("click", () => {
    keyRefused = true;
    $("key-dialog").close();
  });
  $("enter-key").addEventListener("click", () => askForKey());
  showExample();
  showState();
  setInterval(showState, STATE_EVERY_MS);
  document.addEventListener("visibilitychange", showState);
}
