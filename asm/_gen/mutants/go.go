package main

var (
	fenceTests       = tests{names: "TestNonTemporalCallsEndWithFence", packages: "."}
	upperHalvesTests = tests{names: "TestUpperHalvesInUse"}
)

// goMutants are of the Go code that calls kernels, and of plain Go that lacks a conversion
// without which the compiler fuses a product with a sum, on the architectures where it
// does.
var goMutants = []group{
	{"go/fence", "internal/cossin/table.go", fenceTests, []fault{
		{"table", "a table is written without a fence", `kernels.FenceStores(dispatch.Implementation())`, `_, _ = kernels.FenceStores, dispatch.Implementation`},
	}},
	{"go/fence", "internal/cossin/frequencies.go", fenceTests, []fault{
		{"rows", "the rows of a Rotary are written without a fence", `to.End()`, ``},
	}},
	{"go/fence", "internal/cossin/ladder.go", tests{names: "TestCases", packages: "."}, []fault{
		{"no-ladder", "rows of a call's own frequencies are written without a fence", `whole.End()`, ``},
	}},
	{"go/fence", "absolute/sinusoidal_rows.go", tests{names: "TestCases", packages: "./absolute"}, []fault{
		{"sinusoidal", "rows of an embedding are written without a fence", `table.End()`, ``},
	}},
	{"go/fence", "internal/rope/into.go", fenceTests, []fault{
		{"rotate-into", "RotateInto ends without a fence", `if nonTemporal {; kernels.FenceStores(dispatch.Implementation())`, `if false {; kernels.FenceStores(dispatch.Implementation())`},
	}},
	{"go/upper-halves", "kernels/upperhalves.go", upperHalvesTests, []fault{
		{"none", "plain Go runs with upper halves in use", `clearUpperHalves(clearing)`, ``},
	}},
	{"go/upper-halves", "kernels/cossin.go", upperHalvesTests, []fault{
		{"block", "a block is set with upper halves in use", `BeforeFMA(); for i, w`, `for i, w`},
		{"row", "a row of plain Go is made with upper halves in use", `BeforeFMA(); generic.CosSinExactAt(`, `generic.CosSinExactAt(`},
	}},
	{"go-arm64/rotate", "generic/rotate.go", tests{names: "TestRotate", packages: "./generic"}, []fault{
		{"fused-difference", "the compiler fuses a product with the difference", `return float32(x1*c) - float32(x2*s),`, `return x1*c - x2*s,`},
	}},
	{"go-v3/rotate", "generic/rotate.go", tests{names: "TestRotate", packages: "./generic"}, []fault{
		{"fused-sum", "the compiler fuses a product with the sum", `float32(x2*c) + float32(x1*s)`, `x2*c + x1*s`},
	}},
	{"go-arm64/matrix-product", "generic/product.go", tests{names: "TestOperations", operations: "RMSNormF32|DotProductsF32"}, []fault{
		{"fused", "the compiler fuses a product with the sum", `s[i%16] += float32(x * y)`, `s[i%16] += x * y`},
	}},
	{"go-arm64/matrix-product", "generic/product.go", tests{names: "TestOperations", operations: "AddMultiplesF32"}, []fault{
		{"fused-multiple", "the compiler fuses a multiple with the sum", `y[i] += float32(factor * x[i])`, `y[i] += factor * x[i]`},
	}},
	{"go-arm64/add", "generic/add.go", tests{names: "TestOperations", operations: "AddScaledF32"}, []fault{
		{"fused", "the compiler fuses the product with the sum", `float32(x*scale) + y`, `x*scale + y`},
	}},
	{"go-arm64/bias", "generic/bias.go", tests{names: "TestOperations", operations: "AddDistanceF32|SubAbsoluteDistanceF32"}, []fault{
		{"fused", "the compiler fuses slope*distance with the sum", `y[i] += float32(slope * float32(first+i))`, `y[i] += slope * float32(first+i)`},
		{"fused-magnitude", "the compiler fuses slope*magnitude with the sum", `y[i] -= float32(slope * float32(max(d, -d)))`, `y[i] -= slope * float32(max(d, -d))`},
	}},
}
