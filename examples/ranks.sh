#!/bin/sh
# Start so many ranks of a PyTorch script on this machine: examples/ranks.sh 2 python3 train.py ...
# As torchrun does, where there is none. Ends with the status of the first rank that failed.
[ $# -ge 2 ] || {
    echo "usage: $0 RANKS COMMAND..." >&2
    exit 2
}
world=$1 rank=0 status=0 pids=
shift
MASTER_ADDR=127.0.0.1 MASTER_PORT=${MASTER_PORT:-$((20000 + $$ % 10000))} WORLD_SIZE=$world
export MASTER_ADDR MASTER_PORT WORLD_SIZE
while [ "$rank" -lt "$world" ]; do
    RANK=$rank LOCAL_RANK=$rank "$@" &
    pids="$pids $!"
    rank=$((rank + 1))
done
trap 'kill $pids 2>/dev/null' INT TERM HUP
for pid in $pids; do
    wait "$pid"
    code=$?
    [ "$status" != 0 ] || status=$code
done
exit "$status"
