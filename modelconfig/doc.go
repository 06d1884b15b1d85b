// Package modelconfig reads a model's own description of its positions into
// rotary configurations.
package modelconfig
