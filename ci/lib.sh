# Shared by the scripts beside it; sourced, not run.
set -euo pipefail
called_from=$PWD
called=$(realpath "${BASH_SOURCE[1]}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
WINDLASS_ROOT=$PWD

# Everything built goes to one place that survives a fresh clone, so that a warm
# machine is fast.
export WINDLASS_CACHE="${WINDLASS_CACHE:-$HOME/.cache/windlass}"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$WINDLASS_CACHE/target}"
mkdir -p "$WINDLASS_CACHE"

# Cargo takes a file for changed if it is newer than what was built of it, which all files of a
# fresh clone are, and an older file of another checkout never is. So everything is built in one
# copy that survives too, to which only what differs is written. WINDLASS_IN_PLACE=1 builds
# where the script is, as everything does that a script calls.
copy="$WINDLASS_CACHE/checkout"

# Makes the copy equal to this checkout: what is committed, and what is not and not ignored.
# An index of its own says what is in it.
update_copy() {
  local index objects tree
  index=$(mktemp)
  cp "$(git rev-parse --git-path index)" "$index" &&
    GIT_INDEX_FILE="$index" git add --all &&
    tree=$(GIT_INDEX_FILE="$index" git write-tree) &&
    objects=$(realpath "$(git rev-parse --git-path objects)") &&
    git init --quiet "$copy" &&
    GIT_ALTERNATE_OBJECT_DIRECTORIES="$objects" git -C "$copy" read-tree --reset -u "$tree" &&
    git -C "$copy" clean --force -d --quiet
  local made=$?
  rm -f "$index"
  return "$made"
}

if [ -z "${WINDLASS_IN_PLACE:-}" ] && [ -e .git ] && command -v git >/dev/null && command -v flock >/dev/null; then
  if [ -z "${WINDLASS_LOCKED:-}" ]; then
    flock --nonblock "$copy.lock" true || printf 'waiting for a run that builds in %s\n' "$copy"
    cd "$called_from"
    # What the run leaves behind, if it is killed, does not hold the lock.
    WINDLASS_LOCKED=1 exec flock --close "$copy.lock" "$called" "$@"
  fi
  export WINDLASS_IN_PLACE=1
  export WINDLASS_TRACES="${WINDLASS_TRACES:-$(realpath -m ../shared/traces)}"
  if update_copy; then
    root=$(pwd -P)
    cd "$called_from"
    exec "$copy/${called#"$root/"}" "$@"
  fi
  printf 'no copy can be made in %s; building in %s\n' "$copy" "$PWD" >&2
fi

started=$SECONDS
# The step that runs: its name, when it began, and the CPU seconds spent until then.
step_name=
step_began=$SECONDS
step_cpu=0
steps=
# Sets `cpu` to the CPU seconds of all commands that have ended, user and system. Meaningless in a subshell,
# which has spent none.
cpu=0
cpu_seconds() {
  local file
  file=$(mktemp)
  times >"$file"
  cpu=$(awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, part, "[ms]"); sum += 60 * part[1] + part[2] } printf "%d", sum }' "$file")
  rm -f "$file"
}
# Ends the step that runs and begins another.
step() {
  end_step
  step_name=$*
  step_began=$SECONDS
  cpu_seconds
  step_cpu=$cpu
  printf '\n== %s (%d s)\n' "$*" "$((SECONDS - started))"
}
end_step() {
  if [ -n "$step_name" ]; then
    cpu_seconds
    steps+=$(printf '%5d s %5d s of CPU  %s' "$((SECONDS - step_began))" "$((cpu - step_cpu))" "$step_name")$'\n'
  fi
  step_name=
}
# The ten steps that took longest, those of lanes among them.
slowest_steps() {
  end_step
  printf '\n'
  printf '%s' "$steps" | sort -rn | head -n 10
}

# lane FUNCTION: runs the steps of a function beside the steps that follow, for which a wait for sockets, a browser or a
# single thread leaves time. Sets `lane` to what join_lane wants. What is not joined when the script ends is ended.
lanes=()
lane() {
  local directory
  directory=$(mktemp -d)
  # A group of processes of its own, which can be ended whole.
  set -m
  (
    set +m
    trap - EXIT
    # shellcheck disable=SC2030 # of the lane only
    lanes=() steps='' step_name=''
    "$1"
    end_step
    printf '%s' "$steps" >"$directory/steps"
  ) >"$directory/log" 2>&1 </dev/null &
  set +m
  lane="$! $directory"
  # shellcheck disable=SC2031
  lanes+=("$lane")
  trap end_lanes EXIT
}
end_lanes() {
  local lane
  for lane in "${lanes[@]}"; do
    kill -- "-${lane%% *}" 2>/dev/null || true
    rm -rf "${lane#* }"
  done
}
# join_lane LANE: waits for a lane, prints what it printed, and fails if it failed. A lane that has not ended 80 minutes after the script began
# is ended, before what runs the script ends it and nobody learns which step waited.
join_lane() {
  local directory=${1#* } status=0 began=$SECONDS lane others=()
  end_step
  while kill -0 "${1%% *}" 2>/dev/null; do
    if [ "$((SECONDS - started))" -ge "${WINDLASS_LANE_SECONDS:-4800}" ]; then
      cat "$directory/log"
      printf '\n%s: after %d s these still run:\n' "${called#"$WINDLASS_ROOT/"}" "$((SECONDS - started))"
      ps -e -o pid,ppid,etimes,args
      return 124
    fi
    sleep 0.2
  done
  wait "${1%% *}" || status=$?
  printf '\n== beside these steps (%d s, %d of them waited)\n' "$((SECONDS - started))" "$((SECONDS - began))"
  cat "$directory/log"
  if [ "$status" -ne 0 ]; then
    return "$status"
  fi
  if [ -s "$directory/steps" ]; then
    # shellcheck disable=SC2031
    steps+=$(cat "$directory/steps")$'\n'
  fi
  rm -r "$directory"
  for lane in "${lanes[@]}"; do
    [ "$lane" = "$1" ] || others+=("$lane")
  done
  lanes=("${others[@]}")
}

# The command, built unless WINDLASS_COMMAND names it.
windlass() {
  if [ -n "${WINDLASS_COMMAND:-}" ]; then
    "$WINDLASS_COMMAND" "$@"
  else
    cargo run --release --locked --quiet -- "$@"
  fi
}

# need COMMAND PACKAGE…: installs Debian packages unless the command or the file is there.
need() {
  local command=$1
  shift
  if command -v "$command" >/dev/null 2>&1 || [ -f "$command" ]; then
    return
  fi
  local root=()
  if [ "$(id -u)" -ne 0 ]; then
    root=(sudo)
  fi
  printf 'installing %s\n' "$*"
  if ! command -v apt-get >/dev/null || ! "${root[@]}" apt-get update -qq ||
    ! DEBIAN_FRONTEND=noninteractive "${root[@]}" apt-get install -y -qq --no-install-recommends "$@" >/dev/null; then
    printf '%s: %s is not there, and apt-get does not install it: install what Debian has as %s, and run this again\n' \
      "${called#"$WINDLASS_ROOT/"}" "$command" "$*" >&2
    return 1
  fi
}

# need_rust TARGET: Rust's library for another target.
need_rust() {
  if ! rustup target list --installed | grep -qx "$1"; then
    rustup target add "$1"
  fi
}

# need_target TARGET: the compilers of Rust and of C for another target, and what runs its programs.
need_target() {
  local target=$1 name=${1//-/_} processor=${1%%-*} triple package
  need_rust "$target"
  export "CARGO_TARGET_${name^^}_RUNNER=$WINDLASS_ROOT/ci/runner $target"
  case $target in
  wasm32-wasip1) need node nodejs ;;
  *-linux-musl) need musl-gcc musl-tools ;;
  *-pc-windows-gnu)
    need x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64-posix
    need_wine
    ;;
  "$(uname -m)"-unknown-linux-gnu) ;;
  *-linux-gnu*)
    triple=${target/-unknown/}
    triple=${triple/armv7/arm}
    package=${processor/aarch64/arm64}
    need "$triple-gcc" "gcc-$triple" "libc6-dev-${package/armv7/armhf}-cross"
    need "qemu-${processor/armv7/arm}-static" qemu-user-static
    export "CC_$name=$triple-gcc" "CARGO_TARGET_${name^^}_LINKER=$triple-gcc"
    ;;
  *-apple-darwin | *-windows-msvc)
    need_zig "$target"
    # Of a macOS that is not there.
    export "CC_$name=$WINDLASS_CACHE/zig/$target" "CARGO_TARGET_${name^^}_LINKER=$WINDLASS_CACHE/zig/$target" \
      "AR_$name=$WINDLASS_CACHE/zig/llvm-ar" SDKROOT=/
    ;;
  esac
}

# need_zig TARGET: Zig's C compiler, as Python's package index has it, called by the name of the target.
need_zig() {
  local home="$WINDLASS_CACHE/zig"
  export PYTHONPATH="$home" ZIG_GLOBAL_CACHE_DIR="$home/cache"
  if ! python3 -m ziglang version >/dev/null 2>&1; then
    need pip3 python3-pip
    pip3 install --quiet --target "$home" ziglang==0.17.1
  fi
  printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$WINDLASS_ROOT/ci/zig" "$1" >"$home/$1"
  # By this name build scripts know how to call it.
  printf '#!/bin/sh\nexec python3 -m ziglang ar "$@"\n' >"$home/llvm-ar"
  chmod +x "$home/$1" "$home/llvm-ar"
}

# Wine with a home of its own. Where it lacks the library that Rust's programs ask for random numbers, ci/wine.c stands in.
need_wine() {
  local home="$WINDLASS_CACHE/wine" library=drive_c/windows/system32/bcryptprimitives.dll
  need wine wine wine64
  if [ -e "$home/made" ]; then
    return
  fi
  rm -rf "$home"
  # Neither .NET nor a browser.
  WINEPREFIX="$home" WINEDEBUG=-all WINEDLLOVERRIDES="mscoree=;mshtml=" wine wineboot --init
  WINEPREFIX="$home" wineserver --wait
  if [ ! -e "$home/$library" ]; then
    x86_64-w64-mingw32-gcc -shared -O2 -o "$home/$library" "$WINDLASS_ROOT/ci/wine.c" -ladvapi32
  fi
  touch "$home/made"
}

# with_rust VERSION COMMAND…: Cargo's command with this compiler, which is installed if it is not there.
# What it builds lies apart from what other compilers build.
with_rust() {
  local version=$1 own
  shift
  own=$(sed -n 's/^channel = "\(.*\)"/\1/p' "$WINDLASS_ROOT/rust-toolchain.toml")
  if [[ "$own" == "$version" || "$own" == "$version".* ]]; then
    cargo "+$own" "$@"
    return
  fi
  # An installation that was interrupted is listed, too.
  if ! rustup run "$version" rustc --version >/dev/null 2>&1; then
    rustup toolchain install "$version" --profile minimal
  fi
  CARGO_TARGET_DIR="$CARGO_TARGET_DIR/rust-$version" cargo "+$version" "$@"
}

# tested COMMAND…: runs tests, and fails if none passed: a name that filters everything out, or a
# target that is gone, is no success.
tested() {
  local log passed status=0
  log=$(mktemp)
  "$@" | tee "$log" || status=$?
  passed=$(sed 's/\x1b\[[0-9;]*m//g' "$log" | sed -n 's/^test result: .* \([0-9][0-9]*\) passed;.*/\1/p' | awk '{ n += $1 } END { print n + 0 }')
  rm -f "$log"
  if [ "$status" -ne 0 ]; then
    return "$status"
  fi
  if [ "$passed" -eq 0 ]; then
    printf 'no test ran: %s\n' "$*" >&2
    return 1
  fi
  printf '%d tests passed\n' "$passed"
}

# listed COMMAND…: what a command prints, and fails if it fails or prints nothing: a loop over
# nothing checks nothing.
listed() {
  local lines
  lines=$("$@") || {
    printf 'failed: %s\n' "$*" >&2
    return 1
  }
  if [ -z "$lines" ]; then
    printf 'printed nothing: %s\n' "$*" >&2
    return 1
  fi
  printf '%s\n' "$lines"
}

# searched GREP…: what a search finds, maybe nothing, and fails if it cannot search: a folder
# that is gone has no bad lines.
searched() {
  local status=0
  "$@" || status=$?
  if [ "$status" -gt 1 ]; then
    printf 'cannot search: %s\n' "$*" >&2
    return "$status"
  fi
}

# tried: puts rows of standard input into the table of docs/tried.md, and minutes and CPU of all its rows into the README.
tried() {
  local block="$WINDLASS_ROOT/ci/block.py" page="$WINDLASS_ROOT/docs/tried.md"
  python3 "$block" --merge "$page" tried &&
    python3 "$block" --show "$page" tried | awk -F ' *[|] *' '/^\| `/ {
      uses = uses (uses ? ", " : "") $2 " " $4 " (" $5 ")"
    } END { print "Each of these was [tried as a stranger has it](docs/tried.md), with nothing built; minutes, and CPU: " uses "." }' |
    fold --spaces --width 160 | sed 's/ *$//' | python3 "$block" "$WINDLASS_ROOT/README.md" tried
}

# The stacks: those whose adapters are crates of this workspace, with a server and a client each among their examples, and those
# with a workspace of their own, whose part of CI has their name.
# shellcheck disable=SC2034
workspace_stacks=(quinn noq s2n-quic) own_stacks=(quiche msquic)
# among WORD WORD…: whether the first is one of the others.
among() {
  [[ " ${*:2} " == *" $1 "* ]]
}

# Arguments of Cargo: the adapters and the harness, one selection for whatever long runs need of them, so that it is
# built once.
# shellcheck disable=SC2034
built_once=(--release --locked --quiet "${workspace_stacks[@]/#/-pwindlass-}" -p windlass-stacks -p windlass
  --features windlass/s2n-quic)

# beside_busy NAME COMMAND test ARGUMENT…: runs tests thirty times (WINDLASS_BUSY_RUNS) beside four busy
# loops and adds a row to the file named by WINDLASS_BUSY. Output of runs that failed is shown.
beside_busy() {
  local name=$1 runs="${WINDLASS_BUSY_RUNS:-30}" failed=0 loops=() log run
  shift
  step "$name, $runs times beside four busy loops"
  # What is built is not measured.
  "$1" "$2" --no-run "${@:3}"
  log=$(mktemp)
  for run in 1 2 3 4; do
    (while :; do :; done) &
    loops+=($!)
  done
  # shellcheck disable=SC2064
  trap "kill ${loops[*]} 2>/dev/null || true" EXIT
  for ((run = 1; run <= runs; run++)); do
    if ! tested "$@" >"$log" 2>&1; then
      failed=$((failed + 1))
      cat "$log"
    fi
  done
  kill "${loops[@]}"
  wait "${loops[@]}" 2>/dev/null || true
  trap - EXIT
  rm -f "$log"
  printf '| %s | %d | %d |\n' "$name" "$runs" "$failed" >>"$WINDLASS_BUSY"
}
