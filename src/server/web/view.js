// Shows one message. A view is { node, update(message, live) }; update changes only what is different, so that it can
// run for every piece that streams in. `on` has what the buttons do.

import { actionButton, copyButton, el } from "./dom.js";
import { renderMarkdown } from "./markdown.js";

const seconds = (ms) => `${(ms / 1000).toFixed(ms < 10000 ? 1 : 0)} s`;
const count = (number) => number.toLocaleString("en");
const setText = (node, text) => node.textContent === text || (node.textContent = text);

export function messageView(message, on) {
  return message.role === "user" ? userView(message, on) : answerView(message, on);
}

function userView(message, on) {
  const bubble = el("div", { className: "bubble", textContent: message.content });
  const edit = actionButton("Edit", () => node.replaceChildren(editForm()));
  const under = el("div", { className: "under" },
    el("div", { className: "actions" }, copyButton(() => message.content, "Copy this message"), edit));
  const node = el("article", { className: "user" }, bubble, under);

  function editForm() {
    const area = el("textarea", { value: message.content, "aria-label": "Edit message" });
    area.rows = Math.min(12, message.content.split("\n").length + 1);
    const cancel = () => {
      node.replaceChildren(bubble, under);
      edit.focus();
    };
    const send = () => area.value.trim() !== "" && on.edit(message, area.value);
    area.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        event.stopPropagation();
        cancel();
      } else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        send();
      }
    });
    queueMicrotask(() => area.focus());
    return el("div", { className: "edit" }, area,
      el("div", { className: "bar" }, actionButton("Cancel", cancel, ""), actionButton("Send", send, "primary")));
  }
  return { node, update() {} };
}

function answerView(message, on) {
  const summary = el("summary");
  const thoughts = el("div", { className: "md" });
  const thinking = el("details", { className: "thinking" }, summary, thoughts);
  const content = el("div", { className: "md content" });
  const calls = el("div");
  const error = el("div", { className: "error", role: "alert" });
  const facts = el("span", { className: "facts" });
  const actions = el("div", { className: "actions" },
    copyButton(() => message.content || message.reasoning, "Copy this answer"),
    actionButton("Regenerate", () => on.regenerate(message)));
  const node = el("article", { className: "answer" }, thinking, content, calls, error,
    el("div", { className: "under" }, facts, actions));
  const callViews = [];
  // What is folded away is rendered when it is opened.
  const showThoughts = () => thinking.open && renderMarkdown(thoughts, message.reasoning);
  thinking.addEventListener("toggle", showThoughts);

  function update(live) {
    const still = live && message.content === "" && message.calls.length === 0;
    thinking.hidden = message.reasoning === "";
    setText(summary, still ? `Thinking, ${seconds(message.thought_ms)}` : `Thought for ${seconds(message.thought_ms)}`);
    showThoughts();
    renderMarkdown(content, message.content);
    for (const call of message.calls.slice(callViews.length)) {
      callViews.push(callView(call, () => on.answered(message)));
      calls.append(callViews.at(-1).node);
    }
    for (const view of callViews) view.update(live);
    error.hidden = !message.error;
    if (message.error && error.childElementCount === 0) showError(error, message, on);
    setText(facts, live ? liveFacts(message) : finalFacts(message));
    actions.hidden = live || Boolean(message.error);
  }
  update(false);
  return { node, update };
}

function showError(node, message, on) {
  const { text, details, status } = message.error;
  node.append(el("strong", { textContent: status ? `Error ${status}. ` : "Error. " }), text);
  if (details) node.append(el("div", { className: "hint", textContent: details }));
  node.append(el("div", {}, actionButton("Try again", () => on.regenerate(message), "")));
}

// While an answer streams, pieces are counted for tokens; afterwards its usage says what they were.
function liveFacts({ clock, pieces }) {
  const now = performance.now();
  if (pieces === 0) return `waiting for the first token, ${seconds(now - clock.asked)}`;
  const rate = pieces > 1 ? `, ${((pieces - 1) / ((clock.last - clock.first) / 1000)).toFixed(1)} tok/s` : "";
  return `${count(pieces)} tokens${rate}`;
}

const FINISHES = { length: "cut at the token limit", stopped: "stopped", tool_calls: "calls tools" };

function finalFacts({ usage, pieces, ttft_ms, stream_ms, finish }) {
  if (pieces === 0) return FINISHES[finish] ?? "";
  const tokens = usage?.completion_tokens ?? pieces;
  const cached = usage?.prompt_tokens_details?.cached_tokens;
  return [
    `${usage ? "" : "about "}${count(tokens)} tokens`,
    tokens > 1 && stream_ms > 0 && `${((tokens - 1) / (stream_ms / 1000)).toFixed(1)} tok/s`,
    `first after ${ttft_ms < 1000 ? `${Math.round(ttft_ms)} ms` : seconds(ttft_ms)}`,
    usage && `prompt ${count(usage.prompt_tokens)}${cached ? `, ${count(cached)} cached` : ""}`,
    FINISHES[finish],
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
function callView(call, onAnswer) {
  const summary = el("summary");
  const code = el("pre", { tabIndex: 0 });
  const area = el("textarea", { className: "mono", rows: 3, placeholder: "Result of this call", value: call.result ?? "",
    "aria-label": `Result of ${call.name}` });
  const send = actionButton("Answer this call", () => {
    call.result = area.value;
    update(false);
    onAnswer();
  }, "");
  const form = el("div", { className: "edit" }, area, el("div", { className: "bar" }, send));
  const result = el("pre", { tabIndex: 0 });
  const node = el("details", { className: "call", open: true }, summary, el("div", {}, code, result, form));

  function update(live) {
    const answered = call.result !== undefined;
    setText(summary, `${call.name}${answered ? " — answered" : ""}`);
    setText(code, live ? call.arguments : pretty(call.arguments));
    setText(result, call.result ?? "");
    result.hidden = !answered;
    form.hidden = answered || live;
  }
  return { node, update };
}
