#!/bin/bash
# TaskProlog of slurm.conf: a task sees the cards of its job. Slurm sets CUDA_VISIBLE_DEVICES by itself, and MUSA's not.

gpus=${SLURM_STEP_GPUS:-$SLURM_JOB_GPUS}
[ -n "$gpus" ] && echo "export MUSA_VISIBLE_DEVICES=$gpus"
exit 0
