package posenc_test

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/test/exhaustive"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/kernels"
)

func negate(s []float32) {
	for i, x := range s {
		s[i] = math.Float32frombits(math.Float32bits(x) ^ 1<<31)
	}
}

// All float32 angles: cosines and sines are the nearest float32 of those of the
// reference. It runs once for both signs: the cosine is even and the sine odd,
// which kernels have to show.
func TestExhaustiveAngles(t *testing.T) {
	exhaustive.SkipUnlessAsked(t)
	const chunk, blockSize = 1 << 12, 1 << 17
	kit.RunExhaustive(t, exhaustive.Leg{
		Name:   "cosine and sine of all float32 angles",
		Blocks: 1 << 31 / blockSize,
		Counts: []string{"angles", "cosines and sines compared", "angles decided by math/big"},
		Worker: func(t *testing.T) func(block int, counts []int64) {
			angles, cos, sin := make([]float32, chunk), make([]float32, chunk), make([]float32, chunk)
			wantCos, wantSin := make([]float32, chunk), make([]float32, chunk)
			return func(block int, counts []int64) {
				for first := 0; first < blockSize; first += chunk {
					for i := range angles {
						angles[i] = math.Float32frombits(uint32(block*blockSize + first + i))
						var hard bool
						wantCos[i], wantSin[i], hard = exhaustive.CosSin(angles[i])
						if hard {
							counts[2]++
						}
					}
					for range 2 {
						for _, impl := range dispatch.Supported() {
							kernels.CosSinFloat32(impl, cos, sin, angles, 1, 1, 1)
							kit.CompareExhaustive(t, cos, wantCos, func(i int) string { return fmt.Sprintf("%s: cosine of %x", impl, angles[i]) })
							kit.CompareExhaustive(t, sin, wantSin, func(i int) string { return fmt.Sprintf("%s: sine of %x", impl, angles[i]) })
							counts[1] += 2 * chunk
						}
						counts[0] += chunk
						negate(angles)
						negate(wantSin)
					}
				}
			}
		},
	})
}

// exhaustiveLadders are those of ordinary dimensions and bases, and of models
// with scaling rules.
func exhaustiveLadders(t *testing.T) (ladders [][]float64) {
	t.Helper()
	add := func(ladder frequency.Ladder, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		ladders = append(ladders, ladder.InvFreq)
	}
	for _, base := range []float64{1e4, 1e5, 5e5, 1e6, 5e6, 8e6, 1e7, 1e9} {
		for _, dim := range []int{64, 80, 96, 128, 256} {
			add(frequency.Default(dim, base, frequency.Exact))
		}
	}
	// DeepSeek V3, Qwen 2.5 for four times its length, gpt-oss.
	add(frequency.YaRN(64, 10000, frequency.YaRNParameters{Factor: 40, OriginalMaxPositions: 4096}, frequency.Exact))
	add(frequency.YaRN(128, 1e6, frequency.YaRNParameters{Factor: 4, OriginalMaxPositions: 32768}, frequency.Exact))
	add(frequency.YaRN(64, 150000, frequency.YaRNParameters{Factor: 32, OriginalMaxPositions: 4096, Untruncated: true}, frequency.Exact))
	// Llama 3.1 and 3.2.
	for _, p := range []struct {
		dim    int
		factor float64
	}{{128, 8}, {64, 32}} {
		add(frequency.Llama3(p.dim, 500000, frequency.Llama3Parameters{Factor: p.factor, LowFreqFactor: 1, HighFreqFactor: 4, OriginalMaxPositions: 8192}, frequency.Exact))
	}
	// Phi 3 mini, short and long.
	var phi struct {
		Scaling struct {
			Short []float64 `json:"short_factor"`
			Long  []float64 `json:"long_factor"`
		} `json:"rope_scaling"`
	}
	kit.NoError(t, json.Unmarshal(kit.Must(os.ReadFile("modelconfig/testdata/transformers/configs/Phi-3-mini-128k-instruct.json")), &phi))
	parameters := frequency.LongRoPEParameters{ShortFactors: phi.Scaling.Short, LongFactors: phi.Scaling.Long, OriginalMaxPositions: 4096, Factor: 32}
	for _, parameters.SequenceLength = range []int{4096, 131072} {
		add(frequency.LongRoPE(96, 10000, parameters, frequency.Exact))
	}
	return ladders
}

// All entries of the tables of exact angles, for positions below 2^20: in rows
// that share seeds, row by row, and as sinusoidal rows.
func TestExhaustiveTables(t *testing.T) {
	exhaustive.SkipUnlessAsked(t)
	const blocks, chunks, rows = 1 << 8, 1 << 5, 1 << 7 // of positions: 2^20 in all
	ladders := exhaustiveLadders(t)
	var columns [][]float64 // of the width that kernels take
	for _, ladder := range ladders {
		columns = slices.AppendSeq(columns, slices.Chunk(ladder, kernels.Width))
	}
	kit.RunExhaustive(t, exhaustive.Leg{
		Name:   fmt.Sprintf("exact tables of %d ladders", len(ladders)),
		Blocks: len(columns) * blocks,
		Counts: []string{"angles", "cosines and sines compared", "angles decided by math/big"},
		Worker: func(t *testing.T) func(block int, counts []int64) {
			positions := make([]int32, rows)
			tables := [4][]float32{}
			for i := range tables {
				tables[i] = kit.Aligned(rows * kernels.Width)
			}
			pairs := make([]float32, 2*rows*kernels.Width) // sines and cosines, added to 0
			return func(block int, counts []int64) {
				invFreq := columns[block/blocks]
				n := len(invFreq)
				cos, sin, wantCos, wantSin := tables[0][:rows*n], tables[1][:rows*n], tables[2][:rows*n], tables[3][:rows*n]
				frequencies := make([]exhaustive.Frequency, n)
				for i, w := range invFreq {
					frequencies[i] = exhaustive.NewFrequency(w)
				}
				prepared := make([]kernels.Block, 1)
				prepared[0].Set(invFreq)
				shifts := map[kernels.Implementation][]kernels.Shift{}
				for _, impl := range dispatch.Supported() {
					shifts[impl] = make([]kernels.Shift, 1)
					shifts[impl][0].Set(impl, &prepared[0])
				}
				to := kernels.Sinusoids{Stride: 2 * n, Interleaved: true, Scaling: 1, Scale: 1}
				split := kernels.Sinusoids{Stride: n, Add: true, Scaling: 1, Scale: 1}
				compare := func(impl kernels.Implementation, how string) {
					t.Helper()
					name := func(i int) string {
						return fmt.Sprintf("%s, %s: position %d, frequency %x", impl, how, positions[i/n], invFreq[i%n])
					}
					kit.CompareExhaustive(t, cos, wantCos, name)
					kit.CompareExhaustive(t, sin, wantSin, name)
					counts[1] += int64(2 * rows * n)
					clear(cos)
					clear(sin)
				}
				for chunk := range chunks {
					kit.CountFrom(positions, int32((block%blocks*chunks+chunk)*rows), 1)
					for row, p := range positions {
						for i := range frequencies {
							var hard bool
							wantCos[row*n+i], wantSin[row*n+i], hard = frequencies[i].CosSin(p)
							if hard {
								counts[2]++
							}
						}
					}
					counts[0] += int64(rows * n)
					for _, impl := range dispatch.Supported() {
						kernels.CosSinExactRows(impl, cos, sin, n, positions, &prepared[0], &shifts[impl][0], 1, 1, false)
						compare(impl, "rows")
						if impl == kernels.Generic {
							continue // its rows are of one kind
						}
						for row, p := range positions {
							kernels.CosSinExactRow(impl, cos[row*n:][:n], sin[row*n:][:n], float64(p), &prepared[0], 1, 1)
						}
						compare(impl, "row by row")
						kernels.CosSinExactRows(impl, cos, sin, n, positions, &prepared[0], &shifts[impl][0], 1, 1, true)
						compare(impl, "rows by non-temporal stores")
						to.Sin = pairs[:2*rows*n]
						for _, to.Add = range []bool{false, true} {
							kernels.SinusoidalRows(impl, &to, positions, prepared, shifts[impl])
							for i := range cos {
								sin[i], cos[i] = pairs[2*i], pairs[2*i+1]
							}
							compare(impl, "sinusoidal rows")
							clear(pairs)
						}
						split.Sin, split.Cos = sin, cos
						kernels.SinusoidalRows(impl, &split, positions, prepared, shifts[impl])
						compare(impl, "sinusoidal rows in halves")
					}
				}
			}
		},
	})
}
