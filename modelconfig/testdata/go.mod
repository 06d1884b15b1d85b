// Not a module: it keeps this folder out of the zip that importers of posenc download.
module github.com/go-posenc/posenc/modelconfig/testdata
