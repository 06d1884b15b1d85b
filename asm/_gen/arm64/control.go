package arm64

func swapFPCR(e *emitter) {
	control, before := e.argument("control"), e.general()
	e.op("MOVD", "FPCR, %s", before)
	e.op("MOVD", "%s, FPCR", control)
	e.result(before, "before")
	e.ret()
}
