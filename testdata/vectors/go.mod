// A module of its own: it keeps the vectors out of the zip that importers of posenc download.
module github.com/go-posenc/posenc/testdata/vectors

go 1.26.0
