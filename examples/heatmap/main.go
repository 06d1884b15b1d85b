// Command heatmap draws position encodings as PNG pictures.
//
//	go run -C examples/heatmap .
//	go run -C examples/heatmap . -plot heat -positions 100 -dim 64 -o whisper.png whisper
//	go run -C examples/heatmap . -plot wavelength -positions 131072 -o gemma.png gemma/config.json
//
// Without arguments it draws the pictures of the documents into docs/pictures.
// There are four plots:
//
//	heat        one encoding: its values by position and dimension, or what it
//	            adds to attention scores by query and key
//	distance    dot product of two rows by the distance of their positions, or
//	            what is added to the score of a key that far before the query
//	wavelength  positions until a pair has turned once, 2π/InvFreq
//	prompt      no encoding: the positions of a prompt with two images and a
//	            video in Qwen3-VL, by package multimodal
//
// An encoding is a name of this list or the path of a model's config.json,
// whose name ends in .json and which package modelconfig reads:
//
//	vaswani marian tensor2tensor fairseq whisper musicgen mlx timesteps
//	transformerxl mae detr alibi t5 t5-decoder deberta shaw swin
//
// It is a module of its own, so that importers of posenc do not get the
// plotting library, gonum.org/v1/plot.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
)

// picture is what a run draws: the flags, and the encodings by name.
type picture struct {
	plot      string
	positions int
	dim       int
	layers    string
	output    string
	encodings []string
}

const configs = "../../modelconfig/testdata/transformers/configs/"

// documents are what a run without arguments draws.
var documents = []picture{
	{plot: "heat", positions: 100, dim: 128, output: "../../docs/pictures/sinusoidal.png", encodings: []string{"vaswani"}},
	{plot: "wavelength", positions: 131072, output: "../../docs/pictures/wavelengths.png", encodings: []string{
		configs + "Llama-2-7b-hf.json", configs + "Llama-3.1-8B.json", configs + "Qwen2.5-7B-Instruct.json", configs + "Phi-3-mini-128k-instruct.json",
	}},
	{plot: "distance", positions: 129, output: "../../docs/pictures/distances.png", encodings: []string{
		configs + "Llama-2-7b-hf.json", configs + "Llama-3.1-8B.json", configs + "Phi-3-mini-128k-instruct.json",
	}},
	{plot: "prompt", positions: 2, output: "../../docs/pictures/prompt.png"},
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("heatmap: ")
	var p picture
	flag.StringVar(&p.plot, "plot", "heat", "heat, distance, wavelength or prompt")
	flag.IntVar(&p.positions, "positions", 100, "positions drawn; LongRoPE and dynamic NTK choose their frequencies by it")
	flag.IntVar(&p.dim, "dim", 128, "dimension of sinusoidal encodings")
	flag.StringVar(&p.layers, "layers", "", "kind of layers of a config.json, such as full_attention; empty: all kinds")
	flag.StringVar(&p.output, "o", "heatmap.png", "file to write")
	flag.Parse()
	p.encodings = flag.Args()

	pictures := []picture{p}
	if len(os.Args) == 1 {
		pictures = documents
	}
	for _, p := range pictures {
		if err := p.write(); err != nil {
			log.Fatal(err)
		}
		fmt.Println(p.output)
	}
}

// write draws the picture and writes its file.
func (p picture) write() error {
	if p.positions < 2 || p.positions > 1<<20 {
		return fmt.Errorf("-positions %d: expected 2 to %d", p.positions, 1<<20)
	}
	var encodings []encoding
	for _, name := range p.encodings {
		found, err := p.find(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		encodings = append(encodings, found...)
	}
	if len(encodings) == 0 && p.plot != "prompt" {
		return fmt.Errorf("no encoding: expected some of %s, or config.json files", strings.Join(names(), ", "))
	}
	png, err := p.draw(encodings)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(p.output), 0o777); err != nil {
		return err
	}
	return os.WriteFile(p.output, png, 0o666)
}

// draw returns the picture as a PNG.
func (p picture) draw(encodings []encoding) ([]byte, error) {
	switch p.plot {
	case "heat":
		if len(encodings) != 1 {
			return nil, fmt.Errorf("-plot heat: expected one encoding, got %d (-layers chooses a kind of layers)", len(encodings))
		}
		values, err := heat(encodings[0], p.positions)
		if err != nil {
			return nil, err
		}
		return drawHeat(values)
	case "distance":
		labels := axes{title: "Dot product of two positions", x: "distance", y: "share of that at distance 0"}
		if encodings[0].add != nil {
			labels = axes{title: "What a score gets", x: "distance of the key before the query", y: encodings[0].value}
		}
		for _, e := range encodings {
			if (e.add == nil) != (encodings[0].add == nil) {
				return nil, fmt.Errorf("-plot distance: %s and %s do not share an axis: one adds to scores", encodings[0].name, e.name)
			}
		}
		return drawCurves(encodings, p.positions, labels, distances)
	case "prompt":
		if len(encodings) > 0 {
			return nil, fmt.Errorf("-plot prompt: expected no encoding, got %s", encodings[0].name)
		}
		labels := axes{title: "Positions of a prompt of Qwen3-VL: text, two images, two frames of a video", x: "token", y: "position", rising: true}
		return drawCurves([]encoding{{}}, p.positions, labels, prompt)
	case "wavelength":
		labels := axes{title: "Wavelength: positions until a pair has turned once", x: "pair", y: "positions", logarithmic: true, rising: true}
		return drawCurves(encodings, p.positions, labels, wavelengths)
	}
	return nil, fmt.Errorf("-plot %s: expected heat, distance, wavelength or prompt", p.plot)
}
