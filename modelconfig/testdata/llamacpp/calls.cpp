// Says how llama.cpp calls ggml's rotation for the metadata of a model, and what ggml
// computes. Each line of the input is a JSON object, each line of the output its answer.
//
//     {"keys": {...}, "context": 4096}
//
// are metadata of a GGUF file. A model is made of them without data of tensors, and
// llama.cpp builds the graph of a batch of tokens: {"calls": [...], "tensors": [...]} are
// the nodes that rotate and the names of the tensors of frequency factors that the loader
// asks for. {"error": ...} says that llama.cpp does not load it. "tensors" of the question are those
// of the file among them; "other" is the question for the model that this one drafts for.
//
//     {"rotate": {"mode": 0, "n_dims": 64, ...}, "headDim": 64, "positions": [[0, 1]], "divisors": null}
//
// are arguments of ggml_rope_ext, or of ggml_rope_multi: {"rotated": [...]} is what it
// makes of a row of test data at each position, in hexadecimal.
//
// It includes headers of llama.cpp's src, so it goes with one version of it.

#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "ggml.h"
#include "gguf.h"
#include "llama-context.h"
#include "llama-model.h"
#include "llama.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstring>
#include <iostream>
#include <regex>
#include <set>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using json = nlohmann::ordered_json;

static void set_key(gguf_context * g, const std::string & key, const json & v) {
    if (v.is_boolean()) {
        gguf_set_val_bool(g, key.c_str(), v.get<bool>());
    } else if (v.is_number_integer()) {
        gguf_set_val_u32(g, key.c_str(), v.get<uint32_t>());
    } else if (v.is_number()) {
        gguf_set_val_f32(g, key.c_str(), v.get<float>());
    } else if (v.is_string()) {
        gguf_set_val_str(g, key.c_str(), v.get<std::string>().c_str());
    } else if (v.is_array() && !v.empty() && v[0].is_string()) {
        std::vector<std::string> list = v;
        std::vector<const char *> pointers;
        for (const auto & s : list) {
            pointers.push_back(s.c_str());
        }
        gguf_set_arr_str(g, key.c_str(), pointers.data(), pointers.size());
    } else if (v.is_array() && !v.empty() && v[0].is_boolean()) {
        std::vector<uint8_t> list;
        for (const auto & b : v) {
            list.push_back(b.get<bool>());
        }
        gguf_set_arr_data(g, key.c_str(), GGUF_TYPE_BOOL, list.data(), list.size());
    } else if (v.is_array() && !v.empty() && v[0].is_number_float()) {
        std::vector<float> list = v;
        gguf_set_arr_data(g, key.c_str(), GGUF_TYPE_FLOAT32, list.data(), list.size());
    } else {
        std::vector<uint32_t> list = v;
        gguf_set_arr_data(g, key.c_str(), GGUF_TYPE_UINT32, list.data(), list.size());
    }
}

static void no_data(ggml_tensor *, void *) {}

// layer_of takes the layer from the name of a node or of what it is computed from.
static int layer_of(const ggml_tensor * t, int depth) {
    std::cmatch m;
    static const std::regex suffix("-([0-9]+)( |$)"), weight("^blk\\.([0-9]+)\\.");
    if (std::regex_search(t->name, m, suffix) || std::regex_search(t->name, m, weight)) {
        return std::stoi(m[1]);
    }
    if (depth == 0) {
        return -1;
    }
    for (const ggml_tensor * s : { t->view_src, t->src[0] }) {
        if (s) {
            int layer = layer_of(s, depth - 1);
            if (layer >= 0) {
                return layer;
            }
        }
    }
    return -1;
}

static json call_of(const ggml_tensor * t) {
    const int32_t * p = t->op_params;
    float f[6];
    memcpy(f, p + 5, sizeof f);
    // The part of a head that the node is given: how far it is from the head's beginning.
    const ggml_tensor * a = t->src[0];
    size_t begin = a->view_src ? a->view_offs / ggml_element_size(a) : 0;
    size_t stride = a->ne[1] > 1 ? a->nb[1] / ggml_element_size(a) : 0;
    return {
        { "name", t->name }, { "layer", layer_of(t, 12) }, { "width", a->ne[0] }, { "heads", a->ne[1] }, { "begin", begin }, { "stride", stride },
        { "mode", p[2] }, { "n_dims", p[1] }, { "n_offs", p[15] }, { "n_ctx_orig", p[4] }, { "sections", std::vector<int>(p + 11, p + 15) },
        { "freq_base", f[0] }, { "freq_scale", f[1] }, { "ext_factor", f[2] }, { "attn_factor", f[3] }, { "beta_fast", f[4] }, { "beta_slow", f[5] },
        { "divisors", t->src[2] ? json(t->src[2]->name) : json() }, { "back", t->op == GGML_OP_ROPE_BACK },
    };
}

// open makes a context of metadata; null where llama.cpp does not.
static llama_context * open(const json & c, std::set<std::string> & asked) {
    gguf_context * g = gguf_init_empty();
    for (const auto & [key, v] : c["keys"].items()) {
        set_key(g, key, v);
    }
    llama_model_params mp = llama_model_default_params();
    mp.no_alloc = true;
    ggml_backend_dev_t devices[] = { ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU), nullptr };
    mp.devices = devices;
    llama_model * model = llama_model_init_from_user(g, no_data, nullptr, mp);
    if (!model) {
        return nullptr;
    }
    for (const auto & [name, t] : model->tensors_by_name) {
        if (name.rfind("rope_", 0) == 0) {
            asked.insert(name);
        }
    }
    // Without a file llama.cpp makes every tensor that it asks for.
    std::set<std::string> there = c.value("tensors", std::set<std::string>());
    for (auto & layer : model->layers) {
        for (ggml_tensor ** t : { &layer.rope_freqs, &layer.rope_long, &layer.rope_short }) {
            if (*t && there.count((*t)->name) == 0) {
                *t = nullptr;
            }
        }
    }
    llama_context_params cp = llama_context_default_params();
    cp.n_ctx = c.value("context", 0);
    cp.n_batch = cp.n_ubatch = 16;
    cp.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
    cp.n_threads = cp.n_threads_batch = 1;
    if (c.contains("other")) {
        std::set<std::string> ignored;
        cp.ctx_other = open(c["other"], ignored);
    }
    return llama_init_from_model(model, cp);
}

static json calls(const json & c) {
    std::set<std::string> asked;
    llama_context * ctx = open(c, asked);
    if (!ctx) {
        return { { "error", "refused" } };
    }
    json found = json::array();
    ggml_cgraph * graph = ctx->get_gf_res_reserve()->get_gf();
    for (int i = 0; i < ggml_graph_n_nodes(graph); i++) {
        const ggml_tensor * t = ggml_graph_node(graph, i);
        if (t->op == GGML_OP_ROPE || t->op == GGML_OP_ROPE_BACK) {
            found.push_back(call_of(t));
        }
    }
    return { { "calls", found }, { "tensors", asked } };
}

static json rotate(const json & c) {
    const json & r = c["rotate"];
    const int width = c["headDim"], axes = c["positions"].size(), count = c["positions"][0].size();
    ggml_init_params ip = { size_t(64) << 20, nullptr, false };
    ggml_context * ctx = ggml_init(ip);
    ggml_tensor * a = ggml_new_tensor_3d(ctx, GGML_TYPE_F32, width, 1, count);
    for (int p = 0; p < count; p++) {
        for (int k = 0; k < width; k++) {
            ((float *) a->data)[p*width + k] = float((37*k + 11) % 31 - 15) / 4;
        }
    }
    ggml_tensor * b = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, axes*count);
    for (int i = 0; i < axes*count; i++) {
        ((int32_t *) b->data)[i] = c["positions"][i/count][i%count];
    }
    ggml_tensor * d = nullptr;
    if (!c["divisors"].is_null()) {
        std::vector<float> list = c["divisors"];
        d = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, list.size());
        memcpy(d->data, list.data(), list.size()*sizeof(float));
    }
    ggml_tensor * y;
    if (r.contains("sections") && !r["sections"].is_null()) {
        std::vector<int> sections = r["sections"];
        y = ggml_rope_multi(ctx, a, b, d, r["n_dims"], sections.data(), r["mode"], r["n_ctx_orig"], r["freq_base"], r["freq_scale"],
            r["ext_factor"], r["attn_factor"], r["beta_fast"], r["beta_slow"]);
    } else {
        y = ggml_rope_ext(ctx, a, b, d, r["n_dims"], r["mode"], r["n_ctx_orig"], r["freq_base"], r["freq_scale"],
            r["ext_factor"], r["attn_factor"], r["beta_fast"], r["beta_slow"]);
    }
    ggml_cgraph * graph = ggml_new_graph(ctx);
    ggml_build_forward_expand(graph, y);
    ggml_graph_compute_with_ctx(ctx, graph, 1);
    json rows = json::array();
    for (int p = 0; p < count; p++) {
        std::string row;
        for (int k = 0; k < width; k++) {
            char digits[9];
            snprintf(digits, sizeof digits, "%08x", ((const uint32_t *) y->data)[p*width + k]);
            row += digits;
        }
        rows.push_back(row);
    }
    return { { "rotated", rows } };
}

int main() {
    setenv("GGML_NO_BACKTRACE", "1", 1);
    ggml_backend_load_all();
    llama_log_set([](ggml_log_level level, const char * text, void *) {
        if (level >= GGML_LOG_LEVEL_ERROR) {
            fputs(text, stderr);
        }
    }, nullptr);
    std::string line;
    while (std::getline(std::cin, line)) {
        // A failed assertion of llama.cpp ends the process: each line has one of its own.
        int ends[2];
        if (pipe(ends) != 0) {
            return 1;
        }
        pid_t child = fork();
        if (child == 0) {
            dup2(STDERR_FILENO, STDOUT_FILENO);
            json answer;
            try {
                json c = json::parse(line);
                answer = c.contains("rotate") ? rotate(c) : calls(c);
            } catch (const std::exception & e) {
                answer = { { "error", e.what() } };
            }
            std::string s = answer.dump();
            size_t done = 0;
            while (done < s.size()) {
                ssize_t n = write(ends[1], s.data() + done, s.size() - done);
                if (n <= 0) {
                    break;
                }
                done += n;
            }
            _exit(0);
        }
        close(ends[1]);
        std::string answer;
        char buffer[1 << 16];
        for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) {
            answer.append(buffer, n);
        }
        close(ends[0]);
        waitpid(child, nullptr, 0);
        std::cout << (answer.empty() ? "{\"error\":\"aborted\"}" : answer) << std::endl;
    }
}
