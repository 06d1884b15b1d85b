// A module of its own: it keeps this folder out of the zip that importers of posenc download.
module github.com/go-posenc/posenc/docs/pictures

go 1.26.0
