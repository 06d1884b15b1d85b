package modelconfig

var inklingModels = vendor{
	towers: []modelType{
		{name: "inkling2_vision", refusal: "rotates interleaved pairs, first those of columns, then those of rows: use posenc.RotaryConfig with Layout Interleaved, InvFreq and Axes"},
	},
	holders: []holder{
		{name: "inkling_mm_model", text: part{"text_config", "inkling_text"}},
		{name: "inkling2", text: part{"text_config", "inkling2_text"}, tower: part{"vision_config", "inkling2_vision"}},
	},
	otherPositions: []positionsOf{
		{"inkling2_text", relative},
		{"inkling_text", relative},
	},
}
