// The field for the next message, the text files that go with it, and how much of the model's context is used.

import { countTokens } from "./api.js";
import { $, actionButton, el, iconButton } from "./dom.js";
import { notice } from "./notice.js";

const FILE_BYTES_MAX = 4 << 20; // what no context holds
const COUNT_AFTER_MS = 500; // of a pause in typing
let files = [];
let onDraft = () => {};

export const bytes = (count) => (count < 1024 ? `${count} B` : count < 1 << 20 ? `${(count / 1024).toFixed(0)} KiB`
  : `${(count / (1 << 20)).toFixed(1)} MiB`);

/// What is being written: { content, files }.
export const draft = () => ({ content: $("prompt").value.trim(), files });

export function clearDraft() {
  $("prompt").value = "";
  files = [];
  showFiles();
  fit();
  onDraft();
}

function fit() {
  $("prompt").style.height = "auto";
  $("prompt").style.height = `${$("prompt").scrollHeight}px`;
}

// --- files

/// Reads files as UTF-8; what is none is named and left out.
async function attach(list) {
  const refused = [];
  for (const file of list) {
    if (file.size > FILE_BYTES_MAX) {
      refused.push(`${file.name} has ${bytes(file.size)}, more than ${bytes(FILE_BYTES_MAX)}`);
      continue;
    }
    try {
      const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
      if (text.includes("\0")) throw new TypeError("it has zero bytes");
      files = [...files, { name: file.name.replace(/[\n\r`]/g, "_"), text }];
    } catch (error) {
      refused.push(error instanceof TypeError ? `${file.name} is not a text file in UTF-8`
        : `${file.name} could not be read: ${error.message}`);
    }
  }
  if (refused.length > 0) notice(`Not attached: ${refused.join("; ")}.`);
  showFiles();
  onDraft();
}

function showFiles() {
  $("files").replaceChildren(...files.map((file) => el("li", {}, `${file.name} · ${bytes(file.text.length)}`,
    iconButton("close", `Remove ${file.name}`, () => {
      files = files.filter((other) => other !== file);
      showFiles();
      onDraft();
      $("prompt").focus();
    }))));
  $("files").hidden = files.length === 0;
}

function setUpFiles() {
  $("attach").addEventListener("click", () => $("file").click());
  $("file").addEventListener("change", async () => {
    await attach([...$("file").files]);
    $("file").value = "";
    $("prompt").focus();
  });
  const hasFiles = ({ dataTransfer }) => dataTransfer?.types.includes("Files");
  document.addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    $("composer").classList.add("dropping");
  });
  document.addEventListener("dragleave", (event) => event.relatedTarget ?? $("composer").classList.remove("dropping"));
  document.addEventListener("drop", (event) => {
    $("composer").classList.remove("dropping");
    if (!hasFiles(event)) return;
    event.preventDefault();
    attach([...event.dataTransfer.files]);
  });
  $("prompt").addEventListener("paste", (event) => {
    if (event.clipboardData.files.length === 0) return;
    event.preventDefault();
    attach([...event.clipboardData.files]);
  });
}

// --- the context

let counted = { count: 0, most: 0 };
let counting = null; // AbortController of the newest count
let countTimer = 0;

/// Counts soon what the next request would hold; `body` makes it, or returns null where there is nothing to ask.
export function countSoon(body) {
  clearTimeout(countTimer);
  countTimer = setTimeout(async () => {
    counting?.abort();
    counting = new AbortController();
    const asked = body();
    try {
      const answer = asked && (await countTokens(asked, counting.signal));
      counted = { count: answer?.count ?? 0, most: answer?.max_model_len ?? 0 };
    } catch (error) {
      if (error.name === "AbortError") return;
      counted = { count: 0, most: 0 }; // no key yet, or no server: the next request says so
    }
    showContext(0);
  }, COUNT_AFTER_MS);
}

/// `more`: tokens of the answer that streams.
export function showContext(more) {
  const { count, most } = counted;
  const used = count + more;
  $("context").hidden = most === 0;
  if (most === 0) return;
  $("meter").max = most;
  $("meter").high = 0.85 * most;
  $("meter").value = Math.min(used, most);
  $("meter-text").textContent = `${used.toLocaleString("en")} / ${most.toLocaleString("en")}`;
  $("context").title = `${used} of the ${most} tokens of this model's context${used > most ? ": too many" : ""}`;
  $("context").classList.toggle("over", used > most);
}

/// `onSend` is called when the message shall go, `onInput` when it has changed.
export function setUpComposer({ onSend, onInput }) {
  onDraft = onInput;
  setUpFiles();
  $("prompt").addEventListener("input", () => {
    fit();
    onInput();
  });
  $("prompt").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    $("composer").requestSubmit();
  });
  $("composer").addEventListener("submit", (event) => {
    event.preventDefault();
    onSend(event.submitter === $("send"));
  });
}
