module github.com/go-posenc/posenc/examples/decoder

go 1.24.0

require (
	github.com/go-posenc/posenc v0.0.0
	github.com/nlpodyssey/safetensors v0.0.0-20250209183917-bfb01cc25f7c
)

require (
	github.com/klauspost/cpuid/v2 v2.4.2 // indirect
	golang.org/x/sys v0.41.0 // indirect
)

replace github.com/go-posenc/posenc => ../..
