#!/usr/bin/env bash
# Installs what is missing, builds, serves the bundled model on the CPU and has it answer one chat request:
# scripts/demo.sh [PROMPT]. PORT=N chooses the port, MODEL=DIRECTORY another model. In a terminal the server then stays
# until Ctrl-C; elsewhere it is stopped.
set -euo pipefail
cd "$(dirname "$0")/.."
prompt=${*:-Hello! Who are you?}
scripts/build.sh release tessera
tessera=build/release/bin/tessera
model=${MODEL:-models/demo}

# 8000 where it is free, else one that is.
port=${PORT:-$(python3 -c '
import socket
for port in (8000, 0):
    try:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            print(probe.getsockname()[1])
            break
    except OSError:
        pass')}
url=http://127.0.0.1:$port
"$tessera" serve "$model" --port "$port" --served-model-name demo &
server=$!
trap 'kill "$server" 2>/dev/null || true; wait "$server" || true' EXIT
until curl -fs -o /dev/null "$url/health"; do
  kill -0 "$server" 2>/dev/null || { echo "tessera: the server did not start; what it said is above" >&2; exit 1; }
  sleep 0.1
done

request=$(python3 -c '
import json, sys
print(json.dumps({"model": "demo", "messages": [{"role": "user", "content": sys.argv[1]}], "max_tokens": 256}))' "$prompt")
echo "tessera: curl $url/v1/chat/completions -H 'Content-Type: application/json' -d '${request//\'/\'\\\'\'}'"
curl -fsS "$url/v1/chat/completions" -H 'Content-Type: application/json' -d "$request" | python3 -c '
import json, sys
answer = json.load(sys.stdin)
print(answer["choices"][0]["message"]["content"] or "(no answer within 256 tokens)")
print("tessera:", answer["usage"]["prompt_tokens"], "tokens read,", answer["usage"]["completion_tokens"], "written")'

if [ -t 0 ] && [ -t 1 ]; then
  echo "tessera: the server runs at $url/ : open that page to chat, or give $url/v1 to any OpenAI client. Ctrl-C stops it."
  trap 'exit 0' INT TERM
  wait "$server"
else
  echo "tessera: the server answered at $url/ and is stopped now; in a terminal it would stay. To start it:"
  echo "  $tessera serve $model"
fi
