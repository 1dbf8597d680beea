#!/bin/sh
# Slurm's Prolog with brim's look at the GPUs of a job that is about to start: see
# docs/slurm/hooks.md. The node is drained only when a job would fail on one of them for certain;
# whatever else happens here, the status is 0 and the job starts.
BRIM=/usr/bin/brim
# What 'brim health' needs to find the agent: --address=ADDRESS, --port=PORT, --token=FILE.
AGENT=
STARTS=/run/brim-slurm

PATH=/usr/bin:/bin:/usr/sbin:/sbin
[ -n "$SLURM_JOB_GPUS" ] || exit 0
# For epilog.sh: when the job began here. By a program: of ':' a redirection that fails ends sh.
{ mkdir -p "$STARTS" && touch "$STARTS/$SLURM_JOB_ID"; } >/dev/null 2>&1
# shellcheck disable=SC2086
why=$(timeout -k 1 1 "$BRIM" health --gpus="$SLURM_JOB_GPUS" $AGENT 2>/dev/null)
[ $? -eq 1 ] || exit 0
case $why in
"GPU "*) ;;
*) exit 0 ;;
esac
# Slurm's own words would be "Prolog error".
timeout -k 1 5 scontrol update "NodeName=$SLURMD_NODENAME" State=DRAIN "Reason=brim: $why" \
    >/dev/null 2>&1
echo "brim: $why" >&2
exit 1
