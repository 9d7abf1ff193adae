// Keys, one table for the list that "?" shows and for what they do.

import { $, el } from "./dom.js";

const isTyping = () => /^(?:INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName);

/// `does` has a function by name; `stop` says whether there was something to stop or to close.
export function setUpShortcuts(does) {
  const control = (key, shift = false) => (event) =>
    (event.ctrlKey || event.metaKey) && event.shiftKey === shift && !event.altKey && event.key.toLowerCase() === key;
  const escape = (shift) => ({ key, shiftKey }) => key === "Escape" && shiftKey === shift;
  const question = ({ key, ctrlKey, metaKey }) => key === "?" && !ctrlKey && !metaKey && !isTyping();
  const table = [
    { keys: "Enter", says: "Send the message" },
    { keys: "Shift Enter", says: "A new line in it" },
    { keys: "↑", says: "In an empty message: edit the last one", run: does.editLast,
      is: ({ key, target }) => key === "ArrowUp" && target === $("prompt") && target.value === "" },
    { keys: "Esc", says: "Stop the answer; close what is open", run: does.stop, is: escape(false) },
    { keys: "Shift Esc", says: "Go to the message", run: () => $("prompt").focus(), is: escape(true) },
    { keys: "Ctrl K", says: "Search the conversations", run: does.search, is: control("k") },
    { keys: "Ctrl Shift O", says: "A new conversation", run: does.begin, is: control("o", true) },
    { keys: "Ctrl ,", says: "Settings", run: does.settings, is: control(",") },
    { keys: "?", says: "This list", run: does.help, is: question },
  ];
  $("keys").replaceChildren(...table.flatMap(({ keys, says }) =>
    [el("dt", {}, ...keys.split(" ").map((key) => el("kbd", {}, key))), el("dd", {}, says)]));
  document.addEventListener("keydown", (event) => {
    if (event.isComposing || document.querySelector("dialog[open]")) return; // a dialog has its own Escape
    const found = table.find(({ is }) => is?.(event));
    if (!found) return;
    if (event.key !== "Escape") event.preventDefault();
    found.run();
  });
}
