#!/bin/bash
# Runs the cells of a sweep as a job array of Slurm: bash SCRIPT on a login node submits what is missing, and a job that waits for
# the array submits again what is missing then, or collects. `windlass sweep slurm` wrote it.
set -euo pipefail

windlass=@WINDLASS@
place=(@PLACE@)
out=@OUT@
script=@SCRIPT@
shards=@SHARDS@
rounds=@ROUNDS@
# For every task of the array.
options=(@OPTIONS@)

# submit ROUND: an array of the shares that have cells that are missing, and the job that looks after it.
submit() {
  local missing array
  missing=$("$windlass" sweep status "${place[@]}" --shards "$shards")
  if [ -z "$missing" ]; then
    exec "$windlass" sweep collect "${place[@]}"
  fi
  if [ "$1" -gt "$rounds" ]; then
    printf 'still missing after %s rounds: shares %s\n' "$rounds" "$missing" >&2
    exit 1
  fi
  array=$(sbatch --parsable --job-name=windlass --array="$missing" --output="$out/slurm/%A-%a.log" "${options[@]}" "$script" run)
  sbatch --parsable --job-name=windlass-next --dependency="afterany:${array%%;*}" --output="$out/slurm/%j-next.log" "$script" next "$(($1 + 1))" >/dev/null
  printf 'round %s of %s: job %s runs shares %s\n' "$1" "$rounds" "${array%%;*}" "$missing"
}

case ${1:-} in
  '') submit 1 ;;
  next) submit "$2" ;;
  run) exec "$windlass" sweep "${place[@]}" --shard "$SLURM_ARRAY_TASK_ID/$shards" --jobs "${SLURM_CPUS_PER_TASK:-1}" ;;
  *)
    printf 'usage: bash %s\n' "$script" >&2
    exit 2
    ;;
esac
