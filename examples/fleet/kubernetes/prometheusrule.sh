#!/bin/bash
# Prints rules.yml as a PrometheusRule of the Prometheus operator, which the label `release` chooses:
#
#   kubectl apply -n monitoring -f <(examples/fleet/kubernetes/prometheusrule.sh kube-prometheus-stack)

cat <<END
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: mthreads
  labels: {release: ${1:-kube-prometheus-stack}}
spec:
END
sed 's/^/  /' "$(dirname "${BASH_SOURCE[0]}")/../rules.yml"
