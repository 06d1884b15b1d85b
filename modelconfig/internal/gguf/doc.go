// Package gguf reads the metadata of a GGUF file into a description. It knows keys, and
// architectures only by the values of package models.
package gguf
