package models

var xaiModels = Vendor{
	Types: []ModelType{
		{Name: "grok-1", Hidden: 6144, Heads: 48, HeadDim: 128, Layers: 64, Positions: 8192, Base: 1e4, Part: 1, Check: halfHeads, Rule: grokRule, QueryScale: scaledByLogarithm, ScalesRotating: true, Traps: []string{"grok_2_says_git", "grok_scales_scores_after_their_cap"}},
	},
	OtherPositions: []PositionsOf{{learned + "; files of Grok 2 have this type, too: their architectures are Grok1ForCausalLM, or Options.Type is \"grok-1\"", []string{"git"}}},
	Reuses:         []Reuse{{Type: "git", Classes: []string{"Grok1ForCausalLM", "Grok1ModelForCausalLM"}, As: "grok-1"}},
	Architectures:  []GGUFArchitecture{{Name: "grok", Layout: NeoX, BetaFast: 8, Traps: []string{"beta_fast_of_Grok"}}},
}
