package posenc

//go:generate go run -C asm/_gen . -dir ..
