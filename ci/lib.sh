# Shared by the scripts beside it; sourced, not run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Everything built goes to one place that survives a fresh clone, so that a warm
# machine is fast.
export WINDLASS_CACHE="${WINDLASS_CACHE:-$HOME/.cache/windlass}"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$WINDLASS_CACHE/target}"
mkdir -p "$WINDLASS_CACHE"

started=$SECONDS
step() {
  printf '\n== %s (%d s)\n' "$*" "$((SECONDS - started))"
}

# need COMMAND PACKAGE…: installs Debian packages unless the command is there.
need() {
  local command=$1
  shift
  if command -v "$command" >/dev/null 2>&1; then
    return
  fi
  local root=()
  if [ "$(id -u)" -ne 0 ]; then
    root=(sudo)
  fi
  printf 'installing %s\n' "$*"
  "${root[@]}" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive "${root[@]}" apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}
