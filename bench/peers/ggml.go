//go:build ggml && cgo

package peers

/*
#cgo LDFLAGS: -lggml-cpu -lggml-base -lstdc++ -lm -lpthread
#include <stdint.h>
#include <stdlib.h>
#include <ggml.h>
#include <ggml-cpu.h>

typedef struct {
	struct ggml_cgraph *graph;
	struct ggml_cplan plan;
} store_graph;

static struct ggml_tensor *tensor(struct ggml_context *c, enum ggml_type type, int64_t n0, int64_t n1, int64_t n2, void *data) {
	struct ggml_tensor *t = ggml_new_tensor_3d(c, type, n0, n1, n2);
	t->data = data;
	return t;
}

// new_store_graph returns the graph of layers that rotate and store keys as llama.cpp does. All have
// the same memory, and rotate in place, as they do where llama.cpp allocates a graph.
static store_graph *new_store_graph(enum ggml_type type, int mode, int64_t dim, int64_t heads, int64_t tokens, int64_t rows, float base, int layers,
                                    float *x, int32_t *positions, int64_t *slots, void *cache) {
	struct ggml_init_params params = {(8 + 4 * layers) * ggml_tensor_overhead() + ggml_graph_overhead(), NULL, true};
	struct ggml_context *c = ggml_init(params);
	struct ggml_tensor *k = tensor(c, GGML_TYPE_F32, dim, heads, tokens, x);
	struct ggml_tensor *at = tensor(c, GGML_TYPE_I32, tokens, 1, 1, positions);
	struct ggml_tensor *to = tensor(c, GGML_TYPE_I64, tokens, 1, 1, slots);
	struct ggml_tensor *all = tensor(c, type, dim * heads, rows, 1, cache);
	store_graph *s = calloc(1, sizeof *s);
	s->graph = ggml_new_graph(c);
	for (int i = 0; i < layers; i++) {
		struct ggml_tensor *r = ggml_rope_ext_inplace(c, k, at, NULL, dim, mode, 0, base, 1, 0, 1, 0, 0);
		ggml_build_forward_expand(s->graph, ggml_set_rows(c, all, ggml_view_2d(c, r, dim * heads, tokens, r->nb[2], 0), to));
	}
	struct ggml_threadpool_params one = ggml_threadpool_params_default(1);
	s->plan = ggml_graph_plan(s->graph, 1, ggml_threadpool_new(&one));
	s->plan.work_data = malloc(s->plan.work_size);
	return s;
}

static void compute(store_graph *s) { ggml_graph_compute(s->graph, &s->plan); }
*/
import "C"

import (
	"runtime"
	"sync"
	"unsafe"

	"github.com/klauspost/cpuid/v2"

	"github.com/go-posenc/posenc"
)

// ggmlTypes has the types that posenc writes too.
var ggmlTypes = map[string]C.enum_ggml_type{
	"q8_0": C.GGML_TYPE_Q8_0, "q5_1": C.GGML_TYPE_Q5_1, "q5_0": C.GGML_TYPE_Q5_0,
	"q4_1": C.GGML_TYPE_Q4_1, "q4_0": C.GGML_TYPE_Q4_0, "iq4_nl": C.GGML_TYPE_IQ4_NL,
}

var initializeGGML = sync.OnceFunc(func() { C.ggml_cpu_init() })

// pinned is what graphs have pointers to. Nothing frees them.
var pinned runtime.Pinner

func ggmlPeers() ([]Peer, []string) {
	vectors := "AVX2"
	if C.ggml_cpu_has_avx512() != 0 {
		vectors = "AVX-512"
		if !cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512VL) {
			return nil, []string{"ggml: built for AVX-512, which this CPU does not have"}
		}
	}
	return []Peer{{
		Name: "ggml", Version: C.GoString(C.ggml_version()) + ", " + vectors, Computes: "ggml_rope_ext in place, then ggml_set_rows",
		Accuracy: "error of the float32 angle, which grows with the pair", Store: ggmlStore,
	}}, nil
}

func ggmlStore(format string, layout posenc.Layout, x []float32, positions []int32, cache []byte, slots []int64, heads, dim int, base float64, layers int) func() {
	of, found := ggmlTypes[format]
	if !found {
		return nil
	}
	initializeGGML()
	mode := C.int(C.GGML_ROPE_TYPE_NORMAL)
	if layout == posenc.HalfSplit {
		mode = C.GGML_ROPE_TYPE_NEOX
	}
	for _, data := range []any{&x[0], &positions[0], &slots[0], &cache[0]} {
		pinned.Pin(data)
	}
	rows := C.size_t(len(cache)) / C.ggml_row_size(of, C.int64_t(heads*dim))
	s := C.new_store_graph(of, mode, C.int64_t(dim), C.int64_t(heads), C.int64_t(len(positions)), C.int64_t(rows), C.float(base), C.int(layers),
		(*C.float)(&x[0]), (*C.int32_t)(&positions[0]), (*C.int64_t)(&slots[0]), unsafe.Pointer(&cache[0]))
	return func() { C.compute(s) }
}
