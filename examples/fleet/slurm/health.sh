#!/bin/bash
# HealthCheckProgram of slurm.conf: drains a node whose GPUs are not well, and resumes it when they are again, if it
# was this that drained it. On what a node must have: GPUS=8 in /etc/default/pymtml-health.
#
#   HealthCheckProgram=/etc/slurm/health.sh
#   HealthCheckInterval=120
#   HealthCheckNodeState=ANY

GPUS=1 TIMEOUT=20 PYMTML=/opt/pymtml/bin/pymtml LOCK=/run/pymtml-slurm.lock
DEFAULTS=${PYMTML_HEALTH_DEFAULTS:-/etc/default/pymtml-health}
# shellcheck source=/dev/null
[ -r "$DEFAULTS" ] && . "$DEFAULTS"
NODE=${SLURMD_NODENAME:-$(hostname -s)}
MARK="pymtml: "

# Slurm starts a check while an earlier one hangs: one is enough.
exec 9>"$LOCK" || exit 1
flock --nonblock 9 || exit 0

# Slurm ends a check after 60 seconds; health waits for its own lock and for the driver, each as long as TIMEOUT.
found=$("$PYMTML" health --expect "$GPUS" --timeout "$TIMEOUT" 9>&-)
status=$?
reason=$(grep -m1 -e '^CRITICAL' -e '^WARNING' <<<"$found" | tr -s ' ' | cut -c1-200)
state=$(scontrol show node --oneliner "$NODE" 9>&-)

case $status in
0)
    if [[ $state == *"+DRAIN"* && $state == *"Reason=$MARK"* ]]; then
        scontrol update NodeName="$NODE" State=RESUME 9>&-
    fi
    ;;
1) # degraded: told, and left to people
    logger -t pymtml -- "$NODE: ${reason:-degraded}"
    ;;
*) # unhealthy, or the check itself failed
    if [[ $state != *"+DRAIN"* ]]; then
        scontrol update NodeName="$NODE" State=DRAIN Reason="$MARK${reason:-pymtml health failed with status $status}" 9>&-
    fi
    ;;
esac
exit 0
