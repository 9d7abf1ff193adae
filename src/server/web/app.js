// The page: the conversation that is shown, and the answers that stream in this tab, one a conversation at most. What
// another tab does to the same conversation arrives through the store.

import { follow, isEmpty, newAnswer, newRun } from "./answer.js";
import { clearDraft, countSoon, draft, setUpComposer, showContext } from "./composer.js";
import { $ } from "./dom.js";
import { askForKey, contextLength, modelName, setUpEngine } from "./engine.js";
import { setUpList, showList } from "./list.js";
import { notice } from "./notice.js";
import { promptFields, requestFields, settings, setUpSettings } from "./settings.js";
import { setUpShortcuts } from "./shortcuts.js";
import * as store from "./store.js";
import { branches, newestLeaf, pathTo, requestMessages, titleOf } from "./thread.js";
import { messageView } from "./view.js";

const NARROW = matchMedia("(max-width: 52rem)"); // as in style.css: list and settings lie over the conversation
const SAVE_EVERY_MS = 1000; // while an answer streams

let conversation = null; // null: a new one, which is nothing until its first message
let isKept = false; // whether the store has it yet
let messages = new Map();
let shown = []; // { id, view, where } of the messages on the page
const runs = new Map(); // by conversation

const isRunning = (id) => runs.has(id);
const running = () => (conversation ? runs.get(conversation.id) : undefined);

// --- the conversation on the page

const on = {
  edit: (message, content) => (message.role === "user"
    ? say({ content, files: message.files ?? [] }, message.parent)
    : editAnswer(message, content)),
  regenerate: (message) => ask(message.parent, isEmpty(message) ? message : null),
  goOn: (message) => ask(message.parent, message),
  key: askForKey,
  step(message, by) {
    const siblings = branches(messages).get(messages.has(message.parent) ? message.parent : null);
    goTo(newestLeaf(messages, siblings[siblings.indexOf(message) + by].id));
  },
  async answered(message, at, result) {
    message.calls[at].result = result;
    render();
    await store.changeMessage(message, (kept) => {
      kept.calls[at].result = result;
      return kept;
    });
    if (message.calls.every((call) => call.result !== undefined)) ask(message.id);
  },
};

const isAtBottom = () => $("scroll").scrollHeight - $("scroll").scrollTop - $("scroll").clientHeight < 60;
const scrollDown = () => ($("scroll").scrollTop = $("scroll").scrollHeight);

/// Shows the branch that ends with conversation.leaf. Messages that are on the page already keep their elements.
function render() {
  const path = conversation ? pathTo(messages, conversation.leaf) : [];
  const children = branches(messages);
  let same = 0;
  while (same < path.length && shown[same]?.id === path[same].id) same += 1;
  for (const { view } of shown.splice(same)) view.node.remove();
  for (const message of path.slice(same)) {
    const view = messageView(message, on);
    shown.push({ id: message.id, view });
    $("log").append(view.node);
  }
  path.forEach((message, at) => {
    const siblings = children.get(messages.has(message.parent) ? message.parent : null);
    const run = running()?.answer === message ? running() : null;
    shown[at].where = { run, place: siblings.indexOf(message), places: siblings.length, last: at === path.length - 1 };
    shown[at].view.update(message, shown[at].where);
  });
  $("welcome").hidden = path.length > 0;
  $("export-one").hidden = !conversation;
  document.title = conversation ? `${conversation.title} · Tessera` : "Tessera";
  showRunning();
}

function showRunning() {
  const busy = Boolean(running());
  $("send").textContent = busy ? "Stop" : "Send";
  $("send").title = busy ? "Stop this answer (Esc)" : "Send (Enter)";
  $("send").classList.toggle("primary", !busy);
  $("log").setAttribute("aria-busy", String(busy));
  document.body.classList.toggle("running", busy);
}

const refreshList = () => showList(isRunning);
const count = () => countSoon(() => {
  const said = draft();
  const path = conversation ? pathTo(messages, conversation.leaf) : [];
  if (said.content !== "" || said.files.length > 0) path.push({ role: "user", ...said });
  return path.length === 0 || !contextLength() ? null
    : { model: modelName(), messages: requestMessages(settings.system, path), ...promptFields() };
});

function goTo(leaf) {
  conversation.leaf = leaf;
  render();
  count();
  store.changeConversation(conversation.id, { leaf });
}

const addressed = () => location.hash.slice(1);
const isOpening = () => addressed() !== (conversation?.id ?? "");

/// Opens what the address names; nothing there is a new conversation.
async function openAddress() {
  if (!isOpening()) return;
  const id = addressed();
  const found = id === "" ? null : await store.conversation(id);
  if (id !== addressed()) return; // the next click came first
  if (id !== "" && !found) {
    notice("This conversation is not in this browser, or not any more.");
    history.replaceState(null, "", location.pathname + location.search);
  }
  show(found);
}

/// `found` is as store.conversation gives it; null is a new one.
function show(found) {
  conversation = found?.conversation ?? null;
  isKept = Boolean(found);
  messages = new Map();
  adopt(found?.messages ?? []);
  shown.splice(0).forEach(({ view }) => view.node.remove());
  render();
  scrollDown();
  count();
  refreshList();
}

function leave() {
  if (conversation || isOpening()) history.pushState(null, "", location.pathname + location.search);
  show(null);
}

function begin() {
  leave();
  if (NARROW.matches) showDrawer("sidebar", false);
  $("prompt").focus();
}

/// Takes over what the store has. What streams in this tab, and what is not written yet, is newer.
function adopt(found) {
  for (const message of found) messages.set(message.id, message);
  const answer = running()?.answer;
  if (answer) messages.set(answer.id, answer);
}

/// Another tab has changed this conversation: what goes on from here is shown, other branches are merely there.
async function reload() {
  const { id } = conversation;
  const found = await store.conversation(id);
  if (conversation?.id !== id || !found) return;
  const atBottom = isAtBottom();
  adopt(found.messages);
  const { leaf } = conversation;
  const goesOn = pathTo(messages, found.conversation.leaf).some((message) => message.id === leaf);
  conversation = { ...found.conversation, leaf: goesOn ? found.conversation.leaf : leaf };
  render();
  if (atBottom) scrollDown();
  count();
}

store.onChange(async ({ conversation: id, elsewhere }) => {
  const all = await refreshList();
  if (!conversation || !isKept) return;
  if (all && !all.some((kept) => kept.id === conversation.id)) {
    running()?.abort.abort();
    if (elsewhere) notice("This conversation was deleted in another tab.");
    leave();
  } else if (id === null || (elsewhere && id === conversation.id)) {
    await reload();
  } else {
    const kept = all?.find((other) => other.id === conversation.id);
    if (kept) document.title = `${(conversation.title = kept.title)} · Tessera`;
  }
});

// --- asking

/// Adds a message of the user's below `parent` and asks. The first one makes the conversation.
function say({ content, files }, parent) {
  if (running()) return;
  const now = Date.now();
  const message = { id: store.newId(), parent, role: "user", created: now, content, files };
  if (!conversation) {
    const title = titleOf(message);
    conversation = { id: store.newId(), title, created: now, updated: now, leaf: message.id, deleted: 0 };
    isKept = false;
    history.pushState(null, "", `#${conversation.id}`);
    navigator.storage?.persist?.();
  }
  message.conversation = conversation.id;
  add(message);
  ask(message.id);
}

function add(message) {
  const home = conversation;
  messages.set(message.id, message);
  home.leaf = message.id;
  return store.addMessage({ ...home }, { ...message }).then(() => (isKept ||= conversation === home));
}

/// An answer as the user would have it, beside the model's.
function editAnswer(message, content) {
  if (running()) return;
  const { conversation: home, parent, model, reasoning, calls } = message;
  const finish = calls.length > 0 ? "tool_calls" : "edited";
  add({ ...newAnswer(home, parent, model), content, reasoning, calls, finish });
  render();
  count();
}

/// Asks for an answer to `parent`: a new one, or `begun`, which goes on if it has said anything.
async function ask(parent, begun = null) {
  if (running()) return;
  const home = conversation;
  const continued = begun && !isEmpty(begun) ? begun : null;
  const path = pathTo(messages, continued?.id ?? parent);
  const body = { model: modelName(), messages: requestMessages(settings.system, path, continued), stream: true,
    stream_options: { include_usage: true }, ...requestFields() };
  if (continued) Object.assign(body, { continue_final_message: true, add_generation_prompt: false });
  const answer = begun ?? newAnswer(home.id, parent, body.model);
  const run = newRun(answer);
  runs.set(home.id, run);
  if (begun) takeOver(answer);
  else add(answer);
  render();
  scrollDown();
  refreshList();
  $("spoken").textContent = "Answering";
  await streamed(run, body);
  try {
    await save(answer); // done means kept, if this browser keeps anything
  } finally {
    end(run);
  }
}

function end({ answer }) {
  runs.delete(answer.conversation);
  if (conversation?.id === answer.conversation) {
    const atBottom = isAtBottom();
    render();
    if (atBottom) scrollDown();
    count();
    $("spoken").textContent = answer.error ? "" : `Answer: ${answer.content || "none"}`;
  }
  if (answer.error?.status === 401) askForKey(answer.error.text);
  refreshList();
}

/// From now on this tab writes the answer, if it has what was written last.
function takeOver(answer) {
  const before = answer.run;
  answer.run = store.newId();
  store.changeMessage(answer, (kept) => (kept.run === before ? { ...kept, run: answer.run } : kept));
}

async function save(answer) {
  const moved = await store.saveAnswer(answer);
  if (conversation?.id !== answer.conversation) return;
  messages.set(answer.id, answer);
  if (!moved) return;
  goTo(answer.id);
  await reload();
}

async function streamed(run, body) {
  const { answer } = run;
  let saved = performance.now();
  let frame = 0;
  const paint = () => {
    if (running() !== run) return;
    const follows = isAtBottom();
    const at = shown.find(({ id }) => id === answer.id);
    at?.view.update(answer, at.where);
    showContext(answer.pieces - run.before.pieces);
    if (follows) scrollDown();
  };
  const timer = setInterval(paint, 250); // the clocks go on while nothing comes
  await follow(run, body, () => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(paint);
    if (performance.now() - saved < SAVE_EVERY_MS) return;
    saved = performance.now();
    save(answer);
  });
  clearInterval(timer);
  cancelAnimationFrame(frame);
}

// --- controls

/// The list and the settings: beside the conversation where there is room, over it on a phone.
function showDrawer(name, open) {
  const hadFocus = $(name).contains(document.activeElement);
  $(name).hidden = !open;
  $(`${name}-toggle`).setAttribute("aria-expanded", String(open));
  if (!open && hadFocus) $(`${name}-toggle`).focus();
  else if (open && NARROW.matches) $(`${name}-close`).focus(); // not a field: that would raise the keyboard
}

for (const name of ["sidebar", "settings"]) {
  $(`${name}-toggle`).addEventListener("click", () => showDrawer(name, $(name).hidden));
  $(`${name}-close`).addEventListener("click", () => showDrawer(name, false));
}
for (const id of ["new", "list-new"]) $(id).addEventListener("click", begin);
$("list").addEventListener("click", ({ target }) => {
  if (target.closest("a") && NARROW.matches) showDrawer("sidebar", false);
});
$("help-open").addEventListener("click", () => $("help").showModal());
$("help-close").addEventListener("click", () => $("help").close());
$("scroll").addEventListener("scroll", () => ($("bottom").hidden = isAtBottom()), { passive: true });
$("bottom").addEventListener("click", scrollDown);
addEventListener("hashchange", openAddress);
addEventListener("pagehide", () => runs.forEach(({ answer }) => save(answer)));
addEventListener("unhandledrejection", (event) => {
  if (!(event.reason instanceof DOMException)) return; // a fault of the page, for the console
  event.preventDefault();
  notice(`This browser does not keep conversations now (${event.reason.message}). Export what you need.`);
});

setUpShortcuts({
  begin,
  stop() {
    if (running()) running().abort.abort();
    else if (!$("settings").hidden) showDrawer("settings", false);
    else if (NARROW.matches) showDrawer("sidebar", false);
  },
  search() {
    showDrawer("sidebar", true);
    $("search").select();
  },
  settings: () => showDrawer("settings", $("settings").hidden),
  help: () => $("help").showModal(),
  editLast: () => shown.findLast(({ view }) => view.startEdit)?.view.startEdit(),
});
setUpComposer({
  onInput: count,
  onSend(byButton) {
    if (running()) {
      if (byButton) running().abort.abort();
      return;
    }
    const said = draft();
    if (isOpening()) return; // it would go to the conversation before
    if (said.content === "" && said.files.length === 0) return;
    clearDraft();
    say(said, conversation?.leaf ?? null);
  },
});
setUpSettings(count);
setUpEngine(count);
showDrawer("sidebar", !NARROW.matches);
render();
setUpList(() => conversation?.id ?? null, isRunning);
openAddress();
refreshList();
