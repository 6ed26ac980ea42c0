#!/bin/bash
# HealthCheckProgram of slurm.conf: drains a node whose GPUs are not well, and resumes it after GOOD checks in a row
# without a CRITICAL finding, if it was this that drained it. GPUS=8 in /etc/default/pymtml-health is the number of cards
# that the node must have; without it the number is not checked.
#
#   HealthCheckProgram=/etc/slurm/health.sh
#   HealthCheckInterval=120
#   HealthCheckNodeState=ANY

GPUS= TIMEOUT=20 GOOD=5 PYMTML=/opt/pymtml/bin/pymtml LOCK=/run/pymtml-slurm.lock
DEFAULTS=${PYMTML_HEALTH_DEFAULTS:-/etc/default/pymtml-health}
# shellcheck source=/dev/null
[ -r "$DEFAULTS" ] && . "$DEFAULTS"
unset PYTHONPATH PYTHONHOME # those of another Python would end the check with status 1, as if it had a warning
NODE=${SLURMD_NODENAME:-$(hostname -s)}
MARK="pymtml: "

# Slurm starts a check while an earlier one hangs: one is enough. The locked file has the number of good checks in a row.
exec 9<>"$LOCK" || exit 1
flock --nonblock 9 || exit 0
read -r good <"$LOCK" || true
[[ $good =~ ^[0-9]{1,9}$ ]] || good=0

# Slurm ends a check after 60 seconds; health waits for its own lock and for the driver, each as long as TIMEOUT, and for
# processes 5 seconds.
found=$("$PYMTML" health ${GPUS:+--expect "$GPUS"} --timeout "$TIMEOUT" 9>&-)
status=$?
reason=$(grep -m1 '^CRITICAL' <<<"$found" || grep -m1 '^WARNING' <<<"$found")
reason=$(tr -s ' ' <<<"$reason" | cut -c1-200)
# A line for each field: the comment of a node may say anything.
shown=$(scontrol show node "$NODE" 9>&-)
state=$(sed -n 's/^ *State=\([^ ]*\).*/\1/p' <<<"$shown")
now=$(sed -n 's/^ *Reason=//p' <<<"$shown")

drained= ours=
[[ $state == *"+DRAIN"* ]] && drained=yes
[[ $drained && $now == "$MARK"* ]] && ours=yes
# A WARNING drains no node, so it keeps none drained.
[ $status -le 1 ] && good=$((10#$good + 1)) || good=0
echo "$good" >"$LOCK"

if [[ $ours && $good -ge $GOOD ]]; then
    scontrol update NodeName="$NODE" State=RESUME 9>&-
fi
case $status in
0) ;;
1) # degraded: logged, and left to people
    logger -t pymtml -- "$NODE: ${reason:-degraded}"
    ;;
126 | 127) # the command cannot be run: that says nothing of the GPUs
    logger -t pymtml -- "$NODE: $PYMTML cannot be run (status $status): GPUs are not checked"
    ;;
*) # unhealthy, or the check itself failed; a drain of somebody else keeps its reason
    reason="$MARK${reason:-pymtml health failed with status $status}"
    if [[ ! $drained || ($ours && $now != "$reason"*) ]]; then
        scontrol update NodeName="$NODE" State=DRAIN Reason="$reason" 9>&-
    fi
    ;;
esac
exit 0
