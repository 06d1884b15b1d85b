package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/cmd/posenc/internal/output"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/test/cpuname"
	"github.com/spf13/cobra"
)

func newInfo() *cobra.Command {
	return &cobra.Command{
		Use:   "info",
		Short: "Say which implementation runs on this machine, and what the CPU has",
		Long: `Say which implementation of the kernels runs on this machine and why, which others there are, the
features of the CPU that they need, and its caches. The environment variable POSENC_IMPL chooses a slower
implementation: generic, avx2, avx512 or neon.`,
		Example: "  posenc info\n  POSENC_IMPL=generic posenc info",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return output.Write(c, newInfoResult()) },
	}
}

// infoResult is what runs here.
type infoResult struct {
	Version         string              `json:"version"`
	Go              string              `json:"go"`
	System          string              `json:"system"`
	CPU             string              `json:"cpu"`
	Cores           int                 `json:"cores"`
	Caches          []cacheInfo         `json:"caches"`
	Implementation  string              `json:"implementation"`
	Reason          string              `json:"reason"` // why no faster one
	Implementations []implementationRow `json:"implementations"`
}

type cacheInfo struct {
	Level int `json:"level"`
	Bytes int `json:"bytes"`
}

// implementationRow is an implementation of this build, the fastest first.
type implementationRow struct {
	Name    string   `json:"name"`
	Runs    bool     `json:"runs"`
	Needs   []string `json:"needs"` // features of the CPU
	Missing []string `json:"missing"`
}

// version is that of this module: of the build, where it is one of a release.
func version() string {
	if build, ok := debug.ReadBuildInfo(); ok && build.Main.Version != "" {
		return build.Main.Version
	}
	return "unknown"
}

func newInfoResult() *infoResult {
	r := &infoResult{
		Version: version(), Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, CPU: cpuname.Name(), Cores: runtime.NumCPU(),
		Caches: []cacheInfo{}, Implementation: posenc.Implementation(), Reason: posenc.ImplementationReason(),
	}
	for _, c := range cpuname.Caches() {
		r.Caches = append(r.Caches, cacheInfo{c.Level, c.Bytes})
	}
	for _, impl := range dispatch.Compiled() {
		row := implementationRow{Name: impl.String(), Needs: []string{}, Missing: []string{}}
		for _, feature := range dispatch.Needs(impl) {
			row.Needs = append(row.Needs, feature.Name)
			if !feature.Has {
				row.Missing = append(row.Missing, feature.Name)
			}
		}
		row.Runs = len(row.Missing) == 0
		r.Implementations = append(r.Implementations, row)
	}
	return r
}

func (r *infoResult) WriteText(t *output.Text) {
	var caches []string
	for _, c := range r.Caches {
		caches = append(caches, cpuname.Cache(c).String())
	}
	if caches == nil {
		caches = []string{"unknown"}
	}
	t.Table("", [][]string{
		{"posenc", r.Version},
		{"Go", r.Go + " " + r.System},
		{"CPU", r.CPU},
		{"cores", fmt.Sprint(r.Cores)},
		{"caches", strings.Join(caches, ", ")},
		{"implementation", r.Implementation + ": " + r.Reason},
	})
	t.Printf("\n%s\n", t.Heading("implementations of this build"))
	var rows [][]string
	for _, i := range r.Implementations {
		says := "runs here"
		switch {
		case !i.Runs:
			says = "does not run here, without " + strings.Join(i.Missing, ", ")
		case len(i.Needs) > 0:
			says += ", by " + strings.Join(i.Needs, ", ")
		}
		rows = append(rows, []string{i.Name, says})
	}
	t.Table("  ", rows)
}
