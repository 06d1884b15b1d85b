package main

import (
	"runtime"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/cmd/posenc/internal/output"
	"github.com/spf13/cobra"
)

func newInfo() *cobra.Command {
	return &cobra.Command{
		Use:     "info",
		Short:   "Say which implementation runs on this machine",
		Example: "  posenc info\n  POSENC_IMPL=generic posenc info",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return output.Write(c, &infoResult{
				Implementation: posenc.Implementation(),
				System:         runtime.GOOS + "/" + runtime.GOARCH,
				Go:             runtime.Version(),
			})
		},
	}
}

type infoResult struct {
	Implementation string `json:"implementation"`
	System         string `json:"system"`
	Go             string `json:"go"`
}

func (r *infoResult) WriteText(t *output.Text) {
	t.Table("", [][]string{
		{"implementation", r.Implementation},
		{"system", r.System},
		{"Go", r.Go},
	})
}
