// A conversation is a tree: editing a message or asking again begins a branch beside it. What is shown is the path from
// the first message to one leaf. `messages` is a Map by id throughout. Also what of a path becomes a request, and what
// is written to a file and read from one.

/// The messages with one parent, the oldest first: a Map from the parent's id, null for first messages.
export function branches(messages) {
  const children = new Map();
  for (const message of [...messages.values()].sort((a, b) => a.created - b.created)) {
    const parent = messages.has(message.parent) ? message.parent : null;
    if (!children.has(parent)) children.set(parent, []);
    children.get(parent).push(message);
  }
  return children;
}

/// From the first message to `leaf`.
export function pathTo(messages, leaf) {
  const path = [];
  for (let at = messages.get(leaf); at; at = messages.get(at.parent)) path.unshift(at);
  return path;
}

/// The end of the newest branch below `id`, which may be null for the whole conversation.
export function newestLeaf(messages, id) {
  const children = branches(messages);
  while (children.has(id)) id = children.get(id).at(-1).id;
  return id;
}

const FIRST_LINE_MAX = 60;
export function titleOf({ content, files }) {
  const line = (content.trim() || files?.[0]?.name || "Conversation").split("\n")[0];
  return line.length > FIRST_LINE_MAX ? `${line.slice(0, FIRST_LINE_MAX - 1)}…` : line;
}

/// A file as a fenced block, whose fence is longer than any within it.
function fenced({ name, text }) {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  const language = /\.(\w{1,12})$/.exec(name)?.[1] ?? "";
  return `${name}:\n${fence}${language}\n${text}${text.endsWith("\n") ? "" : "\n"}${fence}`;
}

const userText = ({ content, files = [] }) =>
  [...files.map(fenced), content].filter((text) => text !== "").join("\n\n");

/// The messages of a request. An answer that failed, or was stopped before it said anything, is left out; `continued`
/// is the answer that goes on.
export function requestMessages(system, path, continued) {
  const sent = system ? [{ role: "system", content: system }] : [];
  for (const message of path) {
    if (message.role === "user") {
      sent.push({ role: "user", content: userText(message) });
      continue;
    }
    if (message.content === "" && message.calls.length === 0 && message !== continued) continue;
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

// --- files

const FORMAT = "tessera.conversations";

export const exported = (conversations) =>
  JSON.stringify({ format: FORMAT, version: 1, exported: new Date().toISOString(), conversations }, null, 1);

/// What a file has, field by field, so that nothing else gets into the store. Throws what is wrong with it.
export function imported(text) {
  let file;
  try {
    file = JSON.parse(text);
  } catch (error) {
    throw new Error(`it is not JSON (${error.message})`);
  }
  if (file?.format !== FORMAT || file.version !== 1 || !Array.isArray(file.conversations)) {
    throw new Error(`it is no export of this page; expected "format": "${FORMAT}", "version": 1 and "conversations"`);
  }
  return file.conversations.map(readConversation);
}

function expect(value, type, path) {
  const found = Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
  if (found !== type) throw new Error(`${path} is ${found}; expected ${type}`);
  return value;
}

function readConversation(given, index) {
  const path = `conversations[${index}]`;
  const id = expect(expect(given, "object", path).id, "string", `${path}.id`);
  const messages = expect(given.messages, "array", `${path}.messages`).map((message, at) =>
    readMessage(message, id, `${path}.messages[${at}]`));
  const byId = new Map(messages.map((message) => [message.id, message]));
  for (const message of messages) {
    let steps = 0;
    for (let at = message; at; at = byId.get(at.parent)) {
      if ((steps += 1) > messages.length) throw new Error(`${path}: its messages answer each other in a circle`);
    }
  }
  return {
    id, messages,
    title: expect(given.title, "string", `${path}.title`),
    created: Number(given.created) || 0,
    updated: Number(given.updated) || 0,
    leaf: byId.has(given.leaf) ? given.leaf : newestLeaf(byId, null),
    deleted: 0,
  };
}

function readMessage(given, conversation, path) {
  expect(given, "object", path);
  const text = (value, name) => expect(value, "string", `${path}.${name}`);
  const list = (name) => expect(given[name] ?? [], "array", `${path}.${name}`);
  const message = {
    id: text(given.id, "id"), conversation, parent: given.parent ?? null, role: text(given.role, "role"),
    created: Number(given.created) || 0, content: text(given.content, "content"),
  };
  if (message.role === "user") {
    const file = (one) => ({ name: text(one?.name, "files.name"), text: text(one?.text, "files.text") });
    return { ...message, files: list("files").map(file) };
  }
  if (message.role !== "assistant") {
    throw new Error(`${path}.role is "${message.role}"; expected "user" or "assistant"`);
  }
  return { ...message, ...readAnswer(given, list("calls"), text) };
}

/// The fields of an answer alone.
function readAnswer(given, calls, text) {
  const number = (value) => (typeof value === "number" ? value : 0);
  const { usage, finish, error } = given;
  return {
    calls: calls.map((call) => ({
      id: text(call?.id, "calls.id"),
      name: text(call.name, "calls.name"),
      arguments: text(call.arguments, "calls.arguments"),
      ...(call.result === undefined ? {} : { result: text(call.result, "calls.result") }),
    })),
    reasoning: text(given.reasoning ?? "", "reasoning"),
    model: text(given.model ?? "", "model"),
    pieces: number(given.pieces), thought_ms: number(given.thought_ms), ttft_ms: number(given.ttft_ms),
    stream_ms: number(given.stream_ms),
    ...(usage && { usage: { prompt_tokens: number(usage.prompt_tokens),
      completion_tokens: number(usage.completion_tokens) } }),
    ...(finish !== undefined && { finish: text(finish, "finish") }),
    ...(error && { error: { text: text(error.text, "error.text"), details: text(error.details ?? "", "error.details"),
      status: number(error.status) } }),
  };
}
