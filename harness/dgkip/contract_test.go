package dgkip

import (
	"testing"

	"dgkip/harness/method"
	"dgkip/harness/method/methodtest"
)

func TestContract(t *testing.T) {
	short := func(l *Loop) { l.Updates = 6 }
	for name, fresh := range map[string]func() method.Method{
		"lr":            func() method.Method { m := &LR{learning("gain")}; short(&m.Loop); return m },
		"lr target gap": func() method.Method { m := &LR{learning("target")}; m.Objective = "gap"; short(&m.Loop); return m },
		"lr dual":       func() method.Method { m := &LR{learning("dual")}; short(&m.Loop); return m },
		"lr fixed noise": func() method.Method {
			m := &LR{learning("fixed")}
			m.Start, m.Alpha, m.LabelRate = "noise", "detached", published().LabelRate
			short(&m.Loop)
			return m
		},
		"lr scaled":  func() method.Method { m := &LR{learning("scaled")}; short(&m.Loop); return m },
		"svm scaled": func() method.Method { m := &SVM{learning("scaled"), 0.05}; short(&m.Loop); return m },
		"svm":        func() method.Method { m := &SVM{learning("gain"), 1}; short(&m.Loop); return m },
		"svm means":  func() method.Method { m := &SVM{learning("gain"), 0.1}; m.Start = "means"; short(&m.Loop); return m },
		"ls":         func() method.Method { return &Solved{Loop: defaults(6), Loss: "auto", Match: matchWeights} },
		"ls cosine": func() method.Method {
			m := &Solved{Loop: defaults(6), Loss: "auto", Match: matchWeights}
			m.Schedule = "cosine"
			return m
		},
		"lr constant": func() method.Method {
			m := &LR{learning("gain")}
			short(&m.Loop)
			m.Schedule = ""
			return m
		},
		"ls hinge": func() method.Method { return &Solved{Loop: defaults(6), Loss: "hinge", Match: matchWeights} },
		"ls draws with portable labels": func() method.Method {
			m := &Solved{Loop: defaults(6), Loss: "auto", Match: matchWeights}
			m.Draws, m.Travel = 2, true
			return m
		},
		"ls draws that looks at some real images": func() method.Method {
			m := &Solved{Loop: defaults(6), Loss: "auto", Match: matchLoss, Batch: 7}
			m.Draws, m.Travel = 2, true
			return m
		},
		"ls labels by the loss": func() method.Method {
			return &Solved{Loop: defaults(6), Loss: "auto", Match: matchWeights, RefitLabels: matchLoss}
		},
		"ls outputs, some": func() method.Method {
			return &Solved{Loop: defaults(6), Loss: "logistic", Match: matchOutputs, Batch: 7}
		},
		"ls loss":    func() method.Method { return &Solved{Loop: defaults(6), Loss: "logistic", Match: matchLoss} },
		"ls outputs": func() method.Method { return &Solved{Loop: defaults(6), Loss: "logistic", Match: matchOutputs} },
	} {
		t.Run(name, func(t *testing.T) { methodtest.Run(t, fresh, methodtest.Options{}) })
	}
}

// Methods keep the contract in the exact kernel, too.
func TestKernelContract(t *testing.T) {
	exact := methodtest.Options{Problem: func(p *method.Problem) { p.Model.Kind = "nngp" }}
	for name, fresh := range map[string]func() method.Method{
		"ls":      func() method.Method { return &Solved{Loop: defaults(6), Loss: "auto", Match: matchWeights} },
		"ls loss": func() method.Method { return &Solved{Loop: defaults(6), Loss: "auto", Match: matchLoss} },
		"ls labels by the loss": func() method.Method {
			return &Solved{Loop: defaults(6), Loss: "auto", Match: matchWeights, RefitLabels: matchLoss}
		},
		"ls outputs, some": func() method.Method {
			return &Solved{Loop: defaults(6), Loss: "auto", Match: matchOutputs, Batch: 7}
		},
		"lr": func() method.Method { m := &LR{learning("scaled")}; m.Updates = 6; return m },
	} {
		t.Run(name, func(t *testing.T) { methodtest.Run(t, fresh, exact) })
	}
}

// dgkip-ls also keeps the contract in the other exact kernels.
func TestOtherKernelContracts(t *testing.T) {
	for _, kind := range []string{"nngp-conv", "ntk-conv", "ntk"} {
		exact := methodtest.Options{Problem: func(p *method.Problem) { p.Model.Kind, p.Model.Bias = kind, 0.2 }}
		t.Run(kind, func(t *testing.T) {
			methodtest.Run(t, func() method.Method {
				return &Solved{Loop: defaults(3), Loss: "auto", Match: matchWeights, RefitLabels: matchLoss}
			}, exact)
		})
		if kind != "nngp-conv" {
			t.Run(kind+", loss of some", func(t *testing.T) {
				methodtest.Run(t, func() method.Method {
					return &Solved{Loop: defaults(3), Loss: "auto", Match: matchLoss, Batch: 7}
				}, exact)
			})
		}
	}
}

// Methods also keep the contract for several classes.
func TestKernelContractOfThreeClasses(t *testing.T) {
	exact := methodtest.Options{Problem: func(p *method.Problem) { p.Model.Kind, p.Data = "nngp", three() }}
	for name, fresh := range map[string]func() method.Method{
		"ls with portable labels": func() method.Method {
			m := &Solved{Loop: defaults(6), Loss: "auto", Match: matchWeights}
			m.Travel = true
			return m
		},
		"ls outputs, some": func() method.Method {
			return &Solved{Loop: defaults(6), Loss: "auto", Match: matchOutputs, Batch: 7}
		},
		"softmax":        func() method.Method { m := &Softmax{learning("dual")}; m.Updates = 6; return m },
		"softmax target": func() method.Method { m := &Softmax{learning("target")}; m.Updates = 6; return m },
	} {
		t.Run(name, func(t *testing.T) { methodtest.Run(t, fresh, exact) })
	}
}
