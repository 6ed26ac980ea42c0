#!/bin/bash
# Prolog and Epilog of slurm.conf, both: which job has which card, for pymtml metrics --hpc-job-dir. A file for each
# card, named by its index, has a job in each line.
#
#   Prolog=/etc/slurm/hpc_job.sh
#   Epilog=/etc/slurm/hpc_job.sh

FOLDER=${PYMTML_HPC_JOBS:-/run/pymtml-jobs}

# A failing prolog would drain the node: the label is not worth that.
mkdir -p "$FOLDER" && exec 9>"$FOLDER/.lock" && flock --timeout 10 9 || exit 0
for gpu in ${SLURM_JOB_GPUS//,/ }; do
    [[ $gpu =~ ^[0-9]+$ ]] || continue
    file=$FOLDER/$gpu
    others=$(grep -vx -- "$SLURM_JOB_ID" "$file" 2>/dev/null)
    case $SLURM_SCRIPT_CONTEXT in
    prolog*) others=${others:+$others$'\n'}$SLURM_JOB_ID ;;
    esac
    if [ -n "$others" ]; then
        echo "$others" >"$file.part" && mv "$file.part" "$file"
    else
        rm -f "$file"
    fi
done
exit 0
