#!/bin/sh
#SBATCH --job-name={{.Name}}
#SBATCH --array=1-{{.Workers}}
#SBATCH --cpus-per-task={{.CPUs}}
#SBATCH --mem={{.MiB}}M
#SBATCH --time={{.Minutes}}
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output={{.Name}}-%A_%a.log

# {{.About}}
#   sh FILE        submits {{.Workers}} workers, and a job that writes the tables after them
#   sbatch FILE    submits the workers alone
# from a folder that all nodes share. Partition and account are yours to add above.
if [ -z "${SLURM_ARRAY_TASK_ID:-}" ]; then
	workers=$(sbatch --parsable "$0") || exit
	workers=${workers%%;*} # the cluster's name may follow
	sbatch --dependency="afterany:$workers" --job-name={{.Name}}-tables --output={{.Name}}-tables.log \
		--mem={{.MiB}}M --time=60 <<'END'
#!/bin/sh
{{join .Program .Collect}}
END
	exit
fi

# The program stops in time by itself and then ends with 75. Slurm sends TERM to it as
# well as to this script, which only has to wait for it.
trap : TERM
{{join .Program .Work}}
code=$?
if [ "$code" -eq 75 ]; then
	# The task has to be named: the last one of an array has the job id of all.
	scontrol requeue "${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}"
	sleep 60
fi
exit "$code"
