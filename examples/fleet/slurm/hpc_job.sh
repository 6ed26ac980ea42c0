#!/bin/bash
# Prolog and Epilog of slurm.conf, both: which job has which card, for pymtml metrics --hpc-job-dir. A file for each
# card, named by its index, has a job in each line, with its user and partition. With PrologFlags=Alloc it also knows jobs
# that run no step, as below salloc.
#
#   PrologFlags=Alloc
#   Prolog=/etc/slurm/hpc_job.sh
#   Epilog=/etc/slurm/hpc_job.sh

FOLDER=${PYMTML_HPC_JOBS:-/run/pymtml-jobs}

# A failing prolog would drain the node: the label is not worth that.
mkdir -p "$FOLDER" && exec 9>"$FOLDER/.lock" && flock --timeout 10 9 || exit 0
for gpu in ${SLURM_JOB_GPUS//,/ }; do
    [[ $gpu =~ ^[0-9]+$ ]] || continue
    file=$FOLDER/$gpu
    others=$(grep -vE -- "^$SLURM_JOB_ID( |\$)" "$file" 2>/dev/null)
    case $SLURM_SCRIPT_CONTEXT in
    prolog*)
        job=$SLURM_JOB_ID
        [[ $SLURM_JOB_USER && $SLURM_JOB_PARTITION ]] && job+=" $SLURM_JOB_USER $SLURM_JOB_PARTITION"
        others=${others:+$others$'\n'}$job
        ;;
    esac
    if [ -n "$others" ]; then
        echo "$others" >"$file.part" && mv "$file.part" "$file"
    else
        rm -f "$file"
    fi
done
exit 0
