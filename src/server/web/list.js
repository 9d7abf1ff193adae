// The list of conversations: search, rename, delete, files to and from.

import { $, el, iconButton } from "./dom.js";
import { notice } from "./notice.js";
import * as store from "./store.js";
import { exported, imported } from "./thread.js";

const SEARCH_AFTER_MS = 150;
const DAY_MS = 86_400_000;
const UNDO_MS = 30_000; // how long a deleted conversation can come back
let shownKey = ""; // what the list is made of: left alone while it is the same, since somebody may be clicking
let renaming = null; // id of the one whose title is being typed
let current = () => null;

const conversationsOf = (count) => `${count} ${count === 1 ? "conversation" : "conversations"}`;

const groupOf = (time) => {
  const days = (new Date().setHours(0, 0, 0, 0) - time) / DAY_MS;
  return days <= 0 ? "Today" : days <= 1 ? "Yesterday" : days <= 7 ? "The last 7 days" : "Earlier";
};

/// `isRunning` says of an id whether it is being answered in this tab. Returns all conversations, or nothing where a
/// newer list is under way.
export async function showList(isRunning) {
  const wanted = $("search").value.trim();
  const [all, found] = await Promise.all([store.conversations(), wanted ? store.search(wanted) : null]);
  if (wanted !== $("search").value.trim() || renaming) return null; // or a title that is being typed would be lost
  const isFound = ({ id, title }) => found.has(id) || title.toLowerCase().includes(wanted.toLowerCase());
  const shown = found ? all.filter(isFound) : all;
  const key = JSON.stringify([current(),
    ...shown.map(({ id, title, updated }) => [id, title, groupOf(updated), found?.get(id), isRunning(id)])]);
  if (key === shownKey) return all;
  shownKey = key;
  const nodes = [];
  let group = "";
  for (const conversation of shown) {
    if (groupOf(conversation.updated) !== group) {
      group = groupOf(conversation.updated);
      nodes.push(el("li", { className: "group" }, group));
    }
    nodes.push(entry(conversation, found?.get(conversation.id), isRunning(conversation.id)));
  }
  const focused = document.activeElement?.closest?.("#list li")?.dataset.id;
  $("list").replaceChildren(...nodes);
  if (focused) [...$("list").children].find(({ dataset }) => dataset.id === focused)?.querySelector("a").focus();
  $("list-empty").hidden = shown.length > 0;
  $("list-empty").textContent = wanted ? "Nothing found." : "No conversations yet. They stay in this browser.";
  for (const button of [$("export"), $("delete-all")]) button.disabled = all.length === 0;
  return all;
}

function entry({ id, title }, snippet, running) {
  const link = el("a", { href: `#${id}`, title }, el("span", { className: "title" }, title),
    snippet ? el("span", { className: "snippet" }, snippet) : null);
  if (id === current()) link.setAttribute("aria-current", "page");
  const node = el("li", { className: running ? "entry running" : "entry" }, link,
    iconButton("edit", `Rename ${title}`, () => rename(node, id, title)),
    iconButton("delete", `Delete ${title}`, () => remove(id, title)));
  node.dataset.id = id;
  return node;
}

function rename(node, id, title) {
  renaming = id;
  shownKey = "";
  const field = el("input", { value: title, ariaLabel: "Title", maxLength: 200 });
  const end = async (keep) => {
    if (renaming !== id) return;
    renaming = null;
    await store.changeConversation(id, keep && field.value.trim() ? { title: field.value.trim() } : {});
  };
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.stopPropagation();
    if (!event.isComposing) end(event.key === "Enter");
  });
  field.addEventListener("blur", () => end(true));
  node.replaceChildren(field);
  field.select();
}

async function remove(id, title) {
  const wasShown = id === current();
  await store.changeConversation(id, { deleted: Date.now() });
  const shown = title.length > 30 ? `${title.slice(0, 29)}…` : title;
  offerUndo(`“${shown}” deleted.`, [id], wasShown ? id : null);
}

/// What is deleted stays in the store, marked, until its undo is no longer offered; then it is forgotten.
function offerUndo(text, ids, opened = null) {
  notice(text, { label: "Undo", async run() {
    await store.restore(ids);
    if (opened) location.hash = opened;
  } });
  setTimeout(() => store.purge(Date.now() - UNDO_MS), UNDO_MS + 1000);
}

// --- files

async function exportAll(only) {
  const conversations = await store.dump(only);
  const url = URL.createObjectURL(new Blob([exported(conversations)], { type: "application/json" }));
  const day = new Date().toISOString().slice(0, 10);
  el("a", { href: url, download: `tessera-${only ? "conversation" : "conversations"}-${day}.json` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

async function importFile(file) {
  try {
    const given = imported(await file.text());
    const added = await store.merge(given);
    const known = given.length - added;
    const also = known === 0 ? "" : `, ${known} ${known === 1 ? "was" : "were"} here already`;
    notice(`${conversationsOf(added)} imported${also}.`);
  } catch (error) {
    notice(`${file.name} was not imported: ${error.message}.`);
  }
}

/// `shown` says which conversation is on the page.
export function setUpList(shown, isRunning) {
  current = shown;
  let timer = 0;
  $("search").addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => showList(isRunning), SEARCH_AFTER_MS);
  });
  $("export").addEventListener("click", () => exportAll());
  $("export-one").addEventListener("click", () => exportAll(current()));
  $("import").addEventListener("click", () => $("import-file").click());
  $("import-file").addEventListener("change", async () => {
    for (const file of $("import-file").files) await importFile(file);
    $("import-file").value = "";
  });
  $("delete-all").addEventListener("click", async () => {
    const ids = await store.removeAll();
    offerUndo(`${conversationsOf(ids.length)} deleted.`, ids);
  });
  store.purge(Date.now() - UNDO_MS);
}
