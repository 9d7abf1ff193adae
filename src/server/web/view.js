// Shows one message. A view is { node, update(message, { run, place, places, last }) }: the run that writes it if one
// does, and which of how many branches begins with it. What asks has the class `asks` and is hidden while an
// answer streams. update changes only what is different, so that it can run for
// every piece that streams in. `on` has what the buttons do; they get the message as it then is.

import { canContinue, isEmpty } from "./answer.js";
import { bytes } from "./composer.js";
import { actionButton, copyButton, el, iconButton } from "./dom.js";
import { renderMarkdown } from "./markdown.js";

const seconds = (ms) => `${(ms / 1000).toFixed(ms < 10000 ? 1 : 0)} s`;
const count = (number) => number.toLocaleString("en");
const tokensOf = (number) => `${count(number)} ${number === 1 ? "token" : "tokens"}`;
const setText = (node, text) => node.textContent === text || (node.textContent = text);

export const messageView = (message, on) => (message.role === "user" ? userView(message, on) : answerView(message, on));

/// ‹ 2 / 3 ›
function branchSwitch(step) {
  const text = el("span");
  const back = iconButton("back", "The branch before", () => step(-1));
  const next = iconButton("next", "The next branch", () => step(1));
  const node = el("span", { className: "branches" }, back, text, next);
  return { node, update({ place, places }) {
    node.hidden = places < 2;
    setText(text, `${place + 1} / ${places}`);
    text.ariaLabel = `Branch ${place + 1} of ${places}`;
    back.disabled = place === 0;
    next.disabled = place === places - 1;
  } };
}

/// A field in place of `node`'s content; `done` gets the text, or null.
function editForm(text, label, done) {
  const area = el("textarea", { value: text, ariaLabel: "Edit message" });
  area.rows = Math.min(16, text.split("\n").length + 1);
  const save = () => area.value.trim() !== "" && !document.body.classList.contains("running") && done(area.value);
  area.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      event.stopPropagation();
      done(null);
    } else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      save();
    }
  });
  queueMicrotask(() => area.focus());
  return el("div", { className: "edit" }, area, el("div", { className: "bar" },
    actionButton("Cancel", () => done(null), ""), actionButton(label, save, "primary asks")));
}

function userView(message, on) {
  const files = (message.files ?? []).map((file) => el("details", { className: "file" },
    el("summary", {}, `${file.name} · ${bytes(file.text.length)}`),
    el("pre", { tabIndex: 0, textContent: file.text })));
  const bubble = el("div", { className: "bubble" }, ...files,
    message.content === "" ? null : el("div", { className: "said", textContent: message.content }));
  const branch = branchSwitch((step) => on.step(message, step));
  const edit = actionButton("Edit", () => node.replaceChildren(editForm(message.content, "Send", (content) => {
    node.replaceChildren(bubble, under);
    if (content === null) edit.focus();
    else on.edit(message, content);
  })), "quiet asks");
  const under = el("div", { className: "under" }, branch.node,
    el("div", { className: "actions" }, copyButton(() => message.content, "Copy this message"), edit));
  const node = el("article", { className: "user", ariaLabel: "You" }, bubble, under);
  return { node, startEdit: () => edit.click(), update: (_, where) => branch.update(where) };
}

function answerView(message, on) {
  const summary = el("summary");
  const thoughts = el("div", { className: "md" });
  const thinking = el("details", { className: "thinking" }, summary, thoughts);
  const content = el("div", { className: "md content" });
  const calls = el("div");
  const error = el("div", { className: "error", role: "alert" });
  const facts = el("span", { className: "facts" });
  const branch = branchSwitch((step) => on.step(message, step));
  const more = actionButton("Continue", () => on.goOn(message), "quiet asks");
  const actions = el("div", { className: "actions" },
    copyButton(() => message.content || message.reasoning, "Copy this answer"),
    actionButton("Edit", () => node.replaceChildren(editForm(message.content, "Keep as a branch", (text) => {
      node.replaceChildren(...parts);
      if (text !== null) on.edit(message, text);
    })), "quiet asks"),
    more, actionButton("Regenerate", () => on.regenerate(message), "quiet asks"));
  const parts = [thinking, content, calls, error, el("div", { className: "under" }, branch.node, facts, actions)];
  const node = el("article", { className: "answer", ariaLabel: "Answer" }, ...parts);
  const callViews = [];
  let shownError = "";
  // What is folded away is rendered when it is opened.
  const showThoughts = () => thinking.open && renderMarkdown(thoughts, message.reasoning);
  thinking.addEventListener("toggle", showThoughts);

  function update(newest, { run, last, ...where }) {
    message = newest;
    const still = run && message.content === "" && message.calls.length === 0;
    thinking.hidden = message.reasoning === "";
    setText(summary, still ? `Thinking, ${seconds(message.thought_ms)}` : `Thought for ${seconds(message.thought_ms)}`);
    showThoughts();
    renderMarkdown(content, message.content);
    for (let at = callViews.length; at < message.calls.length; at += 1) {
      callViews.push(callView((result) => on.answered(message, at, result)));
      calls.append(callViews.at(-1).node);
    }
    message.calls.forEach((call, at) => callViews[at].update(call, Boolean(run)));
    error.hidden = !message.error;
    const newError = JSON.stringify(message.error ?? "");
    if (newError !== shownError) error.replaceChildren(...(message.error ? errorParts(message, on) : []));
    shownError = newError;
    setText(facts, run ? liveFacts(run) : finalFacts(message));
    branch.update(where);
    actions.hidden = Boolean(run) || Boolean(message.error && isEmpty(message));
    more.hidden = !last || !canContinue(message);
  }
  return { node, update };
}

function errorParts(message, on) {
  const { text, details, status } = message.error;
  const again = actionButton("Try again", () => on.regenerate(message), "asks");
  const key = status === 401 ? actionButton("Enter another key", () => on.key(text), "") : null;
  return [el("strong", {}, status ? `Error ${status}. ` : "Error. "), text,
    ...(details ? [el("div", { className: "hint" }, details)] : []), el("div", { className: "bar" }, again, key)];
}

// While an answer streams, pieces are counted for tokens; afterwards its usage says what they were.
function liveFacts({ answer: { pieces }, before, asked, first, last }) {
  const own = pieces - before.pieces;
  if (own === 0) return `waiting for the first token, ${seconds(performance.now() - asked)}`;
  const rate = own > 1 ? `, ${((own - 1) / ((last - first) / 1000)).toFixed(1)} tok/s` : "";
  return `${tokensOf(pieces)}${rate}`;
}

const FINISHES = { length: "cut at the token limit", stopped: "stopped", tool_calls: "calls tools", edited: "edited" };

function finalFacts({ usage, pieces, ttft_ms, stream_ms, finish, error }) {
  const end = FINISHES[finish] ?? (finish || error ? null : "broke off");
  if (pieces === 0) return end ?? "";
  const tokens = usage?.completion_tokens ?? pieces;
  const cached = usage?.prompt_tokens_details?.cached_tokens;
  return [
    `${usage ? "" : "about "}${tokensOf(tokens)}`,
    tokens > 1 && stream_ms > 0 && `${((tokens - 1) / (stream_ms / 1000)).toFixed(1)} tok/s`,
    `first after ${ttft_ms < 1000 ? `${Math.round(ttft_ms)} ms` : seconds(ttft_ms)}`,
    usage && `prompt ${count(usage.prompt_tokens)}${cached ? `, ${count(cached)} cached` : ""}`,
    end,
  ].filter(Boolean).join(" · ");
}

function pretty(json) {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json; // unfinished, or not JSON: as it came
  }
}

/// A call of a tool: its arguments, and the answer that the user gives by hand.
function callView(onAnswer) {
  const summary = el("summary");
  const code = el("pre", { tabIndex: 0 });
  const area = el("textarea", { className: "mono", rows: 3, placeholder: "Result of this call" });
  const send = actionButton("Answer this call", () => onAnswer(area.value), "asks");
  const form = el("div", { className: "edit" }, area, el("div", { className: "bar" }, send));
  const result = el("pre", { tabIndex: 0 });
  const node = el("details", { className: "call", open: true }, summary, el("div", {}, code, result, form));

  function update(call, live) {
    const answered = call.result !== undefined;
    setText(summary, `${call.name}${answered ? " — answered" : ""}`);
    setText(code, live ? call.arguments : pretty(call.arguments));
    setText(result, call.result ?? "");
    area.ariaLabel = `Result of ${call.name}`;
    result.hidden = !answered;
    form.hidden = answered || live;
  }
  return { node, update };
}
