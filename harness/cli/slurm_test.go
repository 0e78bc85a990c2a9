//go:build linux

package cli

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"dgkip/harness/store"
)

var takesMinutes = flag.Bool("slow", false, "run the tests that take minutes")

const slurmConf = `ClusterName=one
SlurmctldHost=HOST(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=cred_expire=15
CryptoType=crypto/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/backfill
ReturnToService=2
StateSaveLocation=DIR/state
SlurmdSpoolDir=DIR/spool
SlurmctldPidFile=DIR/slurmctld.pid
SlurmdPidFile=DIR/slurmd.pid
SlurmctldPort=16817
SlurmdPort=16818
SlurmdParameters=config_overrides
JobRequeue=1
KillWait=30
MinJobAge=300
SchedulerParameters=batch_sched_delay=1,sched_interval=2
NodeName=HOST NodeAddr=127.0.0.1 CPUs=4 RealMemory=30000 State=UNKNOWN
PartitionName=all Nodes=HOST Default=YES MaxTime=INFINITE State=UP
`

// slurm is a Slurm that consists of this machine.
type slurm struct {
	t    *testing.T
	dir  string // where jobs are submitted
	conf string
}

// command runs a Slurm command and returns its output.
func (s slurm) command(args ...string) string {
	s.t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "SLURM_CONF="+s.conf, "SLOW_MS=250", "CHECKPOINT_MS=500", "STARTS="+filepath.Join(s.dir, "starts"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// until waits until a condition holds, or fails with the state of the queue and the jobs.
func (s slurm) until(what string, limit time.Duration, holds func() bool) {
	s.t.Helper()
	for from := time.Now(); !holds(); time.Sleep(200 * time.Millisecond) {
		if time.Since(from) > limit {
			logs, _ := filepath.Glob(filepath.Join(s.dir, "*.log"))
			text := s.command("squeue", "-a")
			for _, name := range logs {
				b, _ := os.ReadFile(name)
				text += "\n" + filepath.Base(name) + "\n" + string(b)
			}
			s.t.Fatalf("not reached after %v: %s\n%s", limit, what, text)
		}
	}
	s.t.Logf("%s: %s", time.Now().Format(time.TimeOnly), what)
}

// background starts a daemon that ends with the test.
func background(t *testing.T, conf string, args ...string) {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "SLURM_CONF="+conf)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
	})
}

// startSlurm starts a Slurm, or skips the test if that is not possible.
func startSlurm(t *testing.T, dir string) slurm {
	for _, name := range []string{"slurmctld", "slurmd", "sbatch", "munged", "munge", "runuser"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("SKIPPED: %s is not installed (Debian packages slurm-wlm slurmctld slurmd slurm-client munge)", name)
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: a Slurm can be started only by root")
	}
	if exec.Command("munge", "-n").Run() != nil {
		if err := os.MkdirAll("/run/munge", 0o755); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("chown", "munge:munge", "/run/munge").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		background(t, "", "runuser", "-u", "munge", "--", "munged", "--foreground")
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	host, _, _ = strings.Cut(host, ".")
	base := t.TempDir()
	for _, part := range []string{"state", "spool"} {
		if err := os.Mkdir(filepath.Join(base, part), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := slurm{t, dir, filepath.Join(base, "slurm.conf")}
	write(t, s.conf, strings.NewReplacer("HOST", host, "DIR", base).Replace(slurmConf))
	ready := func(args ...string) func() bool {
		return func() bool {
			cmd := exec.Command(args[0], args[1:]...)
			cmd.Env = append(os.Environ(), "SLURM_CONF="+s.conf)
			out, err := cmd.Output()
			return err == nil && (args[0] != "sinfo" || strings.TrimSpace(string(out)) == "idle")
		}
	}
	wait := func(what string, holds func() bool) {
		t.Helper()
		for from := time.Now(); !holds(); time.Sleep(100 * time.Millisecond) {
			if time.Since(from) > 30*time.Second {
				t.Fatalf("%s does not start", what)
			}
		}
	}
	wait("munged", ready("munge", "-n"))
	background(t, s.conf, "slurmctld", "-D", "-c", "-L", filepath.Join(base, "slurmctld.log"))
	background(t, s.conf, "slurmd", "-D", "-L", filepath.Join(base, "slurmd.log"))
	wait("slurm", ready("sinfo", "-h", "-o", "%T"))
	t.Cleanup(func() { // before the daemons end
		cmd := exec.Command("scancel", "--full", "-s", "KILL", "-u", "root")
		cmd.Env = append(os.Environ(), "SLURM_CONF="+s.conf)
		cmd.Run()
		time.Sleep(2 * time.Second)
	})
	return s
}

// workerOf returns the process of a task's worker, or 0.
func workerOf(task string) int {
	all, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range all {
		b, err := os.ReadFile(file)
		if err != nil || !slices.Contains(strings.Split(string(b), "\x00"), "SLURM_ARRAY_TASK_ID="+task) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		if program, _, _ := bytes.Cut(line, []byte{0}); filepath.Base(string(program)) == "dgkip" {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			return pid
		}
	}
	return 0
}

// slowRuns writes an experiment with a slow method and five values of ipc to a new folder, where this
// test program is dgkip.
func slowRuns(t *testing.T, updates, seeds int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	text := strings.NewReplacer(`"random", "slow"`, `"slow"`, "ipc = [1, 2]", "ipc = [1, 2, 3, 4, 5]", "updates = 6", fmt.Sprint("updates = ", updates), "count = 2", fmt.Sprint("count = ", seeds)).Replace(tiny)
	write(t, filepath.Join(dir, "experiments", "tiny.toml"), text)
	images, err := tinyData("tiny")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "tiny.npz"), string(images))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(dir, "dgkip")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// asOfOne compares n records of several workers (folder results) with the same records of one process
// (folder single). It returns the starts of each run, by key, and the number of continued runs.
func asOfOne(t *testing.T, dir string, n int) (begun map[string]int, resumed int) {
	t.Helper()
	starts, err := os.ReadFile(filepath.Join(dir, "starts"))
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]int{}
	for line := range strings.Lines(string(starts)) {
		byName[strings.TrimSpace(line)]++
	}
	a, b := store.Open(filepath.Join(dir, "single")), store.Open(filepath.Join(dir, "results"))
	keys, err := a.Keys()
	if err != nil || len(keys) != n || len(byName) != n {
		t.Fatalf("%d records of %d started runs, %v", len(keys), len(byName), err)
	}
	begun = map[string]int{}
	for _, key := range keys {
		x, errX := a.Get(key)
		y, errY := b.Get(key)
		if errX != nil || errY != nil {
			t.Fatal(errX, errY)
		}
		for _, name := range []string{"result.json", "trace.csv", "distilled.npz"} {
			p, errP := x.File(name)
			q, errQ := y.File(name)
			if errP != nil || errQ != nil || !bytes.Equal(p, q) {
				t.Errorf("%s of %s differs (%v, %v)", name, key, errP, errQ)
			}
		}
		id := y.Result.Identity
		begun[key] = byName[fmt.Sprint(id.IPC, " ", id.Seed)]
		resumed += len(y.Provenance.Sessions) - 1
	}
	if locks, _ := filepath.Glob(filepath.Join(dir, "results", "work", "locks", "*")); len(locks) > 0 {
		t.Errorf("locks are left: %q", locks)
	}
	return begun, resumed
}

// Three workers under a real Slurm run the printed script. One is cancelled, one is killed, and one
// is requeued at its time limit, repeatedly. The records equal those of a single process, no run is
// started twice, and the tables are written afterwards.
func TestSlurm(t *testing.T) {
	if !*takesMinutes {
		t.Skip("SKIPPED: takes minutes; -slow runs it")
	}
	dir := slowRuns(t, 40, 2)
	s := startSlurm(t, dir)
	single := exec.Command(filepath.Join(dir, "dgkip"), "-exp", "tiny", "-quiet", "-out", "single")
	single.Dir = dir
	if out, err := single.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	began := time.Now()
	printed := exec.Command("./dgkip", "-exp", "tiny", "-submit", "slurm", "-workers", "3", "-threads", "1", "-for", "1h")
	printed.Dir = dir
	script, err := printed.Output()
	if err != nil {
		t.Fatal(err)
	}
	// Here the limit of Slurm comes first. The added directive also applies to the tables job.
	text := strings.NewReplacer("--time=66", "--time=2", "#SBATCH --requeue", "#SBATCH --requeue\n#SBATCH --comment=mine").Replace(string(script))
	write(t, filepath.Join(dir, "job.sh"), text)
	t.Log(s.command("sh", "job.sh"))
	id := strings.TrimSuffix(strings.Fields(s.command("squeue", "-h", "-o", "%F", "-n", "tiny"))[0], ",")
	comments := strings.Fields(s.command("squeue", "-h", "-o", "%j:%k"))
	slices.Sort(comments)
	if got := slices.Compact(comments); !slices.Equal(got, []string{"tiny-tables:mine", "tiny:mine"}) {
		t.Errorf("comments of the jobs: %q", got)
	}
	running := func(task string) func() bool { return func() bool { return workerOf(task) > 0 } }
	for _, task := range []string{"1", "2", "3"} {
		s.until("worker "+task+" begins", time.Minute, running(task))
	}
	s.until("three workers have saved something", time.Minute, func() bool {
		saved, _ := filepath.Glob(filepath.Join(dir, "results", "work", "checkpoints", "*"))
		return len(saved) >= 3
	})
	s.command("scancel", id+"_2")
	if err := syscall.Kill(workerOf("3"), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s.until("the two have ended", time.Minute, func() bool { return !running("2")() && !running("3")() })
	s.until("worker 1 is requeued", 2*time.Minute, func() bool { return strings.Contains(s.command("squeue", "-h", "-r", "-o", "%K %t"), "1 PD") })
	s.until("worker 1 continues", 4*time.Minute, running("1"))
	s.until("the tables are there", 8*time.Minute, func() bool {
		_, err := os.Stat(filepath.Join(dir, "results", "tables", "tiny.md"))
		return err == nil
	})
	begun, resumed := asOfOne(t, dir, 10)
	for key, n := range begun {
		if n != 1 {
			t.Errorf("%s was started %d times", key, n)
		}
	}
	t.Logf("10 records, each started once and continued %d times in all; %d s with three workers of Slurm", resumed, int(time.Since(began).Seconds()))
}
