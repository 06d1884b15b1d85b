package modelconfig

import "github.com/go-posenc/posenc/modelconfig/internal/document"

// Every error about a description wraps one of these, every error about an argument
// [posenc.ErrConfig]. It names the function, the key or the argument, its value, and what was
// expected or can be set instead.
var (
	ErrSyntax        error = document.ErrSyntax        // not JSON, a key that appears twice, a value of the wrong type, a document that is too large
	ErrUnknown       error = document.ErrUnknown       // an unknown model type, rope type or key about rotary positions
	ErrNotRotary     error = document.ErrNotRotary     // the model encodes positions in another way, or not at all, and no key or class in its file says otherwise
	ErrAbsent        error = document.ErrAbsent        // the file has no text model for HuggingFace, or no vision tower for HuggingFaceVision, but the other one
	ErrValue         error = document.ErrValue         // a number out of range, a missing key, a list of the wrong length
	ErrContradiction error = document.ErrContradiction // keys that contradict each other
)
