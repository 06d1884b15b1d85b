package modelconfig

import "github.com/go-posenc/posenc"

// QueryScaling returns how the queries of a layer are scaled by their position, for
// posenc.QueryScales. layer is one of Layers. It returns false if the layer does not scale
// them. Scale whole queries, after the rotation if there is one; with latent attention this
// includes the elements without positions.
//
//   - Llama 4 scales queries in layers that do not rotate, by attn_scale and floor_scale,
//     unless attn_temperature_tuning is false or 0. GGUF files do not have these keys;
//     llama.cpp uses 0.1 and 8192.
//   - Ministral 3 and Mistral 4 scale queries in all layers, by llama_4_scaling_beta and
//     original_max_position_embeddings of the rope parameters; in GGUF files by
//     attention.temperature_scale (also in the architecture of DeepSeek V2).
//   - Beam scales queries in layers that do not rotate, by a power of the position.
//
// [Model.LearnedQueryScaling] is for scales that a model learns.
func (m *Model) QueryScaling(layer Layer) (posenc.QueryScaling, bool) {
	if m == nil || m.queryScale == nil || m.scalesRotating != layer.Rotates {
		return posenc.QueryScaling{}, false
	}
	return *m.queryScale, true
}

// LearnedQueryScaling returns the ends of the names of two tensors: a scale and a bias for
// each head, by which the queries of a layer are scaled by their position, for
// posenc.LogQueryScales. layer is one of Layers. It returns false if the layer has none.
// Mistral Large 4 has them in all layers, for the attention (self_attn) and, under the same
// names, for the indexer.
func (m *Model) LearnedQueryScaling(layer Layer) (scale, bias string, ok bool) {
	if m == nil || m.scalingTensor == "" {
		return "", "", false
	}
	return m.scalingTensor + ".scale", m.scalingTensor + ".bias", true
}

// scaledByPower is the scale of Beam, which is not in its configuration.
func scaledByPower(*ropeParameters) *posenc.QueryScaling {
	return &posenc.QueryScaling{Beta: 0.1, Length: 2048, Offset: 1, Rule: posenc.PowerOfRatio}
}

// scaledByBeta is the scale of Ministral 3 and Mistral 4.
func scaledByBeta(p *ropeParameters) *posenc.QueryScaling {
	beta, ok := p.number("llama_4_scaling_beta")
	if !ok {
		return nil
	}
	length := p.originalPositions(1)
	p.failIf(beta < 0 || beta > maxBeta, ErrValue, "llama_4_scaling_beta", beta, "from 0 to 2^100")
	return &posenc.QueryScaling{Beta: beta, Length: length}
}

// scaledWithoutRotation is the scale of Llama 4.
func scaledWithoutRotation(p *ropeParameters) *posenc.QueryScaling {
	r := p.model
	const tuning = "attn_temperature_tuning"
	if _, isNumber := toNumber(r.lookup(tuning)); isNumber { // as transformers 4 wrote it
		if n, _ := r.number(tuning); n == 0 {
			return nil
		}
	} else if tuned, ok := r.boolean(tuning); ok && !tuned {
		return nil
	}
	beta, length := value{}, r.integerOr([]string{"floor_scale"}, 8192)
	beta.agree(r, "attn_scale")
	if b := beta.or(0.1); b < 0 || b > maxBeta {
		r.fail(ErrValue, "attn_scale", b, "from 0 to 2^100")
	}
	r.failIf(length < 1, ErrValue, "floor_scale", length, "at least 1")
	return &posenc.QueryScaling{Beta: beta.or(0.1), Length: length, Offset: 1}
}

// ggufQueryScale says which keys scale the queries of an architecture.
type ggufQueryScale uint8

const (
	queriesUnscaled      ggufQueryScale = iota
	scaledBeyondOriginal                // temperature_scale, by the original length
	scaledBeyondLength                  // temperature_scale, by temperature_length
	scaledNoPEIfWindowed                // layers without rotation, in models with a window
)

func (r *ggufReader) queryScale(arch *ggufArchitecture, original int, windowed bool) *posenc.QueryScaling {
	const scaleKey, lengthKey = "attention.temperature_scale", "attention.temperature_length"
	beta, length, key := 0.0, 0, lengthKey
	switch arch.queryScale {
	case scaledBeyondOriginal:
		beta, length, key = r.number(scaleKey, 0), original, "rope.scaling.original_context_length"
	case scaledBeyondLength:
		beta, length = r.number(scaleKey, 0), r.integer(lengthKey, 0)
	case scaledNoPEIfWindowed:
		if windowed {
			return &posenc.QueryScaling{Beta: 0.1, Length: 8192, Offset: 1}
		}
	}
	if beta == 0 {
		return nil
	}
	r.failIf(beta < 0 || beta > maxBeta, ErrValue, scaleKey, beta, "from 0 to 2^100")
	r.failIf(length < 1, ErrValue, key, length, "at least 1 with %s", scaleKey)
	return &posenc.QueryScaling{Beta: beta, Length: length}
}
