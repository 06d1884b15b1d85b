package proof

import _ "github.com/go-posenc/posenc/internal/exhaustive" // go test ./... -exhaustive
