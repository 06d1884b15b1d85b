package absolute

// InvFreq returns the frequencies of one axis, which the golden vectors have.
func InvFreq(s *Sinusoidal) []float64 { return s.invFreq }
