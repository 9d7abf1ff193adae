// One line above the composer that says what happened, for a while, with an action where there is one: undo.

import { $, actionButton } from "./dom.js";

const SHOWN_MS = 10_000;
let timer = 0;

export function notice(text, action) {
  clearTimeout(timer);
  const close = () => $("notice").replaceChildren();
  const button = action && actionButton(action.label, () => {
    close();
    action.run();
  });
  $("notice").replaceChildren(text, ...(button ? [button] : []));
  timer = setTimeout(close, SHOWN_MS);
}
