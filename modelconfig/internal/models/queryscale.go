package models

import (
	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/elementary"
	"github.com/go-posenc/posenc/modelconfig/internal/description"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
)

// scaledByPower is the scale of Beam, which is not in its configuration.
func scaledByPower(*RopeParameters) *posenc.QueryScaling {
	return &posenc.QueryScaling{Beta: 0.1, Length: 2048, Offset: 1, Rule: posenc.PowerOfRatio}
}

// scaledByBeta is the scale of Ministral 3 and Mistral 4.
func scaledByBeta(p *RopeParameters) *posenc.QueryScaling {
	beta, ok := p.Number("llama_4_scaling_beta")
	if !ok {
		return nil
	}
	length := p.OriginalPositions(1)
	p.FailIf(beta < 0 || beta > description.MaxBeta, document.ErrValue, "llama_4_scaling_beta", beta, "from 0 to 2^100")
	return &posenc.QueryScaling{Beta: beta, Length: length}
}

// scaledByObject is the same scale as files of Mistral Large 3 give it, which vLLM and SGLang read of all
// models of this code.
func scaledByObject(p *RopeParameters) *posenc.QueryScaling {
	r := p.Model
	const lengthKey, betaKey = "llama_4_scaling.original_max_position_embeddings", "llama_4_scaling.beta"
	if _, ok := r.Object("llama_4_scaling"); !ok {
		return nil
	}
	length, hasLength := r.Integer(lengthKey)
	beta, hasBeta := r.Number(betaKey)
	r.FailIf(!hasLength || length < 1, document.ErrValue, lengthKey, document.KindOf(r.Lookup(lengthKey)), "at least 1")
	r.FailIf(!hasBeta || beta < 0 || beta > description.MaxBeta, document.ErrValue, betaKey, document.KindOf(r.Lookup(betaKey)), "from 0 to 2^100")
	return &posenc.QueryScaling{Beta: beta, Length: length}
}

// scaledByLogarithm is the scale of Grok 2: ln(position)/ln(attn_temperature_len) beyond that length.
func scaledByLogarithm(p *RopeParameters) *posenc.QueryScaling {
	length, ok := p.Model.Integer("attn_temperature_len")
	if !ok || length <= 0 {
		return nil
	}
	p.Model.FailIf(length == 1, document.ErrValue, "attn_temperature_len", length, "at least 2, or 0 for no scale")
	log := elementary.Log(real(float64(max(length, 2))))
	beta, _ := log.Quo(real(1), log).Float64()
	return &posenc.QueryScaling{Rule: posenc.ClampedLog, Beta: beta, Length: length}
}

// scaledWithoutRotation is the scale of Llama 4.
func scaledWithoutRotation(p *RopeParameters) *posenc.QueryScaling {
	r := p.Model
	const tuning = "attn_temperature_tuning"
	if _, isNumber := document.ToNumber(r.Lookup(tuning)); isNumber { // as transformers 4 wrote it
		if n, _ := r.Number(tuning); n == 0 {
			return nil
		}
	} else if tuned, ok := r.Boolean(tuning); ok && !tuned {
		return nil
	}
	beta, length := document.Value{}, r.IntegerOr([]string{"floor_scale"}, 8192)
	beta.Agree(r, "attn_scale")
	if b := beta.Or(0.1); b < 0 || b > description.MaxBeta {
		r.Fail(document.ErrValue, "attn_scale", b, "from 0 to 2^100")
	}
	r.FailIf(length < 1, document.ErrValue, "floor_scale", length, "at least 1")
	return &posenc.QueryScaling{Beta: beta.Or(0.1), Length: length, Offset: 1}
}
