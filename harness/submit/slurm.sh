#!/bin/sh
#SBATCH --job-name={{.Name}}
#SBATCH --array=1-{{.Workers}}
#SBATCH --cpus-per-task={{.CPUs}}
#SBATCH --mem={{.MiB}}M
#SBATCH --time={{.Minutes}}
#SBATCH --signal=B:USR1@90
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output={{.Name}}-%A_%a.log

# {{.About}}
#   sh FILE        submits {{.Workers}} workers, and a job that writes the tables after them
#   sbatch FILE    submits the workers alone
# from a folder that all nodes share. Partition and account are yours to add above, for
# both.
if [ -z "${SLURM_ARRAY_TASK_ID:-}" ]; then
	job=$(sbatch --parsable "$0") || exit
	workers=${job%%;*}
	cluster=${job#"$workers"} # where there are several
	sbatch ${cluster:+"--clusters=${cluster#;}"} --dependency="afterany:$workers" --array=0 \
		--job-name={{.Name}}-tables --output={{.Name}}-tables.log --cpus-per-task=1 --time=60 "$0"
	exit
fi
if [ "$SLURM_ARRAY_TASK_ID" -eq 0 ]; then
	{{join .Program .Collect}}
	exit
fi

# The task has to be named: the last one of an array has the job id of all.
requeue() { scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"; }

# The program stops in time by itself and then ends with 75. Near the limit of the job it
# is told to. Should it not end in time, it loses what it did since it last saved.
pid=
trap 'pid=${pid:-$!}; kill -USR1 "$pid"; { sleep 60; requeue; } &' USR1
trap : TERM # Slurm sends it to the program as well
{{join .Program .Work}} &
pid=${pid:-$!} # as it is if the signal came this early
while
	wait "$pid"
	code=$?
	kill -0 "$pid" 2>/dev/null # a signal ends the wait, but not the program
do :; done
# Nor is what the wait gave the program's own code if both ended at once. That is still to
# be had then; otherwise there is nothing more to wait for, which is 127.
wait "$pid"
last=$?
[ "$last" -eq 127 ] || code=$last
if [ "$code" -eq 75 ]; then
	requeue
	sleep 60
fi
exit "$code"
