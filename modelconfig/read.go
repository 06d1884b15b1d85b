package modelconfig

import (
	"errors"

	"github.com/go-posenc/posenc/modelconfig/internal/description"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
	"github.com/go-posenc/posenc/modelconfig/internal/gguf"
	"github.com/go-posenc/posenc/modelconfig/internal/huggingface"
	"github.com/go-posenc/posenc/modelconfig/internal/models"
)

// HuggingFace reads the config.json of a model on the Hugging Face Hub: the form of transformers 4
// (rope_theta, rope_scaling), the form of transformers 5 (rope_parameters, flat or by layer type), and
// the keys that single models have instead. An absent key has the default of transformers 5.24 for its
// model_type. Null means the same, except where transformers does something else with it: a null head_dim is
// the hidden size by the heads; a null base, a null part of a head and a null in place of the rope parameters
// of layers that rotate are errors, unless the class fills in its default. For a model of images or audio it reads the text model. Where no
// list has the model_type, the first of architectures stands for it, as in vLLM and SGLang; where a file
// gives the model_type of other code, its architectures and auto_map decide (Chronos-2 says t5).
// The layout is the one of the weights on the Hub; of latent attention (MLA) only the rotary part
// of a head is described ([Layer.LatentAttention]).
//
// It is an error if the type or rule is unknown, if a key about positions is unknown or misspelled,
// if keys contradict each other, and if a number is out of range. Other keys are ignored. A
// document has at most 4 MiB, 2^17 values and 64 levels; a byte order mark is ignored. docs/keys.md
// has all keys and rules, docs/models.md the types.
//
// options is at most one Options. Errors wrap ErrSyntax, ErrUnknown, ErrNotRotary, ErrAbsent, ErrValue or
// ErrContradiction; posenc.ErrConfig for several Options.
func HuggingFace(config []byte, options ...Options) (*Model, error) {
	return fromHuggingFaceFile("HuggingFace", config, options, false)
}

// Options are of the readers HuggingFace, HuggingFaceVision and GGUF.
type Options struct {
	// Type reads a description as if it were of another type: a model_type, or an architecture for
	// GGUF. A model that is built like a known one can then be read before this package knows its
	// type. Model.Type returns this type, or the type of its text model. "" means the type that the
	// description names.
	Type string
}

// Candidates returns the types for [Options] as which HuggingFace reads a config.json whose own type
// is not known: they have all of its keys about positions, so that one of them may have the model's
// code. It returns none for a known type, and for a document that HuggingFace refuses for another
// reason. It reads the document once for each known type.
func Candidates(config []byte) (types []string) {
	keys, err := document.ParseObject(config)
	name, _ := keys["model_type"].(string)
	if _, asIs := HuggingFace(config); err != nil || asIs == nil || !errors.Is(asIs, ErrUnknown) || models.Reads(name) {
		return nil
	}
	for _, names := range [][]string{models.Types.Names(), models.Holders.Names()} {
		for _, name := range names {
			if h := models.HolderOf(name); h != nil {
				if _, holds := keys[h.Text.Key].(document.Object); !holds {
					continue
				}
			}
			if _, err := HuggingFace(config, Options{Type: name}); err == nil {
				types = append(types, name)
			}
		}
		if types != nil { // a text model; files of several models need a type that holds them
			break
		}
	}
	return types
}

// HuggingFaceVision reads the vision tower of a multimodal model from its config.json: the
// file of the whole model, which has the tower under vision_config, or the object of the
// tower alone. It treats keys, layouts, limits and errors as HuggingFace does. A tower with
// learned positions (CLIP, SigLIP) is ErrNotRotary.
//
// Each patch of an image has two positions, [2][patches] for [Rope.RowsAxes]: axis 0 is the row
// of the patch, counted from the top, and axis 1 its column. RotaryConfig.Axes says which
// pair takes which axis. All towers have this order of axes, also where the model's own code has
// another. Each frame of a video has the positions of an image. [Model.Patches] says from which
// number a model counts rows and columns, and whether its patches come row by row;
// multimodal.PatchPositions writes the positions in its order.
//
// docs/models.md lists the towers and the order of their pairs. In no tower do frequencies
// depend on the length of the sequence.
func HuggingFaceVision(config []byte, options ...Options) (*Model, error) {
	return fromHuggingFaceFile("HuggingFaceVision", config, options, true)
}

// GGUF reads the metadata and the tensors of frequency factors of a GGUF file: as llama.cpp does, and as ollama
// where its converter made the file (docs/traps.md has the exceptions). keys maps keys to their values as a GGUF
// reader returns them: string, bool, any integer or float type, and slices of these or []any. An absent key has
// the default of llama.cpp or ollama for its architecture.
//
// tensors has the name of each tensor of the file, of all its parts if it is in several. Give the values of
// rope_freqs.weight, rope_factors_short.weight and rope_factors_long.weight, and nil for other tensors. Keys do
// not say whether a file has these three: the names of the others say that one is absent. examples/gguf has the
// lines from a file to both arguments.
//
// The layout is the one of the weights in the file; of latent attention (MLA) only the rotary part
// of a head is described ([Layer.LatentAttention]).
//
// A key about positions is an error if neither of the two has it, or if it is not applied. Other keys
// are ignored. It is an error if a tensor is absent that the architecture needs, if one has no values or
// another number of them than pairs rotate, and if tensors is empty where the architecture may have one of the
// three. A model has at most 4096 layers. docs/keys.md has all keys, docs/models.md the architectures.
//
// options is at most one Options. Errors are those of HuggingFace.
func GGUF(keys map[string]any, tensors map[string][]float32, options ...Options) (*Model, error) {
	return read("GGUF", options, func(as string) (*description.Description, error) { return gguf.Read(keys, tensors, as) })
}

func fromHuggingFaceFile(function string, config []byte, options []Options, vision bool) (*Model, error) {
	return read(function, options, func(as string) (*description.Description, error) {
		return huggingface.Read(function, config, as, vision)
	})
}

func read(function string, options []Options, describe func(as string) (*description.Description, error)) (*Model, error) {
	o, err := one(function, options)
	if err != nil {
		return nil, err
	}
	d, err := describe(o.Type)
	if err != nil {
		return nil, err
	}
	return modelOf(d, function)
}
