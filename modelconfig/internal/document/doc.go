// Package document reads what configurations of models are made of: JSON objects within bounds,
// keys under several names, their types, and errors that name them.
package document
