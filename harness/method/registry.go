package method

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
)

// registry makes methods or protocols by their names. It is filled while the program
// starts.
type registry[T any] map[string]func() T

var (
	methods   = registry[Method]{}
	protocols = registry[Protocol]{}
)

// validName matches the names that methods and protocols may have.
var validName = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// Register makes a method known by the name in its Info. Its factory returns a
// pointer to a struct that holds the default settings. The struct's fields are
// settings if they have a `toml:"name"` tag, and may have these as well:
//
//	enum:"a,b"  the values a string may take
//	min:"1"     and max:"9", bounds of a number
//	toml:"name,omitzero"   not part of a run's identity while it is zero: for
//	            settings added later, so that earlier records stay valid
//
// Fields may be booleans, strings, integers, floats, slices of those, or embedded
// structs of such fields; package methodtest checks tags. Register panics when the name
// is unfit or taken.
func Register(factory func() Method) {
	if t := reflect.TypeOf(factory()); t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		panic(fmt.Sprintf("method.Register: the factory returns a %v; settings are set in a struct, so it must return a pointer to one", t))
	}
	methods.add("method.Register", factory().Info().Name, factory)
}

// RegisterProtocol is Register for a protocol. It also panics where the protocol has
// no Family.
func RegisterProtocol(factory func() Protocol) {
	family := factory().Info().Family
	if !slices.ContainsFunc(Families, func(f FamilyInfo) bool { return f.Name == family }) {
		panic("method.RegisterProtocol: the protocol's family is none of Families")
	}
	protocols.add("method.RegisterProtocol", factory().Info().Name, factory)
}

func (r registry[T]) add(what, name string, factory func() T) {
	if !validName.MatchString(name) {
		panic(fmt.Sprintf("%s: the name %q must be lower case letters, digits and hyphens", what, name))
	}
	if other := r[name]; other != nil {
		panic(fmt.Sprintf("%s: the name %q is taken by %T; %T cannot have it as well", what, name, other(), factory()))
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

// Names lists the methods in the order of the alphabet.
func Names() []string { return slices.Sorted(maps.Keys(methods)) }

// ProtocolNames lists the protocols in the order of the alphabet.
func ProtocolNames() []string { return slices.Sorted(maps.Keys(protocols)) }
