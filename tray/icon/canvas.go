package icon

import (
	"image"
	"image/color"
	"math"
)

var (
	body      = color.NRGBA{0xf4, 0xf6, 0xf8, 255}
	rim       = color.NRGBA{0x14, 0x18, 0x1d, 255}
	ink       = color.NRGBA{0x15, 0x19, 0x1e, 255} // of windows and digits: one step off the rim, for Template to tell them apart
	amber     = color.NRGBA{0xff, 0xb5, 0x2e, 255}
	teal      = color.NRGBA{0x46, 0xcf, 0xa6, 255}
	vermilion = color.NRGBA{0xff, 0x8a, 0x62, 255}
	grey      = color.NRGBA{0xc3, 0xca, 0xd3, 255}
	none      = color.NRGBA{}
)

// measure holds what does not scale evenly, in pixels. The badge with a number gets more room than the
// others, because the number is what one reads.
type measure struct {
	badge, square int // side of a badge without its rim
	digit, mark   int // side of a cell of the 3x5 font: one digit; "9+" and "!"
}

var measures = map[int]measure{
	16: {badge: 7, square: 7, digit: 1, mark: 1},
	22: {badge: 9, square: 11, digit: 2, mark: 1},
	24: {badge: 10, square: 12, digit: 2, mark: 1},
	32: {badge: 13, square: 17, digit: 3, mark: 2},
}

var font = map[rune][5]string{
	'1': {".#.", "##.", ".#.", ".#.", "###"}, '2': {"###", "..#", "###", "#..", "###"},
	'3': {"###", "..#", ".##", "..#", "###"}, '4': {"#.#", "#.#", "###", "..#", "..#"},
	'5': {"###", "#..", "###", "..#", "###"}, '6': {"###", "#..", "###", "#.#", "###"},
	'7': {"###", "..#", ".#.", ".#.", ".#."}, '8': {"###", "#.#", "###", "#.#", "###"},
	'9': {"###", "#.#", "###", "..#", "###"}, '+': {"...", ".#.", "###", ".#.", "..."},
	'!': {".#.", ".#.", ".#.", "...", ".#."},
}

// A shape tells of a point whether it lies inside. Shapes of the tower take points of a square of 16,
// those of a badge of a square of 1.
type shape func(x, y float64) bool

func square(_, _ float64) bool   { return true }
func triangle(x, y float64) bool { return x >= .08 && math.Abs(y-.5) < (1-x)*.56 }
func bars(x, _ float64) bool     { return x < .38 || x >= .62 }
func cross(x, y float64) bool    { return math.Abs(x-y) < .2 || math.Abs(x+y-1) < .2 }
func disc(x, y float64) bool {
	const corner = .22 // cut off each: the octagon that reads as a disc at seven pixels
	return x+y > corner && 1-x+y > corner && x+1-y > corner && 2-x-y > corner
}

// canvas is a square picture of hard edges.
type canvas struct {
	*image.NRGBA
	side int
}

func blank(side int) canvas { return canvas{image.NewNRGBA(image.Rect(0, 0, side, side)), side} }

// fill paints the pixels of the square of n at (x0, y0) whose centres lie inside; the shape sees the
// square as one of size unit.
func (p canvas) fill(x0, y0, n int, unit float64, in shape, c color.NRGBA) {
	for y := range n {
		for x := range n {
			if in((float64(x)+.5)*unit/float64(n), (float64(y)+.5)*unit/float64(n)) {
				p.SetNRGBA(x0+x, y0+y, c)
			}
		}
	}
}

// outline surrounds what is painted with one pixel of the rim's colour.
func (p canvas) outline() {
	var edge []image.Point
	for y := range p.side {
		for x := range p.side {
			if p.NRGBAAt(x, y) == none && (p.NRGBAAt(x+1, y) != none || p.NRGBAAt(x-1, y) != none || p.NRGBAAt(x, y+1) != none || p.NRGBAAt(x, y-1) != none) {
				edge = append(edge, image.Pt(x, y))
			}
		}
	}
	for _, e := range edge {
		p.SetNRGBA(e.X, e.Y, rim)
	}
}

// tower draws the tower, moved left by so many sixteenths.
func tower(side int, left float64, dark bool) canvas {
	p := blank(side)
	within := func(x, y, x0, y0, x1, y1 float64) bool { return x >= x0 && x < x1 && y >= y0 && y < y1 }
	p.fill(0, 0, side, 16, func(x, y float64) bool {
		x += left
		slant := (y - 3) * .3
		cab := within(x, y, 1.7+slant, 3, 14.3-slant, 8)
		mast := within(x, y, 7.1, 1, 8.9, 3)
		stem := within(x, y, 5.9, 8, 10.1, 13.5)
		foot := within(x, y, 3.7, 13, 12.3, 15)
		return cab || mast || stem || foot
	}, body)
	p.outline()
	p.fill(0, 0, side, 16, func(x, y float64) bool { return within(x+left, y, 3.7, 4.2, 12.3, 6.4) }, ink)
	if dark {
		p.fill(0, 0, side, 16, func(x, y float64) bool { return within(x+left, y, 7.1, 9, 8.9, 12) }, none)
	}
	return p
}

// badge puts a shape of n pixels and its rim into the bottom right corner, one pixel of air around it,
// and writes text on it in cells of the given side.
func (p canvas) badge(n int, in shape, c color.NRGBA, text string, cell int) {
	b := blank(n + 2)
	b.fill(1, 1, n, 1, in, c)
	b.outline()
	b.write(n, text, cell)
	at := p.side - b.side
	p.fill(at-1, at-1, b.side+1, 1, square, none)
	for y := range b.side {
		for x := range b.side {
			if v := b.NRGBAAt(x, y); v != none {
				p.SetNRGBA(at+x, at+y, v)
			}
		}
	}
}

func (p canvas) write(n int, text string, cell int) {
	width := (len(text)*4 - 1) * cell
	left, top := 1+(n-width+1)/2, 1+(n-5*cell)/2
	for i, r := range text {
		for y, row := range font[r] {
			for x, dot := range row {
				if dot == '#' {
					p.fill(left+(i*4+x)*cell, top+y*cell, cell, 1, square, ink)
				}
			}
		}
	}
}
