#!/bin/bash
# Custom plugin of node-problem-detector. Its exit statuses differ from health's: 0 is well, 1 a problem, others unknown.
# The number of cards that the node must have: GPUS=8 in /etc/default/pymtml-health.

GPUS= PYMTML=/opt/pymtml/bin/pymtml
DEFAULTS=${PYMTML_HEALTH_DEFAULTS:-/etc/default/pymtml-health}
# shellcheck source=/dev/null
[ -r "$DEFAULTS" ] && . "$DEFAULTS"
unset PYTHONPATH PYTHONHOME # those of another Python would end the check with status 1, as if it had a warning

found=$("$PYMTML" health ${GPUS:+--expect "$GPUS"} --timeout 20)
status=$?
grep -m1 '^CRITICAL' <<<"$found" || grep -m1 '^WARNING' <<<"$found" || echo "GPUs are well"
case $status in
0 | 1) exit 0 ;; # a WARNING is no reason to take a node away
2) exit 1 ;;
*) exit 2 ;;
esac
