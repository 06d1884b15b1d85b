// Package asm holds the assembly kernels. Its other files are written by
// asm/_gen: change that, then run go generate ./... in the root of the module.
//
// Nothing here checks its arguments, and nothing here is under the module's
// compatibility promise.
package asm
