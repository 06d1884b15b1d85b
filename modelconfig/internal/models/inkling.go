package models

var inklingModels = Vendor{
	Towers: []ModelType{
		{Name: "inkling2_vision", Refusal: "rotates interleaved pairs, first those of columns, then those of rows: use posenc.RotaryConfig with Layout Interleaved, InvFreq and Axes"},
	},
	Holders: []Holder{
		{Name: "inkling_mm_model", Text: Part{"text_config", "inkling_text"}},
		{Name: "inkling2", Text: Part{"text_config", "inkling2_text"}, Tower: Part{"vision_config", "inkling2_vision"}},
		{Name: "inkling2_loop", Text: Part{"text_config", "inkling2_loop_text"}, Tower: Part{"vision_config", "inkling2_vision"}},
	},
	OtherPositions: []PositionsOf{{relative, []string{"inkling2_loop_text", "inkling2_text", "inkling_text"}}},
}
