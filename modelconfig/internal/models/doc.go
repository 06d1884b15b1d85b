// Package models knows models: what the code of each does with positions and its files do not say.
//
// A model is one value in the file of its vendor, or of its kind (audio.go, encoders.go,
// linear.go, visionmodels.go; others.go). A vendor's file has a [Vendor]: its model types, vision
// towers, types that hold other models, and architectures of GGUF. What only a function can say (a
// rule, the layers, keys that decide) is a function in plans.go, lists.go, ropeparameters.go,
// queryscale.go, indexers.go or arrangements.go, which values name.
//
// To add a model, write its value, beginning from one like it: fields whose usual value is right
// stay out, and [ModelType] says what each is. A model with the values of a known one is a name in its
// Also. Then add the configuration of a real file to
// ../../testdata/transformers/configs and run the scripts there for the golden vectors, and go test
// -run 'TestDocs|TestDigests' -update in modelconfig for the tables of docs.
package models
