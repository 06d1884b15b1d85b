// Package asm holds the assembly kernels. Nothing here is under the module's compatibility
// promise: engines call package posenc.
//
// Nothing here checks its arguments. The other files are written by
// asm/_gen: change that, then run go generate ./... in the root of the module.
package asm
