package models

var encodersModels = Vendor{
	Types: []ModelType{
		{Name: "jina_embeddings_v5"},
		{Name: "modernbert", Also: []string{"modernbert-decoder"}, Keys: computedHead, Hidden: 768, Heads: 12, Layers: 22, Positions: 8192, LayerTypes: &LayerTypesRule{Key: "global_attn_every_n_layers", First: 3, Others: "sliding_attention"}, Kinds: []KindDefaults{{LayerType: "full_attention", Base: 160000, BaseKeys: []string{"global_rope_theta"}, Scaled: true}, {LayerType: "sliding_attention", Base: 10000, BaseKeys: []string{"local_rope_theta"}, Scaled: true}}, Unread: []string{"position_embedding_type"}, ScalingUnread: olderRopeType, Traps: []string{"modernbert_is_not_absolute"}},
		{Name: "nomic_bert", Hidden: 768, Heads: 12, Layers: 12, Positions: 2048, Base: 1e3, Keys: &Spellings{Hidden: []string{"hidden_size", "n_embd"}, Heads: []string{"num_attention_heads", "n_head"}, Layers: []string{"num_hidden_layers", "n_layer"}, Positions: []string{"max_trained_positions"}}, BaseKeys: []string{"rope_theta", "rotary_emb_base"}, LayoutKey: "rotary_emb_interleaved", FactorKey: "rotary_scaling_factor", Rule: nomicDynamicNTK, Traps: []string{"nomic_bert_scaling"}},
		{Name: "new", Hidden: 768, Heads: 12, Layers: 12, Positions: 2048, Base: 1e4, PositionType: "rope", Check: gteScale, Traps: []string{"position_embedding_type_of_encoders"}},
		{Name: "gte", Hidden: 768, Heads: 12, Layers: 12, Positions: 8192, Base: 160000, PositionType: "rope", Check: gteScale, Traps: []string{"position_embedding_type_of_encoders"}},
		{Name: "jina_embeddings_v3", Hidden: 1024, Heads: 16, Layers: 24, Positions: 8194, Base: 2e4, BaseKeys: []string{"rope_theta", "rotary_emb_base"}},
		{Name: "xlm-roberta", Hidden: 1024, Heads: 16, Layers: 24, Positions: 8194, Base: 1e4, BaseKeys: []string{"rope_theta", "rotary_emb_base"}, PositionType: "rotary", AbsentPositionType: "absolute", Traps: []string{"position_embedding_type_of_encoders"}},
		{Name: "eurobert", Hidden: 768, Heads: 12, Layers: 12, Positions: 8192, Base: 1e4},
		{Name: "esm", Hidden: 768, Heads: 12, Layers: 12, Positions: 1026, Base: 1e4, PositionType: "rotary", AbsentPositionType: "absolute", Traps: []string{"position_embedding_type_of_encoders"}},
		{Name: "esmc", Hidden: 2560, Heads: 40, Layers: 80, Positions: 2048, Base: 1e4},
		{Name: "ultrabert", Hidden: 4096, Heads: 32, Layers: 32, Positions: 32768, LayerTypes: &LayerTypesRule{Last: 3, Others: "sliding_attention"}, Kinds: []KindDefaults{{LayerType: "full_attention", Base: 2.56e6, BlockBase: 1e4}, {LayerType: "sliding_attention", Base: 1e4}}, Rewrite: ropeOfEach},
		{Name: "neomme", Hidden: 1024, Heads: 16, HeadDim: 64, Layers: 17, Positions: 16384, Part: 1, NoPartKey: true, LayerTypes: &LayerTypesRule{Pattern: "(SSSSSF)F"}, Kinds: []KindDefaults{{LayerType: "full_attention", Base: 1e6, Partial: 0.25}, {LayerType: "sliding_attention", Base: 1e4}}},
		{Name: "roformer", Keys: computedHead, Hidden: 768, Heads: 12, Layers: 12, Positions: 1536, Base: 1e4, NoBaseKey: true, Layout: interleaved, Check: roFormer},
		{Name: "chronos2", Hidden: 512, Heads: 8, HeadDim: 64, Layers: 6, Positions: 577, Base: 1e4, Keys: &Spellings{Hidden: []string{"d_model", "hidden_size"}, Heads: []string{"num_heads", "num_attention_heads"}, HeadDim: []string{"d_kv", "head_dim"}, Layers: []string{"num_layers", "num_hidden_layers"}}, Check: countPatches, Traps: []string{"chronos_2_says_t5"}},
		{Name: "esmfold2", Refusal: "rotates the atoms of its atom_encoder by four axes of fractional positions: use posenc.RotaryConfig with the InvFreq and Axes of frequency.ESMFold2, and posenc.Rotary.CosSinFractionalAxes"},
	},
	Holders: []Holder{
		{Name: "modernvbert", Text: Part{"text_config", "modernbert"}, AnyText: true, Tower: Part{"vision_config", "siglip_vision_model"}},
		{Name: "ultravbert", Text: Part{"text_config", "ultrabert"}, AnyText: true, Tower: Part{"vision_config", "siglip_vision_model"}},
		{Name: "encoder-decoder", Also: []string{"vision-encoder-decoder"}, Text: Part{"decoder", "bert"}, AnyText: true},
	},
	OtherPositions: []PositionsOf{
		{learned, []string{"opt", "biogpt", "bert", "roberta", "camembert", "distilbert", "albert", "bart", "mbart", "nougat", "blenderbot", "longformer", "big_bird"}},
		{sinusoidal, []string{"m2m_100", "marian", "pegasus", "ctrl"}},
		{relative, []string{"mpnet", "t5", "mt5", "umt5", "longt5", "switch_transformers", "deberta", "deberta-v2", "xlnet"}},
		{ALiBi, []string{"bloom", "jais"}},
	},
	Reuses: []Reuse{
		{Type: "t5", Classes: []string{"Chronos2Model"}, As: "chronos2"},
		{Type: "t5", Classes: []string{"ChronosBoltModelForForecasting", "T5WithLMHeadModel"}, Positions: relative},
		{Type: "bert", Classes: []string{"bert_layers."}, Positions: ALiBi}, // MosaicBERT and DNABERT-2
		{Type: "florence2", Classes: []string{"modeling_florence2."}, Positions: learned},
		{Type: "electra", Classes: []string{"ElectraReranker"}, Positions: learned},
	},
	Architectures: []GGUFArchitecture{
		{Name: "neo-bert", Layout: Normal},
		{Name: "eurobert", Also: []string{"jina-bert-v3", "nomic-bert", "nomic-bert-moe"}, Layout: NeoX},
		{Name: "modern-bert", Layout: NeoX, Sliding: &GGUFSliding{IfGiven: true, Period: 3, DenseFirst: true, Base: 10000, SameDim: true}},
	},
	OtherArchitectures: []PositionsOf{
		{learned, []string{"bert"}},
		{ALiBi, []string{"bloom", "jais", "jina-bert-v2", "refact"}},
		{relative, []string{"t5", "t5encoder"}},
	},
}
