package modelconfig

import "github.com/go-posenc/posenc"

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
