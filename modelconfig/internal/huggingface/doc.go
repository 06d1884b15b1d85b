// Package huggingface reads a config.json into a description. It knows rope types and keys, and
// models only by the values of package models.
package huggingface
