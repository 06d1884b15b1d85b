// Golden vectors: what rotations of ggml leave of heads, in the form of transformers.json.
//
// ggml.json was made with ggml at commit d99724f2b141fed9e1a9f402213506c081433465 (21 August
// 2026), its CPU back end, built by GCC 12.2 with GGML_NATIVE=ON for an x86-64 CPU with FMA, glibc
// 2.36: the compiler fuses products there.
//
//	cc -O2 ggml.c -I ggml/include libggml-cpu.a libggml-base.a -lstdc++ -lm -lpthread && ./a.out >ggml.json
#include <ggml.h>
#include <ggml-cpu.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { DIM = 64, HEADS = 3, TOKENS = 10 };
static const int32_t positions[TOKENS] = {0, 1, 2, 3, 4, 5, 511, 2051, 60001, 131071};
static const float base = 500000;

static void rotate(const char *name, enum ggml_type type, int mode, const char *layout, int last) {
	struct ggml_init_params params = {64 << 20, NULL, false};
	struct ggml_context *ctx = ggml_init(params);
	struct ggml_tensor *x = ggml_new_tensor_3d(ctx, type, DIM, HEADS, TOKENS);
	struct ggml_tensor *p = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, TOKENS);
	memcpy(p->data, positions, sizeof positions);
	for (uint64_t i = 0; i < DIM * HEADS * TOKENS; i++) {
		float v = (float)((int64_t)((i * 2654435761 + 97) % (1 << 24)) - (1 << 23)) / (1 << 21);
		if (type == GGML_TYPE_F32) {
			((float *)x->data)[i] = v;
		} else {
			((ggml_fp16_t *)x->data)[i] = ggml_fp32_to_fp16(v);
		}
	}
	struct ggml_tensor *y = ggml_rope_ext(ctx, x, p, NULL, DIM, mode, 131072, base, 1, 0, 1, 32, 1);
	struct ggml_cgraph *graph = ggml_new_graph(ctx);
	ggml_build_forward_expand(graph, y);
	ggml_graph_compute_with_ctx(ctx, graph, 1);

	printf("{\"name\": \"%s\", \"type\": \"%s\", \"layout\": \"%s\", \"head_dim\": %d, \"heads\": %d, \"base\": %g, \"positions\": [", name, type == GGML_TYPE_F32 ? "float32" : "float16", layout, DIM, HEADS, base);
	for (int t = 0; t < TOKENS; t++) {
		printf(t ? ", %d" : "%d", positions[t]);
	}
	printf("], \"after\": [\n");
	for (int t = 0; t < TOKENS; t++) {
		printf("\"");
		for (int i = 0; i < DIM * HEADS; i++) {
			if (type == GGML_TYPE_F32) {
				printf("%08x", ((uint32_t *)y->data)[t * DIM * HEADS + i]);
			} else {
				printf("%04x", ((uint16_t *)y->data)[t * DIM * HEADS + i]);
			}
		}
		printf(t < TOKENS - 1 ? "\",\n" : "\"\n");
	}
	printf("]}%s\n", last ? "" : ",");
	ggml_free(ctx);
}

int main(void) {
	printf("{\"cases\": [\n");
	rotate("ggml NEOX float32", GGML_TYPE_F32, GGML_ROPE_TYPE_NEOX, "HalfSplit", 0);
	rotate("ggml NORMAL float32", GGML_TYPE_F32, 0, "Interleaved", 0);
	rotate("ggml NEOX float16", GGML_TYPE_F16, GGML_ROPE_TYPE_NEOX, "HalfSplit", 1);
	printf("]}\n");
}
