package main

import "github.com/go-posenc/posenc"

// cache holds the rotated keys and the values of each layer.
type cache interface {
	// store rotates the keys of some tokens and puts them and their values behind the first
	// tokens of a layer. k and v are [tokens][heads][headDim].
	store(layer, first int, angles posenc.Angles, k, v []float32) error

	// load returns the keys and values of the first tokens, [heads][capacity][headDim].
	load(layer, tokens int) (keys, values []float32, err error)

	bytesPerToken() int // of a layer
}

// geometry is how the heads of a cache lie: [heads][capacity][headDim], so that what one
// head of queries attends to is contiguous.
type geometry struct{ layers, heads, capacity, headDim int }

func (g geometry) elements() int { return g.heads * g.capacity * g.headDim }

// view returns some tokens of a layer from the first one on.
func (g geometry) view(x []float32, first, tokens int) posenc.View[float32] {
	return posenc.View[float32]{
		Data: x[first*g.headDim:], Heads: g.heads, Tokens: tokens, TokenStride: g.headDim, HeadStride: g.capacity * g.headDim,
	}
}

// floatCache keeps keys and values as float32.
type floatCache struct {
	geometry
	keys, values [][]float32 // of each layer
}

func newFloatCache(g geometry) cache {
	c := &floatCache{geometry: g}
	for range g.layers {
		c.keys = append(c.keys, make([]float32, g.elements()))
		c.values = append(c.values, make([]float32, g.elements()))
	}
	return c
}

func (c *floatCache) bytesPerToken() int { return 2 * 4 * c.heads * c.headDim }

func (c *floatCache) store(layer, first int, angles posenc.Angles, k, v []float32) error {
	for from := 0; from < len(v); from += c.headDim { // values do not rotate
		token, head := from/c.headDim/c.heads, from/c.headDim%c.heads
		copy(c.values[layer][(head*c.capacity+first+token)*c.headDim:], v[from:from+c.headDim])
	}
	tokens := len(k) / c.heads / c.headDim
	return posenc.RotateInto(angles, c.view(c.keys[layer], first, tokens), nil, posenc.View[float32]{Data: k, Heads: c.heads})
}

func (c *floatCache) load(layer, tokens int) (keys, values []float32, err error) {
	return c.keys[layer], c.values[layer], nil
}

// q8Cache keeps keys and values in blocks of 32 numbers of 8 bits, as ggml's Q8_0 lays them
// out: a head of 32 numbers is one block.
type q8Cache struct {
	geometry
	keys, values [][]posenc.Q8_0

	loadedKeys, loadedValues []float32
}

func newQ8Cache(g geometry) cache {
	c := &q8Cache{geometry: g, loadedKeys: make([]float32, g.elements()), loadedValues: make([]float32, g.elements())}
	for range g.layers {
		c.keys = append(c.keys, make([]posenc.Q8_0, g.elements()/32))
		c.values = append(c.values, make([]posenc.Q8_0, g.elements()/32))
	}
	return c
}

func (c *q8Cache) bytesPerToken() int { return 2 * 34 * c.heads * c.headDim / 32 }

// quantized is view, in blocks.
func (c *q8Cache) quantized(x []posenc.Q8_0, first, tokens int) posenc.QuantizedView[posenc.Q8_0] {
	blocks := c.headDim / 32
	return posenc.QuantizedView[posenc.Q8_0]{View: posenc.View[posenc.Q8_0]{
		Data: x[first*blocks:], Heads: c.heads, Tokens: tokens, TokenStride: blocks, HeadStride: c.capacity * blocks,
	}}
}

func (c *q8Cache) store(layer, first int, angles posenc.Angles, k, v []float32) error {
	tokens := len(k) / c.heads / c.headDim
	return posenc.RotateIntoQuantizedKV(angles, nil,
		posenc.IntoQuantized[posenc.Q8_0, float32]{
			Dst: c.quantized(c.keys[layer], first, tokens), Src: posenc.View[float32]{Data: k, Heads: c.heads},
		},
		posenc.IntoQuantized[posenc.Q8_0, float32]{
			Dst: c.quantized(c.values[layer], first, tokens), Src: posenc.View[float32]{Data: v, Heads: c.heads},
		})
}

// load makes float32 of the cache. A fast engine reads its blocks in the dot products.
func (c *q8Cache) load(layer, tokens int) (keys, values []float32, err error) {
	options := posenc.DequantizeOptions{Tokens: tokens, HeadDim: c.headDim}
	if err := posenc.Dequantize(c.view(c.loadedKeys, 0, tokens), c.quantized(c.keys[layer], 0, tokens), options); err != nil {
		return nil, nil, err
	}
	if err := posenc.Dequantize(c.view(c.loadedValues, 0, tokens), c.quantized(c.values[layer], 0, tokens), options); err != nil {
		return nil, nil, err
	}
	return c.loadedKeys, c.loadedValues, nil
}
