package kernels

// Rotation says where the heads of one rotation lie: head h of token t is read from
// x[t*XTokenStride+h*XHeadStride] on, written from y[t*YTokenStride+h*YHeadStride]
// on, and takes its angles from cos[t*TableStride] and sin[t*TableStride]. Units
// are elements. Either y is x and the strides are the same, or the two share no
// memory.
type Rotation struct {
	Pairs                      int // pairs of a head to rotate
	Partner                    int // HalfSplit: elements from the first of a pair to the second, in x and in y
	Tokens                     int
	YTokenStride, XTokenStride int
	Heads                      int
	YHeadStride, XHeadStride   int
	TableStride                int

	// Ahead is the bytes from a head to what is fetched into the cache meanwhile, where x
	// and y are float32 and the kernel is for amd64: RotateAhead, or 0 for nothing.
	Ahead int
}

// Lines says where the vectors lie that are normalized or scaled: vector i is Len
// elements from x[i*Stride] on. They share no element.
type Lines struct {
	Len    int
	Count  int
	Stride int
}

// Conversion says where the vectors lie that are written as numbers of another type:
// vector i is Len of them, at least 1, read from x[i*XStride] on and written from
// y[i*YStride] on, in units of the elements of x and y; its scale is
// scales[i*ScaleStride], where there are scales.
type Conversion struct {
	Len         int
	Count       int
	YStride     int
	XStride     int
	ScaleStride int

	// Ahead is the bytes from x to what is fetched into the cache meanwhile, as many bytes
	// as are read: x itself some way on, or what comes next where x is in the cache. It is a
	// hint, harmless where there is no memory.
	Ahead int
}

// Affine says where the vectors lie that are quantized by scales and zero points: vector i is Len numbers, a multiple of
// 8, read from x[i*XStride] on and written from y[i*YStride] on, in units of the elements of x and y. Either its scale is
// number i*ScaleStride of a slice, or all vectors share the Len scales of a slice.
type Affine struct {
	Len, Count, YStride, XStride, ScaleStride int
}

// Fusion says where the vectors lie that are normalized and rotated, and which slice
// of each is rotated: the 2*Pairs elements from number First on. All take the same
// angles.
type Fusion struct {
	Lines
	First int
	Pairs int
}

// Tile says where the rows of scores lie that biases are added to: row r is Len
// elements, at least 1, from y[r*Stride] on. Rows share no element.
type Tile struct {
	Len    int
	Rows   int
	Stride int
}

// within returns impl where float32 counts the distances of the tile, as the
// kernels do, and else Generic.
func (t *Tile) within(impl Implementation, first, step int) Implementation {
	const end = 1 << 24
	last := first + (t.Rows-1)*step
	if t.Rows > 0 && (min(first, last) <= -end || max(first, last) >= end-t.Len) {
		return Generic
	}
	return impl
}

// Matrices says where the rows of the matrices of a product lie: Rows rows of y and of
// x, that many elements apart, and Columns vectors of Len elements, at least 1.
type Matrices struct {
	Len, Rows, Columns             int
	YStride, XStride, VectorStride int
}
