package kit

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"path"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/kernels"
)

// Case is what the tests know of one exported function or method. TestCases and FuzzCases
// run over the cases of a package.
type Case struct {
	Function string // as errors name it behind the package: "Rotate", "Rotary.CosSin"

	// Call makes the arguments of one call, and says what the call is to do. nil: there
	// are only digests.
	Call func(a *Arguments) Call

	// NeverFails says that the function returns no error.
	NeverFails bool

	// Times multiplies how many right calls are made, for what has many kinds of them. 0
	// means 1.
	Times int

	// OnStack makes calls whose slices are arrays of its own: nothing may make them
	// escape, and the calls allocate nothing.
	OnStack func() error

	// Long makes calls of sizes beyond what a kernel may work on at once: CallElements, or
	// kernels.MaxCallElements where that is 0.
	Long         func() error
	CallElements int

	// NonTemporal says that a call for many tokens writes by non-temporal stores, on an
	// implementation that has them.
	NonTemporal bool

	// Digests adds results for fixed inputs. NoDigest says that there are none of them.
	Digests  func(add AddDigest)
	NoDigest bool

	// RoundsTwice says that the function goes on from results in the type of the elements.
	RoundsTwice bool
}

// Call is a call with its arguments.
type Call struct {
	Run func() error

	// Want does by plain loops over the documentation's formula what Run does, to the
	// same memory, or panics where a value that Run made is wrong. nil: results are those of
	// generic.
	Want func()

	// Right reports whether the arguments are what the documentation allows. nil: not
	// known.
	Right func() bool

	// Parts cuts the work of the call into groups of calls: each group runs on a
	// goroutine of its own, the calls of a group one after another. nil: it cannot be
	// cut.
	Parts func(c *Choices) [][]func() error

	// Allocates is how many bytes a call may allocate that succeeds: with 0 none.
	Allocates uint64
}

var (
	cases       []Case
	packageName string // under test, as errors have it
)

// Register adds a case of the package under test:
//
//	var _ = kit.Register(kit.Case{Function: "Rotate", ...})
func Register(c Case) struct{} {
	namePackage()
	cases = append(cases, c)
	return struct{}{}
}

// namePackage sets packageName, called by a function that the tests of the package call.
func namePackage() {
	caller, _, _, _ := runtime.Caller(2)
	name, _, _ := strings.Cut(path.Base(runtime.FuncForPC(caller).Name()), ".")
	packageName = strings.TrimSuffix(name, "_test")
}

// TestCases runs what is the same for all operations over their cases, which stand beside
// the other tests of each.
func TestCases(t *testing.T) {
	t.Run("complete", checkComplete)
	t.Run("digests", checkDigests)
	program := newInstrumented(t)
	if slices.ContainsFunc(cases, func(c Case) bool { return c.Call != nil }) {
		t.Run("calls", runCases)
		t.Run("flushing", checkFlushing)
		t.Run("upper-halves", func(t *testing.T) { checkUpperHalves(t, program) })
		t.Run("fences", func(t *testing.T) { checkFences(t, program) })
	}
	if slices.ContainsFunc(cases, func(c Case) bool { return c.Long != nil }) {
		t.Run("long", longCalls)
		t.Run("bounded", func(t *testing.T) { program.run(t, "TestCases/long") })
	}
}

// sortedCases returns the cases by name.
func sortedCases() []Case {
	sorted := slices.Clone(cases)
	slices.SortFunc(sorted, func(a, b Case) int { return strings.Compare(a.Function, b.Function) })
	for i := range sorted[1:] {
		if sorted[i].Function == sorted[i+1].Function {
			panic("two cases of " + sorted[i].Function)
		}
	}
	return sorted
}

// caseRunner runs calls of the cases of a package.
type caseRunner struct{ memory *argumentMemory }

func newCaseRunner(t testing.TB) *caseRunner { return &caseRunner{newArgumentMemory(t)} }

// runCases makes right calls and any calls of every case, each on every implementation:
//
//   - right ones succeed and give what the formula gives, to the last bit, wherever their
//     slices lie: at guard pages too;
//   - cut into parts, they give the same bits from many goroutines;
//   - two slices that share bytes are an error, or change nothing in the results;
//   - a view of more tokens than the call is an error, if no slots say which tokens are meant;
//   - they allocate nothing, where the case does not say otherwise;
//   - any calls do not panic, touch nothing beyond their slices, and fail with an error
//     that is as errors.go says, or succeed and write nothing but their results.
func runCases(t *testing.T) {
	readVariable()
	r := newCaseRunner(t)
	for i, c := range sortedCases() {
		if c.Call == nil {
			continue
		}
		t.Run("function="+c.Function, func(t *testing.T) {
			random := c.rand(0)
			shape := func() []byte {
				s := make([]byte, 400)
				for i := range s {
					s[i] = byte(random.Uint32())
				}
				return s
			}
			for range Rounds(100 * max(c.Times, 1)) {
				r.everywhere(t, &c, inputs{shape: shape()})
			}
			for n := range Rounds(len(largeShapes) * max(c.Times, 1)) {
				r.everywhere(t, &c, inputs{shape: shape(), large: &largeShapes[(n+i)%len(largeShapes)]})
			}
			for range Rounds(60 * max(c.Times, 1)) {
				r.everywhere(t, &c, inputs{shape: shape(), place: atGuards})
			}
			all := dispatch.Supported()
			for n := range Rounds(40 * max(c.Times, 1)) {
				r.overlapping(t, all[n%len(all)], &c, inputs{shape: shape()})
			}
			for range Rounds(40 * max(c.Times, 1)) {
				r.spareTokens(t, all[0], &c, shape())
			}
			for range Rounds(30) {
				r.parts(t, &c, inputs{shape: shape()}, Choices(shape()))
			}
			for range Rounds(20) {
				r.allocations(t, &c, inputs{shape: shape()})
			}
			r.bothKinds(t, &c, shape)
		})
	}
}

// bothKinds makes calls of any arguments, which are neither all right nor all wrong.
func (r *caseRunner) bothKinds(t *testing.T, c *Case, shape func() []byte) {
	right, wrong := false, c.NeverFails
	for tries := 0; tries < Rounds(60) || !right || !wrong; tries++ {
		if tries == 1000 {
			t.Fatalf("of arguments of any kind: succeeded %t, failed %t", right, wrong)
		}
		failed := r.everywhere(t, c, inputs{shape: shape(), data: shape()[:32], place: anywhere}) != nil
		right, wrong = right || !failed, wrong || failed
	}
}

// FuzzCases lets bytes choose a case and its arguments.
func FuzzCases(f *testing.F) {
	list := slices.DeleteFunc(sortedCases(), func(c Case) bool { return c.Call == nil })
	for i := range list {
		for kind, shape := range []string{
			"",
			"\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08",
			"\x09\x07\x05\x08\x09\x0b\x0d\x08\x0f\x08\x09\x0a\x0b\x05\x0d\x0e\x08\x07\x09\x0b\x0d\x0f\x08\x0a\x0c\x0e\x05\x07\x09\x0b\x0d\x0f",
			"\x08\x10\x20\x03\x08\x18\x28\x05\x05\x00\x10\x20\x30\x01\x11\x21\x31\x04\x14\x24\x34\x05\x15\x25\x35\x06\x16\x26\x36\x07\x17\x27",
		} {
			f.Add(uint8(i), uint8(kind), []byte(shape), []byte("\x00\x00\x80\x3f\x01\x00\x00\x00\x00\x00\xc0\x7f"))
		}
	}
	r := newCaseRunner(f)
	f.Fuzz(func(t *testing.T, function, kind uint8, shape, data []byte) {
		c := &list[int(function)%len(list)]
		in := inputs{shape: shape, data: append([]byte{}, data...)}
		if len(data) == 0 {
			in.data = []byte{0}
		}
		switch kind % 4 {
		case 0:
			r.everywhere(t, c, in)
		case 1:
			in.place = atGuards
			r.everywhere(t, c, in)
		case 2:
			r.parts(t, c, in, Choices(data))
		default:
			in.place = anywhere
			r.everywhere(t, c, in)
		}
	})
}

// inputs are what the arguments of a call are made of.
type inputs struct {
	shape     []byte
	data      []byte  // what the memory holds, over and over; nil: random elements
	magnitude float32 // random elements of this size to twice it, unless it is 0
	place     place
	large     *largeShape // nil: now and then one
	over      *overlay    // two slices share bytes, which otherwise lie one by one
	spare     int         // number of the view, from 1, that has more tokens than the call; 0: none
}

// meantRight says that no argument is left to chance that a call may refuse.
func (in *inputs) meantRight() bool { return in.place != anywhere && in.data == nil }

// place says where slices lie.
type place uint8

const (
	oneByOne place = iota // behind each other, misaligned; the arguments are right
	atGuards              // each next to a guard page; the arguments are right
	aligned               // behind each other, on cache lines; the arguments are right
	anywhere              // anywhere, over each other too; the arguments are of any kind
)

// made is a call, and what the memory held before it.
type madeCall struct {
	*Arguments
	Call
	function string
	before   snapshot
}

func (r *caseRunner) make(c *Case, in inputs) *madeCall {
	a := newArguments(r.memory, in)
	call := c.Call(a)
	a.finish()
	return &madeCall{a, call, c.Function, r.memory.save()}
}

// run makes the call, which may neither panic nor allocate out of proportion.
func (m *madeCall) run(t testing.TB, what string) error {
	t.Helper()
	most := max(m.Allocates, 1<<20)
	var err error
	allocated := AllocatedBytes()
	reason, functions := Fault(func() { err = m.Run() })
	allocated = AllocatedBytes() - allocated
	if reason != nil {
		t.Fatalf("%s: %v in %s", what, reason, functions)
	}
	if allocated > most {
		t.Errorf("%s: %d bytes allocated, want at most %d", what, allocated, most)
	}
	return err
}

// again puts back what the memory held before the call, which can then be made once more.
func (m *madeCall) again() { m.memory.restore(m.before) }

// expected is what a call has to do.
type expected struct {
	*madeCall
	err   error
	after snapshot
}

// expect makes the call on generic, and compares it with the formula.
func (r *caseRunner) expect(t testing.TB, c *Case, in inputs) expected {
	t.Helper()
	defer dispatch.Use(kernels.Generic)()
	what := c.Function + " on generic"
	m := r.make(c, in)
	right, known := true, m.Right != nil || in.meantRight()
	if !in.meantRight() && known {
		right = m.Right()
	}
	err := m.run(t, what)
	got := r.memory.save()
	if known && right != (err == nil) {
		t.Fatalf("%s: right %t, error %v", what, right, err)
	}
	want := got
	if err == nil && m.Want != nil {
		m.again()
		m.Want()
		want = r.memory.save()
		r.memory.restore(got)
	}
	r.check(t, what, m, err, want)
	return expected{m, err, want}
}

// everywhere makes the call on every implementation, and compares it with what is
// expected.
func (r *caseRunner) everywhere(t testing.TB, c *Case, in inputs) error {
	t.Helper()
	want := r.expect(t, c, in)
	for _, impl := range dispatch.Supported() {
		if impl != kernels.Generic {
			r.on(t, impl, want)
		}
	}
	return want.err
}

// on makes the call on an implementation.
func (r *caseRunner) on(t testing.TB, impl kernels.Implementation, want expected) {
	t.Helper()
	defer dispatch.Use(impl)()
	what := want.function + " on " + impl.String()
	want.again()
	err := want.run(t, what)
	if (err == nil) != (want.err == nil) {
		t.Fatalf("%s: error %v, on generic %v", what, err, want.err)
	}
	r.check(t, what, want.madeCall, err, want.after)
}

// check compares the memory after a call with what it is to be: the results, up to the
// payloads of NaNs, and everything else to the bit.
func (r *caseRunner) check(t testing.TB, what string, m *madeCall, err error, want snapshot) {
	t.Helper()
	untouched := m.before.clone()
	if err != nil {
		if !WellFormed(err) || !strings.HasPrefix(err.Error(), packageName+"."+m.function+": ") {
			t.Errorf("%s: the error %q", what, err)
		}
	} else {
		for _, results := range m.results {
			results(&resultCheck{t: t, what: what, memory: r.memory, want: want, untouched: untouched})
		}
	}
	if at, arena := r.memory.differs(untouched); arena >= 0 {
		t.Fatalf("%s: byte %d of arena %d was written and is not to be; error %v", what, at, arena, err)
	}
}

// parts does the work of a right call at once and in parts, several times, on every
// implementation.
func (r *caseRunner) parts(t testing.TB, c *Case, in inputs, choices Choices) {
	t.Helper()
	want := r.expect(t, c, in)
	if want.err != nil || want.Parts == nil {
		return
	}
	for _, impl := range dispatch.Supported() {
		r.partsOn(t, impl, slices.Clone(choices), want)
	}
}

func (r *caseRunner) partsOn(t testing.TB, impl kernels.Implementation, choices Choices, want expected) {
	t.Helper()
	defer dispatch.Use(impl)()
	for i := range 2 {
		what := fmt.Sprintf("%s on %s, in parts, time %d", want.function, impl, i)
		want.again()
		concurrently(want.Parts(&choices), func(calls []func() error) {
			for _, call := range calls {
				if err := call(); err != nil {
					t.Errorf("%s: %v", what, err)
				}
			}
		})
		r.check(t, what, want.madeCall, nil, want.after)
	}
}

// allocations makes a right call several times on every implementation. Results go on from
// results.
func (r *caseRunner) allocations(t *testing.T, c *Case, in inputs) {
	t.Helper()
	m := r.make(c, in)
	for _, impl := range dispatch.Supported() {
		restore := dispatch.Use(impl)
		if m.Allocates == 0 {
			if n := testing.AllocsPerRun(2, func() { _ = m.Run() }); n != 0 {
				t.Errorf("%s on %s: %v allocations", c.Function, impl, n)
			}
		}
		if c.OnStack != nil {
			var err error
			if n := testing.AllocsPerRun(2, func() { err = errors.Join(err, c.OnStack()) }); n != 0 || err != nil {
				t.Errorf("%s on %s, arguments on the stack: %v allocations, error %v", c.Function, impl, n, err)
			}
		}
		restore()
	}
}

// AllocatedBytes returns the bytes that were ever allocated. Package runtime/metrics counts
// small objects late, at a collection, say, that another call then seems to have caused.
func AllocatedBytes() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// resultCheck compares slices of the memory with what they are to be.
type resultCheck struct {
	t         testing.TB
	what      string
	memory    *argumentMemory
	want      snapshot
	untouched snapshot // of which the compared slices become what they are

	count, different *int           // elements; nil: one that differs is an error
	each             func(s []byte) // takes the slices instead
}

func checkResult[T any](c *resultCheck, s []T) {
	c.t.Helper()
	if len(s) == 0 {
		return
	}
	got := BytesOf(s)
	if len(got) == 0 {
		return
	}
	if c.each != nil {
		c.each(got)
		return
	}
	wantBytes := c.want.at(c.memory, got)
	want := sliceOf[T](wantBytes, len(s))
	if c.count != nil {
		*c.count += len(s)
		for i := range s {
			if !sameValue(s[i], want[i]) {
				*c.different++
			}
		}
		return
	}
	copy(c.untouched.at(c.memory, got), got)
	if bytes.Equal(got, wantBytes) {
		return
	}
	for i := range s {
		if !sameValue(s[i], want[i]) {
			c.t.Fatalf("%s: element %d of %d is %v (%x), want %v (%x)", c.what, i, len(s), s[i], BytesOf(s[i:i+1]), want[i], BytesOf(want[i:i+1]))
		}
	}
}

// sameValue reports equal bits or two NaNs.
func sameValue[T any](a, b T) bool {
	switch a := any(a).(type) {
	case float32:
		return Same(a, any(b).(float32))
	case posenc.Float16:
		return Float16Numbers.Same(uint16(a), uint16(any(b).(posenc.Float16)))
	case posenc.BFloat16:
		return Bfloat16Numbers.Same(uint16(a), uint16(any(b).(posenc.BFloat16)))
	case float64:
		b := any(b).(float64)
		return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
	}
	return any(a) == any(b)
}

// rand returns random numbers for a purpose. They depend on no other case.
func (c *Case) rand(purpose uint64) *rand.Rand {
	seed := fnv.New64a()
	seed.Write([]byte(c.Function))
	return NewRand(seed.Sum64() + purpose)
}
