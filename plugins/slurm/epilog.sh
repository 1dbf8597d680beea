#!/bin/sh
# Slurm's Epilog with brim's line about a job that has ended: how busy its GPUs on this node were.
# See docs/slurm/hooks.md. It needs prolog.sh, and the status is always 0.
BRIM=/usr/bin/brim
# What 'brim health' needs to find the agent: --address=ADDRESS, --port=PORT, --token=FILE.
AGENT=
STARTS=/run/brim-slurm
JOBS=/var/lib/brim/slurm/jobs.tsv

PATH=/usr/bin:/bin:/usr/sbin:/sbin
trap 'exit 0' EXIT
stamp=$STARTS/$SLURM_JOB_ID
[ -n "$SLURM_JOB_GPUS" ] && [ -f "$stamp" ] || exit 0
now=$(date +%s)
began=$(stat -c %Y "$stamp")
rm -f "$stamp"
# shellcheck disable=SC2086
said=$(timeout -k 1 5 "$BRIM" health --gpus="$SLURM_JOB_GPUS" --last="$((now - began + 1))s" \
    $AGENT 2>/dev/null)
# "GPU 3: busy 93.1 % of the time"
busy=$(echo "$said" | sed -n 's/^GPU \([0-9]*\): busy \([0-9.]*\) % of the time$/\1=\2/p' |
    paste -sd,)
{ mkdir -p "${JOBS%/*}" && printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$now" "$SLURM_JOB_ID" \
    "$SLURM_JOB_USER" "$SLURMD_NODENAME" "$((now - began))" "$SLURM_JOB_GPUS" "${busy:-?}" \
    >>"$JOBS"; } 2>/dev/null
exit 0
