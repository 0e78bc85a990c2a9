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
#   sh FILE        submits {{.Workers}} workers, then a job that writes the tables
#   sbatch FILE    submits only the workers
# Run it in a folder that all nodes share. Add partition and account above; they apply to
# both jobs.
if [ -z "${SLURM_ARRAY_TASK_ID:-}" ]; then
	job=$(sbatch --parsable "$0") || exit
	workers=${job%%;*}
	cluster=${job#"$workers"} # if there are several clusters
	sbatch ${cluster:+"--clusters=${cluster#;}"} --dependency="afterany:$workers" --array=0 \
		--job-name={{.Name}}-tables --output={{.Name}}-tables.log --cpus-per-task=1 --time=60 "$0"
	exit
fi
if [ "$SLURM_ARRAY_TASK_ID" -eq 0 ]; then
	{{join .Program .Collect}}
	exit
fi

# Names the task, because the last task of an array has the job id of the whole array.
requeue() { scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"; }

# The program stops by itself before its limit and exits with 75. Near the limit of the job,
# this script also tells it to stop. A program that is too slow loses the work since its last
# save.
pid=
trap 'pid=${pid:-$!}; kill -USR1 "$pid"; { sleep 60; requeue; } &' USR1
trap : TERM # Slurm also sends TERM to the program
{{join .Program .Work}} &
pid=${pid:-$!} # the trap has already set it if the signal came early
while
	wait "$pid"
	code=$?
	kill -0 "$pid" 2>/dev/null # a signal ends the wait, but not the program
do :; done
# If a signal ended the wait just when the program ended, the code above is not that of the
# program. A second wait then returns the right code; otherwise it returns 127.
wait "$pid"
last=$?
[ "$last" -eq 127 ] || code=$last
if [ "$code" -eq 75 ]; then
	requeue
	sleep 60
fi
exit "$code"
