// Package description has the form in which the readers of config.json and of GGUF say what they
// read, and from which a modelconfig.Model is computed.
package description
