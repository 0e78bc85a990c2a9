// Package manifests holds the printed manifest against the types of Kubernetes. It is a
// module of its own, so that the program needs none of theirs.
package manifests

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// printed returns the documents that the program prints for an experiment. With queue,
// the label of Kueue is in use.
func printed(t *testing.T, queue bool) []string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "dgkip")
	build := exec.Command("go", "build", "-o", binary, ".")
	build.Dir = filepath.Join("..", "..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(binary, "-exp", "quickstart", "-submit", "k8s", "-workers", "20", "-only", "method:dgkip-* ipc:(1 10)",
		"-out", t.TempDir(), "-offline", "-quiet").Output()
	if err != nil {
		t.Fatal(err)
	}
	text := string(out)
	if queue {
		text = strings.ReplaceAll(text, "# kueue", "kueue")
	}
	return strings.Split(text, "\n---\n")
}

// decode reads a document, which must have no field that the type does not have.
func decode[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := yaml.UnmarshalStrict([]byte(text), &v); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return v
}

func TestManifest(t *testing.T) {
	docs := printed(t, true)
	if len(docs) != 3 {
		t.Fatalf("%d documents, want 3", len(docs))
	}
	claim := decode[core.PersistentVolumeClaim](t, docs[0])
	if claim.Kind != "PersistentVolumeClaim" || len(claim.Spec.AccessModes) != 1 || claim.Spec.AccessModes[0] != core.ReadWriteMany || claim.Spec.Resources.Requests.Storage().IsZero() {
		t.Errorf("the volume: %+v", claim)
	}
	workers, tables := decode[batch.Job](t, docs[1]), decode[batch.Job](t, docs[2])
	for _, j := range []batch.Job{workers, tables} {
		pod := j.Spec.Template.Spec
		if j.APIVersion != "batch/v1" || j.Kind != "Job" || pod.RestartPolicy != core.RestartPolicyNever {
			t.Errorf("the job %s: %+v", j.Name, j)
		}
		c := pod.Containers[0]
		if len(c.VolumeMounts) != 1 || c.VolumeMounts[0].MountPath != c.WorkingDir || pod.Volumes[0].Name != c.VolumeMounts[0].Name ||
			pod.Volumes[0].PersistentVolumeClaim.ClaimName != claim.Name {
			t.Errorf("the volume of %s: %+v", j.Name, pod)
		}
		if len(c.Env) != 1 || c.Env[0].Name != "XDG_CACHE_HOME" || !strings.HasPrefix(c.Env[0].Value, c.WorkingDir+"/") {
			t.Errorf("downloads of %s do not go to the volume: %+v", j.Name, c.Env)
		}
		if m := c.Resources.Requests.Memory().Value(); m < 1<<28 || c.Resources.Limits.Memory().Value() != m || c.Resources.Requests.Cpu().Value() < 1 {
			t.Errorf("the resources of %s: %+v", j.Name, c.Resources)
		}
	}
	// A queue would begin the tables when it has room, and not when they are asked for.
	if q := "kueue.x-k8s.io/queue-name"; workers.Labels[q] == "" || tables.Labels[q] != "" {
		t.Errorf("queues %q and %q", workers.Labels[q], tables.Labels[q])
	}
	s := workers.Spec
	if *s.Parallelism != 20 || *s.Completions != 20 || *s.Template.Spec.TerminationGracePeriodSeconds < 60 || *s.BackoffLimit < 200 {
		t.Errorf("the workers: %+v", s)
	}
	if got := strings.Join(s.Template.Spec.Containers[0].Args, "|"); !strings.HasPrefix(got, "-exp|quickstart|-only|method:dgkip-* ipc:(1 10)|") || !strings.Contains(got, "|-worker|-workers|20|") {
		t.Errorf("arguments %s", got)
	}
	if !*tables.Spec.Suspend || !strings.HasSuffix(strings.Join(tables.Spec.Template.Spec.Containers[0].Args, " "), "-collect") {
		t.Errorf("the tables: %+v", tables.Spec)
	}
	does := map[int32]batch.PodFailurePolicyAction{}
	evicted := false
	for _, r := range s.PodFailurePolicy.Rules {
		if (r.OnExitCodes == nil) == (len(r.OnPodConditions) == 0) {
			t.Errorf("a rule has to be about exit codes or about conditions: %+v", r)
		}
		if r.OnExitCodes != nil {
			for _, code := range r.OnExitCodes.Values {
				does[code] = r.Action
			}
		}
		for _, c := range r.OnPodConditions {
			evicted = evicted || c.Type == core.DisruptionTarget && c.Status == core.ConditionTrue && r.Action == batch.PodFailurePolicyActionIgnore
		}
	}
	if len(does) != 3 || does[75] != batch.PodFailurePolicyActionIgnore || does[130] != batch.PodFailurePolicyActionIgnore || does[2] != batch.PodFailurePolicyActionFailJob || !evicted {
		t.Errorf("exit codes %v, evicted %v", does, evicted)
	}
}

// The test would find a wrong field.
func TestStrict(t *testing.T) {
	var j batch.Job
	if yaml.UnmarshalStrict([]byte("kind: Job\nspec:\n  paralelism: 3\n"), &j) == nil {
		t.Error("a wrong field is taken")
	}
}

// Without a queue the label is a comment.
func TestWithoutQueue(t *testing.T) {
	for _, doc := range printed(t, false)[1:] {
		if j := decode[batch.Job](t, doc); j.Labels["kueue.x-k8s.io/queue-name"] != "" {
			t.Errorf("%s has a queue", j.Name)
		}
	}
}
