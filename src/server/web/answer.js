// One answer while it streams. A run is { answer, abort, asked, first, last, before }: the clocks of a request, which
// mean nothing after a reload, and what the answer had before it was continued.

import { streamChat } from "./api.js";
import { newId } from "./store.js";

export const newAnswer = (conversation, parent, model) => ({
  id: newId(), conversation, parent, role: "assistant", created: Date.now(), model,
  content: "", reasoning: "", calls: [], pieces: 0, thought_ms: 0, ttft_ms: 0, stream_ms: 0, run: newId(),
});

/// Begins another request for an answer, new or not.
export function newRun(answer) {
  const { pieces, stream_ms, thought_ms, usage } = answer;
  delete answer.finish;
  delete answer.error;
  const before = { pieces, stream_ms, thought_ms, usage };
  return { answer, abort: new AbortController(), asked: performance.now(), before };
}

/// Streams into run.answer; `onPiece` is called for each piece. Never throws: what goes wrong is the answer's.
export async function follow(run, body, onPiece) {
  const { answer, abort } = run;
  try {
    for await (const chunk of streamChat(body, abort.signal)) {
      take(run, chunk);
      onPiece();
    }
  } catch (error) {
    if (abort.signal.aborted) answer.finish = "stopped";
    else answer.error = { text: error.message, details: error.details ?? "", status: error.status ?? 0 };
  }
}

/// Adds one chunk of the stream to the answer.
function take(run, chunk) {
  const { answer, before } = run;
  if (chunk.usage) answer.usage = allUsage(chunk.usage, before);
  const choice = chunk.choices?.[0];
  if (!choice) return;
  if (choice.finish_reason) answer.finish = choice.finish_reason;
  const { content, reasoning_content: reasoning, tool_calls: calls } = choice.delta ?? {};
  if (!content && !reasoning && !calls) return;
  run.last = performance.now();
  run.first ??= run.last;
  answer.pieces += 1;
  answer.ttft_ms ||= run.first - run.asked;
  answer.stream_ms = before.stream_ms + run.last - run.first;
  if (reasoning) {
    answer.reasoning += reasoning;
    answer.thought_ms = before.thought_ms + run.last - run.first;
  }
  if (content) answer.content += content;
  for (const { index, id, function: part } of calls ?? []) {
    const call = (answer.calls[index] ??= { id: "", name: "", arguments: "" });
    call.id ||= id ?? "";
    call.name += part?.name ?? "";
    call.arguments += part?.arguments ?? "";
  }
}

/// Of a continued answer the server has counted as prompt what is the answer's.
function allUsage(usage, before) {
  if (before.pieces === 0) return usage;
  const earlier = before.usage?.completion_tokens ?? before.pieces;
  return { ...usage, prompt_tokens: before.usage?.prompt_tokens ?? usage.prompt_tokens - earlier,
    completion_tokens: earlier + usage.completion_tokens };
}

/// Whether the answer has nothing yet that a reader or the model could miss.
export const isEmpty = ({ content, reasoning, calls }) => content === "" && reasoning === "" && calls.length === 0;

/// Whether the answer broke off where a request can go on with it.
export const canContinue = ({ content, reasoning, calls, finish }) =>
  (content !== "" || reasoning !== "") && calls.length === 0 && finish !== "stop";
