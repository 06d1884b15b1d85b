package amd64

func swapMXCSR(e *emitter) {
	control, before := e.argument("control"), e.GP64()
	memory := e.AllocLocal(8)
	e.VSTMXCSR(memory)
	e.MOVL(memory, before.As32())
	e.MOVL(control.As32(), memory)
	e.VLDMXCSR(memory)
	e.Store(before, e.Return("before"))
	e.RET()
}
