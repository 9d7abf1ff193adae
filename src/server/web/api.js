// Talks to the server that this page came from: requests, server-sent events, metrics. Knows nothing of the page.
// Paths are relative, so that the page also works below a path of a reverse proxy.

// The key lives as long as the tab: a browser profile is no place to keep one.
let key = sessionStorage.getItem("tessera.key") ?? "";

export const hasKey = () => key !== "";

export function setKey(value) {
  key = value;
  sessionStorage.setItem("tessera.key", value);
}

/// What went wrong, in the server's own words. `status` is 0 when there was no answer.
export class ServerError extends Error {
  constructor(status, { message, type, param, code }) {
    super(message);
    this.status = status;
    this.details = [type, param && `field ${param}`, code].filter(Boolean).join(" · ");
  }
}

async function request(path, options = {}) {
  const headers = { ...options.headers };
  const used = key;
  if (used) headers.Authorization = `Bearer ${used}`;
  let response;
  try {
    response = await fetch(path, { ...options, headers, cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ServerError(0, { message: "The server does not answer. Is it still running?" });
  }
  if (response.ok) return response;
  if (response.status === 401 && used !== key) return request(path, options); // the user gave another key meanwhile
  const text = await response.text();
  let error = null;
  try {
    error = JSON.parse(text).error;
  } catch {
    // Not JSON: a proxy spoke, not the server.
  }
  throw new ServerError(response.status, error ?? { message: text.slice(0, 500) || `HTTP status ${response.status}` });
}

/// [{ id, max_model_len }, ...]
export async function models() {
  return (await (await request("v1/models")).json()).data;
}

const post = (path, body, signal) => request(path, {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(body),
  signal,
});

/// { count, max_model_len } of a conversation as the model gets it.
export const countTokens = async (body, signal) => (await post("tokenize", body, signal)).json();

/// The chunks of a streamed chat completion, parsed.
export async function* streamChat(body, signal) {
  const response = await post("v1/chat/completions", body, signal);
  for await (const data of events(response.body.getReader())) {
    if (data === "[DONE]") return;
    const chunk = JSON.parse(data);
    if (chunk.error) throw new ServerError(response.status, chunk.error);
    yield chunk;
  }
  throw new ServerError(0, { message: "The connection ended before the answer did." });
}

/// The data of each server-sent event. Fields other than data, and comments (keep-alive), mean nothing here.
async function* events(reader) {
  const decoder = new TextDecoder();
  let held = "";
  let data = [];
  for (;;) {
    let piece;
    try {
      piece = await reader.read();
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new ServerError(0, { message: "The connection broke in the middle of the answer." });
    }
    if (piece.done) return;
    const lines = (held + decoder.decode(piece.value, { stream: true })).split(/\r?\n/);
    held = lines.pop();
    for (const line of lines) {
      if (line.startsWith("data:")) {
        data.push(line.slice(5).trimStart());
      } else if (line === "" && data.length > 0) {
        yield data.join("\n");
        data = [];
      }
    }
  }
}

/// { ready, metrics }: metrics maps a name to its value, summed over labels; null if they may not be read.
export async function engineState() {
  const health = await fetch("health", { cache: "no-store" });
  let metrics = null;
  try {
    metrics = parseMetrics(await (await request("metrics")).text());
  } catch {
    // No key yet, or no metrics: the line shows less.
  }
  return { ready: health.ok, metrics };
}

function parseMetrics(text) {
  const sums = new Map();
  for (const line of text.split("\n")) {
    const parts = /^([\w:]+)(?:\{.*\})? (\S+)/.exec(line);
    if (parts) sums.set(parts[1], (sums.get(parts[1]) ?? 0) + Number(parts[2]));
  }
  return sums;
}
