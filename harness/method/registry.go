package method

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
)

// registry maps names to factories of methods or protocols. It is filled when the program starts.
type registry[T any] map[string]func() T

var (
	methods   = registry[Method]{}
	protocols = registry[Protocol]{}
)

// validName matches the names that methods and protocols may have.
var validName = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// Register adds a method under the name in its Info. The factory returns a pointer to a struct with
// the default settings. Fields with a `toml:"name"` tag are settings. Further tags are:
//
//	enum:"a,b"            the allowed values of a string
//	min:"1" max:"9"       the limits of a number
//	toml:"name,omitzero"  not part of a run's identity if zero, as a setting that is added later
//	                      should be, so that earlier records stay valid
//
// Fields may be booleans, strings, integers, floats, slices of those, or embedded structs of such
// fields. Package methodtest checks the tags. Register panics if the name is invalid or taken.
func Register(factory func() Method) {
	if t := reflect.TypeOf(factory()); t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		panic(fmt.Sprintf("method.Register: the factory returns a %v, but must return a pointer to a struct", t))
	}
	methods.add("method.Register", factory().Info().Name, factory)
}

// RegisterProtocol is Register for a protocol. It also panics if the protocol has no Family.
func RegisterProtocol(factory func() Protocol) {
	family := factory().Info().Family
	if !slices.ContainsFunc(Families, func(f FamilyInfo) bool { return f.Name == family }) {
		panic("method.RegisterProtocol: the protocol's family is not one of Families")
	}
	protocols.add("method.RegisterProtocol", factory().Info().Name, factory)
}

func (r registry[T]) add(what, name string, factory func() T) {
	if !validName.MatchString(name) {
		panic(fmt.Sprintf("%s: the name %q must be lower case letters, digits and hyphens", what, name))
	}
	if other := r[name]; other != nil {
		panic(fmt.Sprintf("%s: the name %q is used by both %T and %T", what, name, other(), factory()))
	}
	r[name] = factory
}

func (r registry[T]) make(name string) (made T) {
	if f := r[name]; f != nil {
		made = f()
	}
	return made
}

// New returns the named method with its default settings, or nil.
func New(name string) Method { return methods.make(name) }

// NewProtocol returns the named protocol with its default settings, or nil.
func NewProtocol(name string) Protocol { return protocols.make(name) }

// Names returns the names of the methods in alphabetical order.
func Names() []string { return slices.Sorted(maps.Keys(methods)) }

// ProtocolNames returns the names of the protocols in alphabetical order.
func ProtocolNames() []string { return slices.Sorted(maps.Keys(protocols)) }
