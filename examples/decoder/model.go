package main

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/modelconfig"
	"github.com/nlpodyssey/safetensors"
)

// shape is what config.json says beside the rotary embedding.
type shape struct {
	Layers     int     `json:"num_hidden_layers"`
	Width      int     `json:"hidden_size"`
	Hidden     int     `json:"intermediate_size"`
	QueryHeads int     `json:"num_attention_heads"`
	KeyHeads   int     `json:"num_key_value_heads"`
	HeadDim    int     `json:"head_dim"`
	Vocabulary int     `json:"vocab_size"`
	Epsilon    float32 `json:"rms_norm_eps"`
}

// layer has the weights of a layer, matrices as [outputs][inputs].
type layer struct {
	attentionNorm, hiddenNorm                 *posenc.RMSNorm
	query, key, value, output, gate, up, down []float32
}

// model is a Llama with tied embeddings.
type model struct {
	shape
	rope       *modelconfig.Rope
	scales     []float32 // of the scores of each layer
	embeddings []float32 // [vocabulary][width], which also make the logits
	layers     []layer
	norm       *posenc.RMSNorm
}

// loadModel reads the files that save_pretrained of transformers writes.
func loadModel(config, weights []byte) (*model, error) {
	m := &model{}
	if err := json.Unmarshal(config, &m.shape); err != nil {
		return nil, fmt.Errorf("config.json: %w", err)
	}

	// All that concerns positions.
	positions, err := modelconfig.HuggingFace(config)
	if err != nil {
		return nil, err
	}
	// transformers multiplies positions and frequencies in float32: so does this, to get
	// its logits.
	m.rope, err = positions.Rope(modelconfig.RopeOptions{Rounding: frequency.Float32})
	if err != nil {
		return nil, err
	}
	for _, l := range positions.Layers() { // SoftmaxScale is 1 for a Llama; not for YaRN of DeepSeek
		m.scales = append(m.scales, float32(l.SoftmaxScale/math.Sqrt(float64(m.HeadDim))))
	}

	file, err := safetensors.Deserialize(weights)
	if err != nil {
		return nil, err
	}
	matrix := func(name string, outputs, inputs int) (x []float32) {
		if err == nil {
			x, err = tensor[float32](file, safetensors.F32, name, outputs, inputs)
		}
		return x
	}
	norm := func(name string) (n *posenc.RMSNorm) {
		var weight []float32
		if err == nil {
			weight, err = tensor[float32](file, safetensors.F32, name, m.Width)
		}
		if err == nil {
			n, err = posenc.NewRMSNorm(weight, posenc.RMSNormConfig{Epsilon: m.Epsilon})
		}
		return n
	}
	queries, keys := m.QueryHeads*m.HeadDim, m.KeyHeads*m.HeadDim
	m.embeddings, m.norm = matrix("model.embed_tokens.weight", m.Vocabulary, m.Width), norm("model.norm.weight")
	for i := range m.Layers {
		name := func(part string) string { return fmt.Sprintf("model.layers.%d.%s.weight", i, part) }
		m.layers = append(m.layers, layer{
			attentionNorm: norm(name("input_layernorm")), hiddenNorm: norm(name("post_attention_layernorm")),
			query: matrix(name("self_attn.q_proj"), queries, m.Width), key: matrix(name("self_attn.k_proj"), keys, m.Width),
			value: matrix(name("self_attn.v_proj"), keys, m.Width), output: matrix(name("self_attn.o_proj"), m.Width, queries),
			gate: matrix(name("mlp.gate_proj"), m.Hidden, m.Width), up: matrix(name("mlp.up_proj"), m.Hidden, m.Width),
			down: matrix(name("mlp.down_proj"), m.Width, m.Hidden),
		})
	}
	return m, err
}

// geometry is the geometry of a cache for the given tokens.
func (m *model) geometry(capacity int) geometry {
	return geometry{layers: m.Layers, heads: m.KeyHeads, capacity: capacity, headDim: m.HeadDim}
}

// forward runs tokens that come after the first ones, which are in the cache already, and
// returns their logits, [tokens][vocabulary]. It is a prefill, of many tokens, or a decode
// step, of one.
func (m *model) forward(tokens []int32, first int, c cache) ([]float32, error) {
	positions := make([]int32, len(tokens))
	x := make([]float32, 0, len(tokens)*m.Width)
	for t, token := range tokens {
		positions[t] = int32(first + t)
		x = append(x, m.embeddings[int(token)*m.Width:][:m.Width]...)
	}
	// The cosines and sines of these positions, for all layers.
	rows, err := m.rope.Rows(positions)
	if err != nil {
		return nil, err
	}
	for l, w := range m.layers {
		normed, err := normalized(w.attentionNorm, x, len(tokens))
		if err != nil {
			return nil, err
		}
		q, k, v := multiply(w.query, normed, m.Width), multiply(w.key, normed, m.Width), multiply(w.value, normed, m.Width)
		if err := posenc.Rotate(rows.Layer(l), posenc.View[float32]{Data: q, Heads: m.QueryHeads}); err != nil {
			return nil, err
		}
		if err := c.store(l, first, rows.Layer(l), k, v); err != nil {
			return nil, err
		}
		keys, values, err := c.load(l, first+len(tokens))
		if err != nil {
			return nil, err
		}
		capacity := len(keys) / m.KeyHeads
		for i := range len(tokens) * m.QueryHeads {
			token, head := i/m.QueryHeads, i%m.QueryHeads
			from := head * m.KeyHeads / m.QueryHeads * capacity // some heads of queries share a head of keys
			seen := (first + token + 1) * m.HeadDim             // causal
			attend(q[i*m.HeadDim:][:m.HeadDim], keys[from:][:seen], values[from:][:seen], m.scales[l])
		}
		add(x, multiply(w.output, q, m.QueryHeads*m.HeadDim))

		if normed, err = normalized(w.hiddenNorm, x, len(tokens)); err != nil {
			return nil, err
		}
		gate, up := multiply(w.gate, normed, m.Width), multiply(w.up, normed, m.Width)
		for i, g := range gate {
			gate[i] = g / (1 + float32(math.Exp(-float64(g)))) * up[i]
		}
		add(x, multiply(w.down, gate, m.Hidden))
	}
	last, err := normalized(m.norm, x, len(tokens))
	return multiply(m.embeddings, last, m.Width), err
}

// attend replaces a query by the sum of the values, weighed by the softmax of the scores of
// their keys.
func attend(query, keys, values []float32, scale float32) {
	dim := len(query)
	scores := make([]float32, len(keys)/dim)
	for t := range scores {
		for i, k := range keys[t*dim:][:dim] {
			scores[t] += float32(query[i] * k)
		}
		scores[t] *= scale
	}
	highest := slices.Max(scores)
	clear(query)
	sum := float32(0)
	for t, score := range scores {
		weight := float32(math.Exp(float64(score - highest)))
		sum += weight
		for i, v := range values[t*dim:][:dim] {
			query[i] += float32(weight * v)
		}
	}
	for i := range query {
		query[i] /= sum
	}
}

// multiply returns the product of a matrix, [outputs][inputs], with each token of x.
func multiply(matrix, x []float32, inputs int) []float32 {
	y := make([]float32, 0, len(x)/inputs*(len(matrix)/inputs))
	for token := range slices.Chunk(x, inputs) {
		for weights := range slices.Chunk(matrix, inputs) {
			var sums [4]float32
			for i := 0; i < inputs; i += 4 {
				for j := range sums {
					sums[j] += float32(weights[i+j] * token[i+j])
				}
			}
			y = append(y, sums[0]+sums[1]+(sums[2]+sums[3]))
		}
	}
	return y
}

// normalized returns the hidden states of tokens after an RMSNorm.
func normalized(norm *posenc.RMSNorm, x []float32, tokens int) ([]float32, error) {
	y := slices.Clone(x)
	return y, posenc.Normalize(norm, tokens, posenc.View[float32]{Data: y, Heads: 1})
}

func add(x, y []float32) {
	for i := range x {
		x[i] += y[i]
	}
}
