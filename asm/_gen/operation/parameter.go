package operation

import (
	"slices"
	"strings"
)

// in is a slice that is read, out one that is written.
func in(name string, e Element) Parameter {
	return Parameter{
		Kind: Slice, Name: name, Type: "[]" + e.Go(), Element: e,
		Arguments: []Argument{{name, "*" + e.Go(), "unsafe.SliceData(" + name + ")"}},
	}
}

func out(name string, e Element) Parameter {
	p := in(name, e)
	p.Written = true
	return p
}

// array is an array that is written, the stub's parameter having a name of its own.
func array(name, argument string) Parameter {
	return Parameter{
		Kind: Slice, Name: name, Type: "*[Width]float64", Element: F64, Written: true,
		Arguments: []Argument{{argument, "*float64", "&" + name + "[0]"}},
	}
}

// scalar is a number.
func scalar(name, goType string) Parameter {
	return Parameter{Kind: Scalar, Name: name, Type: goType, Arguments: []Argument{{name, goType, name}}}
}

// distance is an integer that stubs take as float32.
func distance(name string) Parameter {
	return Parameter{Kind: Scalar, Name: name, Type: "int", Arguments: []Argument{{name, "float32", "float32(" + name + ")"}}}
}

// mxfp4Rule is how the scale of a block is chosen. Kernels add a number to the bits of the largest magnitude.
var mxfp4Rule = Parameter{Kind: Scalar, Name: "rule", Type: "generic.MXFP4Rule", OfKind: "generic.MXFP4Rule(kind-KindMXFP4Floor)", Arguments: []Argument{{"raise", "uint32", "rule.Raise()"}}}

// integers are arguments of fields of a struct, each with its name and its field.
func integers(of string, fields ...string) (list []Argument) {
	for i := 0; i < len(fields); i += 2 {
		list = append(list, Argument{fields[i], "int", of + fields[i+1]})
	}
	return list
}

// place is a parameter of a struct.
func place(name string, arguments []Argument, g Geometry) Parameter {
	return Parameter{Kind: Place, Name: name, Type: "*" + g.Struct, Arguments: arguments, Geometry: &g}
}

// length is the number of elements of a slice, of an operation without rows.
func length(of string) Parameter {
	return Parameter{Kind: Place, Arguments: integers("", "n", "len("+of+")"), Geometry: &Geometry{Row: "[:len(" + of + ")]", Counts: []string{"n"}, Factor: 1}}
}

// pairsIn is half of the number of elements of a slice.
func pairsIn(of string) Parameter {
	return Parameter{Kind: Place, Arguments: integers("", "pairs", "len("+of+")/2"), Geometry: &Geometry{Row: "[:len(" + of + ")/2*2]", Counts: []string{"pairs"}, Factor: 2}}
}

// width is the number of elements of a slice, beside where rows lie.
func width(of string) Parameter {
	return Parameter{Kind: Scalar, Arguments: integers("", "width", "len("+of+")")}
}

// rows is the tokens and heads of rotations.
func rows(layout Layout, types Types) Parameter {
	arguments := integers("r.", "pairs", "Pairs")
	row := map[string]string{"y": "y[i:][:2*r.Pairs]", "x": "x[j:][:2*r.Pairs]", "cos": "cos[angle:][:r.Pairs]", "sin": "sin[angle:][:r.Pairs]"}
	if layout == HalfSplit {
		arguments = append(arguments, integers("r.", "partner", "Partner")...)
		row["y"], row["x"] = "y[i:][:r.Pairs], y[i+r.Partner:][:r.Pairs]", "x[j:][:r.Pairs], x[j+r.Partner:][:r.Pairs]"
	}
	arguments = append(arguments, integers("r.", "tokens", "Tokens", "yTokenStride", "YTokenStride", "xTokenStride", "XTokenStride",
		"heads", "Heads", "yHeadStride", "YHeadStride", "xHeadStride", "XHeadStride", "tableStride", "TableStride")...)
	if types == of(F32) { // they alone are fetched ahead by size
		arguments = append(arguments, integers("r.", "ahead", "Ahead")...)
	}
	return place("r", arguments, Geometry{
		Struct: "Rotation",
		Loops:  []string{"t := range r.Tokens", "h := range r.Heads"},
		Set:    "i, j, angle := t*r.YTokenStride+h*r.YHeadStride, t*r.XTokenStride+h*r.XHeadStride, t*r.TableStride",
		Rows:   row,
		Counts: []string{"pairs", "tokens", "heads"},
		Factor: 2,
	})
}

// wholeHeads is rows of which all elements rotate, and what is written is no pairs but e. The
// scales of all numbers that are written lie as these do. A head is rotated before it is quantized.
func wholeHeads(layout Layout, e Element) Parameter {
	p := rows(layout, Types{e, F32})
	p.Arguments = slices.DeleteFunc(p.Arguments, func(a Argument) bool { return a.Name == "partner" })
	g := p.Geometry
	g.Rows["y"], g.Rows["scales"] = "y[i:]["+e.first("2*r.Pairs")+"]", "scales[i/(2*r.Pairs)]"
	g.Between, g.Rows["head"], g.Rows["rotated"] = "var rotated [512]float32", "rotated[:2*r.Pairs]", "rotated[:2*r.Pairs]"
	if layout == HalfSplit {
		g.Rows["rotated"] = "rotated[:r.Pairs], rotated[r.Pairs:]"
	}
	return p
}

// lines is rows at equal distances.
var lines = place("l", integers("l.", "n", "Len", "count", "Count", "stride", "Stride"), Geometry{
	Struct: "Lines",
	Loops:  []string{"i := range l.Count"},
	Rows:   map[string]string{"x": "x[i*l.Stride:][:l.Len]"},
	Row:    "[:l.Len]",
	Counts: []string{"n", "count"},
	Factor: 1,
})

// converted is vectors of numbers that are written as e, or of e that are written as
// numbers. scales is a slice of a scale for each, or "".
func converted(numbers string, e Element, scales string) Parameter {
	arguments := integers("v.", "n", "Len", "count", "Count", "yStride", "YStride", "xStride", "XStride")
	row := map[string]string{"y": "y[i*v.YStride:]", "x": "x[i*v.XStride:]"}
	for name := range row {
		if name == numbers {
			row[name] += "[:v.Len]"
		} else {
			row[name] += "[" + e.first("v.Len") + "]"
		}
	}
	if numbers == "x" {
		arguments = append(arguments, integers("v.", "ahead", "Ahead")...)
	}
	if scales != "" {
		arguments = append(arguments, integers("v.", "scaleStride", "ScaleStride")...)
		row[scales] = scales + "[i*v.ScaleStride]"
	}
	return place("v", arguments, Geometry{
		Struct: "Conversion",
		Loops:  []string{"i := range v.Count"},
		Rows:   row,
		Counts: []string{"n", "count"},
		Factor: 1,
	})
}

// affineVectors is vectors that slices have: y and x, perhaps with two codes to an element, and others with one element for
// each vector, or with those of one vector for all.
func affineVectors(columns bool, names ...string) Parameter {
	arguments, row := integers("v.", "n", "Len", "count", "Count"), map[string]string{}
	scales := false
	for _, name := range names {
		name, half, _ := strings.Cut(name, "/")
		if half != "" {
			half = "/" + half
		}
		switch {
		case name == "y" || name == "x":
			stride := strings.ToUpper(name) + "Stride"
			arguments = append(arguments, integers("v.", name+"Stride", stride)...)
			row[name] = name + "[i*v." + stride + ":][:v.Len" + half + "]"
		case columns:
			row[name] = name + "[:v.Len]"
		default:
			scales = true
			row[name] = name + "[i*v.ScaleStride:][:1]"
		}
	}
	if scales {
		arguments = append(arguments, integers("v.", "scaleStride", "ScaleStride")...)
	}
	return place("v", arguments, Geometry{Struct: "Affine", Loops: []string{"i := range v.Count"}, Rows: row, Counts: []string{"n", "count"}, Factor: 1})
}

// flipped is the bits of bytes that change, which stubs take as an expression.
func flipped(value string) Parameter {
	return Parameter{Kind: Scalar, Name: "flip", Type: "uint8", Arguments: []Argument{{"flip", "uint32", value}}}
}

// fused is lines of which a slice is rotated.
func fused(layout Layout) Parameter {
	rotated := "x[i*f.Stride+f.First:][:2*f.Pairs]"
	if layout == HalfSplit {
		rotated = "x[i*f.Stride+f.First:][:f.Pairs], x[i*f.Stride+f.First+f.Pairs:][:f.Pairs]"
	}
	return place("f", integers("f.", "n", "Len", "first", "First", "pairs", "Pairs", "count", "Count", "stride", "Stride"), Geometry{
		Struct: "Fusion",
		Loops:  []string{"i := range f.Count"},
		Rows:   map[string]string{"x": "x[i*f.Stride:][:f.Len]", "rotated": rotated, "weight": "weight[:f.Len]"},
		Row:    "[:f.Pairs]",
		Counts: []string{"n", "count"},
		Factor: 1,
	})
}

// tile is rows of scores.
var tile = place("t", integers("t.", "n", "Len", "rows", "Rows", "stride", "Stride"), Geometry{
	Struct: "Tile",
	Loops:  []string{"r := range t.Rows"},
	Rows:   map[string]string{"y": "y[r*t.Stride:][:t.Len]", "first": "first+r*step"},
	Counts: []string{"n", "rows"},
	Factor: 1,
})

// numbered is rows of scores to which rows of x are added, by number.
var numbered = place("t", integers("t.", "n", "Len", "rows", "Rows", "yStride", "Stride"), Geometry{
	Struct: "Tile",
	Loops:  tile.Geometry.Loops,
	Set:    "row := r\nif ids != nil {\nrow = int(ids[r])\n}",
	Rows:   map[string]string{"y": "y[r*t.Stride:][:t.Len]", "x": "x[xFirst+row*xStride:][:t.Len]", "ids": "ids[:min(t.Rows,len(ids))]"},
	Counts: []string{"n", "rows"},
	Factor: 1,
})

// matrices is products of matrices, of which a row takes what is given of y and x.
func matrices(y, x string) Parameter {
	return place("m", integers("m.", "n", "Len", "rows", "Rows", "count", "Columns", "yStride", "YStride", "xStride", "XStride", "vectorStride", "VectorStride"), Geometry{
		Struct: "Matrices",
		Loops:  []string{"r := range m.Rows", "c := range m.Columns"},
		Rows:   map[string]string{"y": y, "x": x, "vectors": "vectors[c*m.VectorStride:][:m.Len]"},
		Counts: []string{"n", "rows", "count"},
		Factor: 1,
	})
}

// block is n frequencies as the kernels read them.
func block(n string) Parameter {
	arguments := []Argument{{"high", "*float64", "&b.high[0]"}, {"low", "*float64", "&b.low[0]"}, {"margin", "*float64", "&b.margin[0]"}, {"n", "int", n}}
	return place("b", arguments, Geometry{Struct: "Block", Row: "[:" + n + "]", Counts: []string{"n"}, Factor: 1})
}

// shifted is rows of n pairs from a seed and from shifts of it.
var shifted = Parameter{
	Kind: Place,
	Arguments: []Argument{
		{"stride", "int", "stride"}, {"rows", "int", "rows"}, {"seed", "*float64", "&seed[0][0]"}, {"shift", "*float64", "&shift[0][0][0]"}, {"n", "int", "n"},
	},
	Geometry: &Geometry{
		Loops:  []string{"r := range rows"},
		Rows:   map[string]string{"x": "x[r*stride:][:2*n]", "cos": "cos[r*stride:][:n]", "sin": "sin[r*stride:][:n]"},
		Counts: []string{"rows", "n"},
		Factor: 1,
		Parameter: []Parameter{
			{Name: "stride", Type: "int"}, {Name: "rows", Type: "int"},
			{Name: "seed", Type: "*[3][Width]float64"}, {Name: "shift", Type: "[][2][Width]float64"}, {Name: "n", Type: "int"},
		},
	},
}

// shiftedAngles is shifted of float32 angles, with the frequencies.
func shiftedAngles() Parameter {
	p, g := shifted, *shifted.Geometry
	p.Arguments = append(slices.Clip(p.Arguments), Argument{"invFreq", "*float32", "&invFreq[0]"})
	g.Parameter = append(slices.Clip(g.Parameter), Parameter{Name: "invFreq", Type: "*[Width]float32"})
	p.Geometry = &g
	return p
}
