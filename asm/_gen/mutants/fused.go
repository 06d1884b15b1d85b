package main

// fusedMutants lack a conversion without which the compiler fuses a product with a
// sum, on the architectures where it does.
var fusedMutants = []mutant{
	{name: "go-arm64/rotate/fused-difference", file: "generic/rotate.go", tests: tests{names: "TestRotate", packages: "./generic"},
		old: `return float32(x1*c) - float32(x2*s),`, new: `return x1*c - x2*s,`,
		wrong: "the compiler fuses a product with the difference"},
	{name: "go-v3/rotate/fused-sum", file: "generic/rotate.go", tests: tests{names: "TestRotate", packages: "./generic"},
		old: `float32(x2*c) + float32(x1*s)`, new: `x2*c + x1*s`,
		wrong: "the compiler fuses a product with the sum"},
	{name: "go-arm64/matrix-product/fused", file: "generic/product.go", tests: tests{names: "TestOperations", operations: "RMSNormF32|DotProductsF32"},
		old: `s[i%16] += float32(x * y)`, new: `s[i%16] += x * y`,
		wrong: "the compiler fuses a product with the sum"},
	{name: "go-arm64/matrix-product/fused-multiple", file: "generic/product.go", tests: tests{names: "TestOperations", operations: "AddMultiplesF32"},
		old: `y[i] += float32(factor * x[i])`, new: `y[i] += factor * x[i]`,
		wrong: "the compiler fuses a multiple with the sum"},
	{name: "go-arm64/add/fused", file: "generic/add.go", tests: tests{names: "TestOperations", operations: "AddScaledF32"},
		old: `float32(x*scale) + y`, new: `x*scale + y`,
		wrong: "the compiler fuses the product with the sum"},
	{name: "go-arm64/bias/fused", file: "generic/bias.go", tests: tests{names: "TestOperations", operations: "AddDistanceF32|SubAbsoluteDistanceF32"},
		old: `y[i] += float32(slope * float32(first+i))`, new: `y[i] += slope * float32(first+i)`,
		wrong: "the compiler fuses slope*distance with the sum"},
	{name: "go-arm64/bias/fused-magnitude", file: "generic/bias.go", tests: tests{names: "TestOperations", operations: "AddDistanceF32|SubAbsoluteDistanceF32"},
		old: `y[i] -= float32(slope * float32(max(d, -d)))`, new: `y[i] -= slope * float32(max(d, -d))`,
		wrong: "the compiler fuses slope*magnitude with the sum"},
}
