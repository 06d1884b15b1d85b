// Package chart draws curves and tables as PNG or SVG, and in a terminal.
package chart

// MaxCurves is how many curves and tables can be told apart.
const MaxCurves = 8

// Chart is a drawing of curves, or of tables side by side.
type Chart struct {
	Name  string `json:"chart"`
	Title string `json:"title"`

	X      Axis    `json:"x"`
	Y      Axis    `json:"y"`
	Curves []Curve `json:"curves,omitempty"`
	Levels []Level `json:"levels,omitempty"`
	Falls  bool    `json:"-"` // curves fall: the room is at the top right, else at the top left and the bottom right

	Tables []Table `json:"tables,omitempty"`
}

// labels are those of the curves or tables.
func (c *Chart) labels() []Label {
	var list []Label
	for _, curve := range c.Curves {
		list = append(list, curve.Label)
	}
	for _, table := range c.Tables {
		list = append(list, table.Label)
	}
	return list
}

// Axis is what is drawn along an axis.
type Axis struct {
	Label       string `json:"label"`
	Logarithmic bool   `json:"logarithmic"`
}

// Curve is a line, its points by rising X.
type Curve struct {
	Label
	X []float64 `json:"x"`
	Y []float64 `json:"y"`
}

// Label names a model, and which of its rotations is meant where it has several.
type Label struct {
	Model string `json:"model"`
	Kind  string `json:"kind,omitempty"`
}

func (l Label) String() string {
	if l.Kind == "" {
		return l.Model
	}
	return l.Model + " " + l.Kind
}

// Level is a line across the chart at one value of an axis.
type Level struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	OfX   bool    `json:"of_x"` // the line is upright
}

// Table is numbers from -1 to 1, row 0 at the top.
type Table struct {
	Label
	Columns int       `json:"columns"`
	Values  []float32 `json:"values"` // [rows][Columns]
}

func (t *Table) rows() int { return len(t.Values) / t.Columns }

func (t *Table) at(row, column int) float32 { return t.Values[row*t.Columns+column] }
