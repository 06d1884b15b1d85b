//go:build !race

package kernels

const raceDetector = false

func reads[E any]([]E)  {}
func writes[E any]([]E) {}
