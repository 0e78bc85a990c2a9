package method

import "strings"

// Family names a way to score a set. Only numbers of the same family may be compared. Every
// published and every computed score has a family.
type Family string

// Families of protocols.
const (
	Kernel         Family = "kernel"
	FreshDraws     Family = "fresh"
	InfiniteWidth  Family = "infinite"
	Unrolled       Family = "unrolled"
	Network        Family = "network"
	NetworkAug     Family = "network-aug"
	NetworkSoft    Family = "network-soft"
	NetworkSoftAug Family = "network-soft-aug"
	WideNetwork    Family = "wide"
)

// FamilyInfo describes a family.
type FamilyInfo struct {
	Name  Family
	Mark  string // marks numbers in columns with several families
	About string
}

// Families lists all families.
var Families = []FamilyInfo{
	{Kernel, "k", "a convex model in the run's own features or kernel"},
	{FreshDraws, "f", "a convex model in newly drawn random networks"},
	{InfiniteWidth, "i", "a convex model in the exact kernel of infinitely wide networks"},
	{Unrolled, "u", "the few steps of gradient descent that the set was learned with"},
	{Network, "n", "networks trained on the set, with hard labels"},
	{NetworkAug, "a", "networks trained on the set with augmentation and hard labels"},
	{NetworkSoft, "s", "networks trained on the set, with soft labels"},
	{NetworkSoftAug, "as", "networks trained on the set with augmentation and soft labels"},
	{WideNetwork, "w", "wide networks trained on the set"}, // published numbers only
}

// Known returns the description of a family. It is empty if the family is unknown.
func (f Family) Known() FamilyInfo {
	for _, known := range Families {
		if known.Name == f {
			return known
		}
	}
	return FamilyInfo{}
}

// softLabels maps a family of trained networks to the one for sets with soft labels.
var softLabels = map[Family]Family{Network: NetworkSoft, NetworkAug: NetworkSoftAug}

// IsScore reports whether a metric measures the quality of a set on test images. Only such metrics
// have a family.
func IsScore(metric string) bool {
	return metric == "" || strings.HasSuffix(metric, "test_acc") || strings.HasSuffix(metric, "test_errors")
}

// FamilyOf returns the family of a metric of a run, or "" if the metric is not a score.
func FamilyOf(metric string, m Method, p Protocol) Family {
	if !IsScore(metric) {
		return ""
	}
	if strings.Contains(metric, "own.") {
		return Kernel // own.* are scores in the run's own networks, for every protocol
	}
	family := p.Info().Family
	if soft, ok := softLabels[family]; ok && m.Info().SoftLabels {
		return soft
	}
	return family
}
