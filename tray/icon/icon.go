// Package icon draws the pictures of the menu bar: a control tower with a badge that carries the state
// by shape first and colour second. It promises that every pixel is either opaque or empty, because
// the Linux tray library mangles what lies between, and that a state always gives the same bytes, so
// that a caller may compare names instead of pictures. Any face may use it. It knows the states by
// name only, reads no files, imports nothing of the module and decides nothing.
package icon

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
)

// The states without a number. A waiting state is the word of [Waiting].
const (
	Idle    = "idle"    // no badge
	Working = "working" // triangle
	Alert   = "alert"   // disc with an exclamation mark
	Sick    = "sick"    // cross
	Paused  = "paused"  // two bars, and the tower's lights are out
)

// Waiting returns the name of the state in which n sessions wait: "waiting-1" to "waiting-9", and
// "waiting-9+" from ten on.
func Waiting(n int) string {
	if n > 9 {
		return "waiting-9+"
	}
	return fmt.Sprintf("waiting-%d", max(n, 1))
}

// States returns the name of every picture there is. The set is small and fixed, because Windows keeps
// every distinct icon it was ever given.
func States() []string {
	s := []string{Idle, Working, Alert, Sick, Paused}
	for n := 1; n <= 10; n++ {
		s = append(s, Waiting(n))
	}
	return s
}

// Sizes returns the sizes that are drawn, in pixels. A Linux panel wants 22: it scales a larger one
// down and blurs it.
func Sizes() []int { return []int{16, 22, 24, 32} }

// PNG returns the picture of a state, light with a dark rim, so that it reads on a light and on a dark
// panel. A state or size that does not exist is an error.
func PNG(state string, size int) ([]byte, error) {
	p, err := draw(state, size)
	if err != nil {
		return nil, err
	}
	return encode(p)
}

// Template returns the picture of a state as macOS wants it: black where it is opaque, for the system
// to colour. Windows of the tower and marks of a badge are holes.
func Template(state string, size int) ([]byte, error) {
	p, err := draw(state, size)
	if err != nil {
		return nil, err
	}
	for y := range size {
		for x := range size {
			switch v := p.NRGBAAt(x, y); {
			case v == ink:
				p.SetNRGBA(x, y, none)
			case v != none:
				p.SetNRGBA(x, y, color.NRGBA{A: 255})
			}
		}
	}
	return encode(p)
}

func draw(state string, size int) (canvas, error) {
	m, ok := measures[size]
	if !ok {
		return canvas{}, fmt.Errorf("draw icon %q: no size %d", state, size)
	}
	left := 1.0 // of 16: a badge pushes the tower aside
	if state == Idle {
		left = 0
	}
	p := tower(size, left, state == Paused)
	switch state {
	case Idle:
	case Working:
		p.badge(m.badge, triangle, teal, "", 0)
	case Paused:
		p.badge(m.badge, bars, grey, "", 0)
	case Sick:
		p.badge(m.badge, cross, vermilion, "", 0)
	case Alert:
		p.badge(m.badge, disc, vermilion, "!", m.mark)
	default:
		n, ok := strings.CutPrefix(state, "waiting-")
		if !ok || n != "9+" && (len(n) != 1 || n < "1" || n > "9") {
			return canvas{}, fmt.Errorf("draw icon: no state %q", state)
		}
		cell := m.digit
		if len(n) > 1 {
			cell = m.mark
		}
		p.badge(m.square, square, amber, n, cell)
	}
	return p, nil
}

func encode(m image.Image) ([]byte, error) {
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		return nil, fmt.Errorf("encode icon: %w", err)
	}
	return b.Bytes(), nil
}
