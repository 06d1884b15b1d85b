//go:build arm64 && !purego

package kernels

func available() []Implementation { return []Implementation{Generic, NEON} }

// foreign are those that no machine with this build has.
var foreign = []Implementation{AVX2, AVX512}
