#!/usr/bin/env bash
# Fuzzes every parser of outside bytes, one after the other: scripts/fuzz.sh [SECONDS_EACH [TARGET ...]]
# Corpora start from files that the release build writes, and stay in build/fuzz/corpus; a finding is left in
# build/fuzz/findings and ends the run.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-600}
shift || true
targets=(${@:-safetensors_fuzz quantization_fuzz tuning_fuzz config_fuzz tokenizer_fuzz reasoning_fuzz tool_call_fuzz
  guide_fuzz kv_file_fuzz chat_request_fuzz messages_request_fuzz responses_request_fuzz http_fuzz})
tessera=build/release/bin/tessera
[ -x "$tessera" ] || scripts/build.sh release tessera
corpus=build/fuzz/corpus
seeds=$(mktemp -d)
trap 'rm -rf "$seeds"' EXIT

# with_byte BYTE FILE ...: the files, a 0 byte between them, behind the byte by which a target picks its parser.
with_byte() {
  printf "%b" "$1"
  cat "$2"
  for file in "${@:3}"; do printf '\0'; cat "$file"; done
}

small=(--layers 1 --hidden-size 16 --num-experts 2 --num-experts-per-tok 1 --moe-intermediate-size 16
  --shared-expert-intermediate-size 16 --vocab-size 4 --head-dim 8 --num-attention-heads 1 --num-key-value-heads 1
  --linear-num-key-heads 1 --linear-num-value-heads 1 --linear-key-head-dim 1 --linear-value-head-dim 1
  --mtp-layers 0 --no-tokenizer --quiet)
"$tessera" synth "$seeds/modelopt" "${small[@]}" --fp8-kv >/dev/null
"$tessera" synth "$seeds/compressed" "${small[@]}" --dialect compressed-tensors --attention fp8 >/dev/null
"$tessera" synth "$seeds/dense" --dense --flat --format bf16 >/dev/null
"$tessera" synth "$seeds/shards" --shard-size 1 --quiet >/dev/null
mkdir -p "$corpus"/{safetensors,quantization,tuning,config,tokenizer,reasoning,tool_call,guide,kv_file,chat_request,messages_request,responses_request,http}_fuzz build/fuzz/findings
for model in modelopt compressed dense shards; do
  cp "$seeds/$model/config.json" "$corpus/config_fuzz/$model"
  with_byte '\001' "$seeds/$model/config.json" >"$corpus/quantization_fuzz/$model"
done
cp "$seeds/modelopt/model.safetensors" "$corpus/safetensors_fuzz/modelopt"
cp "$seeds/compressed/model.safetensors" "$corpus/safetensors_fuzz/compressed"
with_byte '\001' "$seeds/modelopt/config.json" "$seeds/modelopt/hf_quant_config.json" >"$corpus/quantization_fuzz/two"
with_byte '\000' "$seeds/shards/model.safetensors.index.json" >"$corpus/quantization_fuzz/index"
with_byte '\013' "$seeds/shards/tokenizer.json" >"$corpus/tokenizer_fuzz/whole"
with_byte '\011' README.md >"$corpus/tokenizer_fuzz/text"
with_byte '\012' README.md >"$corpus/tokenizer_fuzz/ids"
# A byte of options, the number of cuts, the cuts, then what a model writes.
printf '\001\002\003\004hm </think>\n\nYes' >"$corpus/reasoning_fuzz/thinks"
printf '\000\001\003Answer </think> x' >"$corpus/reasoning_fuzz/quotes"
printf '\000\002\003\050%s' $'<tool_call>\n<function=f>\n<parameter=s>\na\n</parameter>\n<parameter=j>\n{"a": [1]}\n</parameter>
</function>\n</tool_call>' >"$corpus/tool_call_fuzz/call"
printf '\000\000%s' $'x\n<function=f><parameter=i>7</parameter><parameter=n>\nNone\n</parameter></function>\n<function=g>' \
  >"$corpus/tool_call_fuzz/bare"
cat >"$corpus/chat_request_fuzz/chat" <<'END'
{"messages": [{"role": "system", "content": "x"}, {"role": "user", "content": [{"type": "text", "text": "a"}]},
  {"role": "assistant", "reasoning": "r", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{\"a\": 1}"}}]},
  {"role": "tool", "content": "t", "tool_call_id": "1"}],
 "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object",
   "properties": {"a": {"anyOf": [{"type": "integer"}, {"$ref": "#/$defs/x"}]}}}}}], "tool_choice": "required",
 "logit_bias": {"1": 2}, "stop": ["a"], "chat_template_kwargs": {"enable_thinking": false}, "stream": true,
 "stream_options": {"include_usage": true}, "seed": -5, "thinking": {"type": "enabled", "budget_tokens": 5}}
END
cat >"$corpus/chat_request_fuzz/custom" <<'END'
{"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "tool_calls": [{"id": "1", "type": "custom",
  "custom": {"name": "c", "input": "a"}}]}, {"role": "tool", "content": "t", "tool_call_id": "1"}],
 "tools": [{"type": "custom", "custom": {"name": "c", "format": {"type": "grammar",
   "grammar": {"syntax": "lark", "definition": "start: \"a\""}}}}],
 "tool_choice": {"type": "allowed_tools", "allowed_tools": {"tools": [{"type": "custom", "custom": {"name": "c"}}]}}}
END
printf '{"prompt":[[1,2],[3]],"echo":true,"logprobs":2,"max_tokens":0,"tokens":[1]}' >"$corpus/chat_request_fuzz/ids"
printf '{"prompt":["a","b"],"n":2,"reasoning":{"effort":"low"}}' >"$corpus/chat_request_fuzz/texts"
cp tests/server/requests/claude_code.json "$corpus/messages_request_fuzz/claude_code"
for turn in 'first turn' 'later turn' 'tools among the items'; do
  python3 -c 'import json, sys; json.dump(json.load(open(sys.argv[1]))[sys.argv[2]], sys.stdout)' \
    tests/server/requests/codex.json "$turn" >"$corpus/responses_request_fuzz/${turn// /_}"
done
printf '{"input":[{"type":"item_reference","id":"msg_1"}],"previous_response_id":"resp_1","stream":true}' \
  >"$corpus/responses_request_fuzz/goes_on"
cat >"$corpus/responses_request_fuzz/client_tools" <<'END'
{"input": [{"role": "user", "content": "x"}, {"type": "shell_call", "call_id": "1", "action": {"commands": ["ls"]}},
  {"type": "shell_call_output", "call_id": "1", "output": [{"stdout": "a", "stderr": "b", "outcome": {"type": "exit", "exit_code": 1}}]},
  {"type": "apply_patch_call", "call_id": "2", "operation": {"type": "delete_file", "path": "a"}},
  {"type": "apply_patch_call_output", "call_id": "2", "status": "failed", "output": "c"},
  {"type": "compaction", "encrypted_content": "tessera-context:1,1,2:abcd"}, {"type": "compaction_trigger"}],
 "tools": [{"type": "shell", "environment": {"type": "local", "skills": [{"name": "s"}]}}, {"type": "apply_patch"}],
 "context_management": [{"type": "compaction", "compact_threshold": 9}]}
END
# A byte that cuts, then what a client sends.
printf '\005%s' $'POST /a?b HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.0\r\n\r\n' >"$corpus/http_fuzz/two"
printf '\001%s' $'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nab\r\n0\r\nT: x\r\n\r\n' \
  >"$corpus/http_fuzz/chunks"

for target in "${targets[@]}"; do
  echo "== $target, $seconds s"
  dictionary=json
  case $target in
    reasoning_fuzz | tool_call_fuzz | chat_request_fuzz) dictionary=openai ;;
    messages_request_fuzz) dictionary=anthropic ;;
    responses_request_fuzz) dictionary=responses ;;
    http_fuzz) dictionary=http ;;
  esac
  build/fuzz/tests/fuzz/"$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 \
    -verbosity=1 -dict=tests/fuzz/$dictionary.dict -artifact_prefix=build/fuzz/findings/ "$corpus/$target"
done
