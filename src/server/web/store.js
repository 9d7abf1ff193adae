// Conversations and their messages, in this browser's IndexedDB: a record each, so that tabs write beside each other
// and not over each other. Whatever depends on what is kept is read and written in one transaction. Other tabs are told
// by a BroadcastChannel.
//
// A conversation is { id, title, created, updated, leaf, deleted }: `leaf` is the last message of the branch that is
// shown, `deleted` when it was deleted, for as long as that can be undone. A message is { id, conversation, parent,
// role, created, content } and, by role: the files of the user's; of an answer { model, reasoning, calls, thought_ms,
// ttft_ms, stream_ms, pieces, usage, finish, error, run }. A call is { id, name, arguments, result }: the result that
// the user typed stands with its call and becomes a message of role "tool" only in the request. `run` names the request
// that wrote an answer last.

const channel = new BroadcastChannel("tessera");
const listeners = [];
let opened = null;

/// Not crypto.randomUUID: browsers have it over https and on localhost alone.
export const newId = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

/// `listener` is called with { conversation, elsewhere } when something is kept; null stands for any conversation.
export function onChange(listener) {
  listeners.push(listener);
}

function announce(conversation) {
  channel.postMessage(conversation);
  for (const listener of listeners) listener({ conversation, elsewhere: false });
}
channel.onmessage = ({ data }) => listeners.forEach((listener) => listener({ conversation: data, elsewhere: true }));

function open() {
  return (opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open("tessera", 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore("conversations", { keyPath: "id" });
      request.result.createObjectStore("messages", { keyPath: "id" }).createIndex("conversation", "conversation");
    };
    request.onsuccess = () => {
      request.result.onversionchange = () => request.result.close(); // a later page wants to change it
      resolve(request.result);
    };
    request.onerror = () => reject(request.error);
  }));
}

const got = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

/// What `work` returns, once all that it wrote is kept. It may wait for its own requests and for nothing else.
async function transact(mode, work) {
  const database = await open();
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(["conversations", "messages"], mode);
    let result;
    let failure = null;
    transaction.oncomplete = () => resolve(result);
    transaction.onabort = () => reject(failure ?? transaction.error);
    work({ conversations: transaction.objectStore("conversations"), messages: transaction.objectStore("messages") })
      .then((value) => (result = value), (error) => {
        failure = error;
        transaction.abort();
      });
  });
}

async function write(conversation, work) {
  const result = await transact("readwrite", work);
  announce(conversation);
  return result;
}

const messagesOf = (messages, id) => got(messages.index("conversation").getAll(id));

/// All that are not deleted, the newest first.
export const conversations = () => transact("readonly", async (stores) =>
  (await got(stores.conversations.getAll())).filter(({ deleted }) => !deleted).sort((a, b) => b.updated - a.updated));

/// { conversation, messages }, or null if there is none, or none any more.
export const conversation = (id) => transact("readonly", async (stores) => {
  const found = await got(stores.conversations.get(id));
  return found && !found.deleted ? { conversation: found, messages: await messagesOf(stores.messages, id) } : null;
});

/// Changes some fields of a conversation and leaves the others as they are kept.
export const changeConversation = (id, fields) => write(id, async (stores) => {
  const kept = await got(stores.conversations.get(id));
  if (kept) stores.conversations.put({ ...kept, ...fields });
});

/// Adds a message at the end of what is shown of a conversation, which this makes if it is new.
export const addMessage = (home, message) => write(home.id, async (stores) => {
  const kept = await got(stores.conversations.get(home.id));
  stores.messages.put(message);
  stores.conversations.put({ ...(kept ?? home), leaf: message.id, updated: message.created });
});

/// Changes one message: `edit` gets it as it is kept.
export const changeMessage = (message, edit) => write(message.conversation, async (stores) => {
  const kept = await got(stores.messages.get(message.id));
  if (kept) stores.messages.put(edit(kept));
});

/// Keeps an answer as far as it has come. Where another tab has gone on with it since (`run` is another), this one
/// becomes a branch beside it, under another id, and the result is true.
export const saveAnswer = (answer) => write(answer.conversation, async (stores) => {
  const kept = await got(stores.messages.get(answer.id));
  if (!(await got(stores.conversations.get(answer.conversation)))) return false; // deleted for good meanwhile
  const moved = kept !== undefined && kept.run !== answer.run;
  if (moved) answer.id = newId();
  stores.messages.put(answer);
  return moved;
});

/// Which of the conversations contain `text`, in any letter case: a Map from id to the text around it.
export const search = (text) => transact("readonly", async (stores) => {
  const wanted = text.toLowerCase();
  const found = new Map();
  for (const { conversation: id, content, reasoning, files } of await got(stores.messages.getAll())) {
    for (const part of [content, reasoning, ...(files ?? []).map((file) => `${file.name}\n${file.text}`)]) {
      const at = found.has(id) ? -1 : (part ?? "").toLowerCase().indexOf(wanted);
      if (at >= 0) found.set(id, part.slice(Math.max(0, at - 20), at + 80));
    }
  }
  return found;
});

/// Marks all as deleted; the result is their ids, for restore().
export const removeAll = () => write(null, async (stores) => {
  const all = (await got(stores.conversations.getAll())).filter(({ deleted }) => !deleted);
  for (const kept of all) stores.conversations.put({ ...kept, deleted: Date.now() });
  return all.map(({ id }) => id);
});

export const restore = (ids) => write(null, async (stores) => {
  for (const id of ids) {
    const kept = await got(stores.conversations.get(id));
    if (kept) stores.conversations.put({ ...kept, deleted: 0 });
  }
});

/// Forgets for good what was deleted before `time`.
export const purge = (time) => transact("readwrite", async (stores) => {
  for (const { id, deleted } of await got(stores.conversations.getAll())) {
    if (!deleted || deleted >= time) continue;
    stores.conversations.delete(id);
    for (const key of await got(stores.messages.index("conversation").getAllKeys(id))) stores.messages.delete(key);
  }
});

/// Every conversation with its messages, or the one that is asked for.
export const dump = (only) => transact("readonly", async (stores) => {
  const all = await got(stores.conversations.getAll());
  const wanted = all.filter(({ id, deleted }) => !deleted && (!only || id === only));
  return Promise.all(wanted.map(async (kept) => ({ ...kept, messages: await messagesOf(stores.messages, kept.id) })));
});

/// Adds what is not there yet, and overwrites nothing. Returns how many conversations were new.
export const merge = (given) => write(null, async (stores) => {
  let added = 0;
  for (const { messages, ...home } of given) {
    const kept = await got(stores.conversations.get(home.id));
    if (!kept || kept.deleted) {
      stores.conversations.put(home);
      added += 1;
    }
    for (const message of messages) {
      if (!(await got(stores.messages.get(message.id)))) stores.messages.put(message);
    }
  }
  return added;
});
