//go:build purego || !(amd64 || arm64)

package kernels

func available() []Implementation { return []Implementation{Generic} }

// foreign are those that no machine with this build has.
var foreign = []Implementation{AVX2, AVX512, NEON}
