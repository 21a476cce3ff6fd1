package icon

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func pixels(t *testing.T, b []byte) (image.Rectangle, []color.NRGBA) {
	t.Helper()
	m, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	var px []color.NRGBA
	for y := range m.Bounds().Dy() {
		for x := range m.Bounds().Dx() {
			px = append(px, color.NRGBAModel.Convert(m.At(x, y)).(color.NRGBA))
		}
	}
	return m.Bounds(), px
}

// TestGolden compares drawings with the pictures that were looked at on a real panel.
func TestGolden(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.png")
	if len(files) < 16 {
		t.Fatalf("%d pictures in testdata, want at least 16", len(files))
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".png")
		t.Run(name, func(t *testing.T) {
			want, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			i := strings.LastIndex(name, "-")
			size, err := strconv.Atoi(name[i+1:])
			if err != nil {
				t.Fatal(err)
			}
			state, isTemplate := strings.CutPrefix(name[:i], "template-")
			got, err := PNG(state, size)
			if isTemplate {
				got, err = Template(state, size)
			}
			if err != nil {
				t.Fatal(err)
			}
			wantBounds, wantPx := pixels(t, want)
			gotBounds, gotPx := pixels(t, got)
			if wantBounds != gotBounds {
				t.Fatalf("bounds = %v, want %v", gotBounds, wantBounds)
			}
			if d := cmp.Diff(wantPx, gotPx); d != "" {
				t.Errorf("pixels differ (-want +got):\n%s", d)
			}
		})
	}
}

func TestEveryPicture(t *testing.T) {
	seen := map[string]string{}
	for _, state := range States() {
		for _, size := range Sizes() {
			for kind, draw := range map[string]func(string, int) ([]byte, error){"regular": PNG, "template": Template} {
				b, err := draw(state, size)
				if err != nil {
					t.Fatalf("%s %s %d: %v", kind, state, size, err)
				}
				bounds, px := pixels(t, b)
				if bounds != image.Rect(0, 0, size, size) {
					t.Errorf("%s %s %d: bounds %v", kind, state, size, bounds)
				}
				opaque := 0
				for _, v := range px {
					if v.A != 0 && v.A != 255 {
						t.Fatalf("%s %s %d: alpha %d", kind, state, size, v.A)
					}
					if v.A == 255 {
						opaque++
						if kind == "template" && v != (color.NRGBA{A: 255}) {
							t.Fatalf("template %s %d: colour %v", state, size, v)
						}
					}
				}
				if opaque < size*size/5 {
					t.Errorf("%s %s %d: only %d opaque pixels", kind, state, size, opaque)
				}
				if other, ok := seen[string(b)]; ok {
					t.Errorf("%s %s %d is the same picture as %s", kind, state, size, other)
				}
				seen[string(b)] = kind + " " + state
			}
		}
	}
}

func TestNoSuchPicture(t *testing.T) {
	for _, c := range []struct {
		state string
		size  int
	}{{"idle", 20}, {"idle", 0}, {"", 22}, {"waiting-", 22}, {"waiting-0", 22}, {"waiting-10", 22}, {"waiting-99", 22}, {"Idle", 22}} {
		if _, err := PNG(c.state, c.size); err == nil {
			t.Errorf("PNG(%q, %d): no error", c.state, c.size)
		}
		if _, err := Template(c.state, c.size); err == nil {
			t.Errorf("Template(%q, %d): no error", c.state, c.size)
		}
	}
	if _, err := ICO("nothing"); err == nil {
		t.Error(`ICO("nothing"): no error`)
	}
}

func TestWaiting(t *testing.T) {
	for n, want := range map[int]string{-1: "waiting-1", 0: "waiting-1", 1: "waiting-1", 9: "waiting-9", 10: "waiting-9+", 4000: "waiting-9+"} {
		if got := Waiting(n); got != want {
			t.Errorf("Waiting(%d) = %q, want %q", n, got, want)
		}
	}
}

// TestICO reads the icon file back by its published layout and compares it with the drawing.
func TestICO(t *testing.T) {
	for _, state := range States() {
		b, err := ICO(state)
		if err != nil {
			t.Fatal(err)
		}
		le := binary.LittleEndian
		if le.Uint16(b) != 0 || le.Uint16(b[2:]) != 1 || le.Uint16(b[4:]) != 3 {
			t.Fatalf("%s: header % x", state, b[:6])
		}
		end := 6 + 3*16
		for i, size := range []int{16, 24, 32} {
			e := b[6+16*i:]
			if int(e[0]) != size || int(e[1]) != size || le.Uint16(e[4:]) != 1 || le.Uint16(e[6:]) != 32 {
				t.Fatalf("%s: entry % x", state, e[:16])
			}
			length, offset := int(le.Uint32(e[8:])), int(le.Uint32(e[12:]))
			if offset != end || offset+length > len(b) {
				t.Fatalf("%s %d: %d bytes at %d, the one before ends at %d of %d", state, size, length, offset, end, len(b))
			}
			end = offset + length
			checkBitmap(t, state, size, b[offset:end])
		}
		if end != len(b) {
			t.Errorf("%s: %d bytes behind the last image", state, len(b)-end)
		}
	}
}

func checkBitmap(t *testing.T, state string, size int, dib []byte) {
	t.Helper()
	le := binary.LittleEndian
	if le.Uint32(dib) != 40 || int(le.Uint32(dib[4:])) != size || int(le.Uint32(dib[8:])) != 2*size || le.Uint16(dib[14:]) != 32 || le.Uint32(dib[16:]) != 0 {
		t.Fatalf("%s %d: bitmap header % x", state, size, dib[:40])
	}
	maskRow := 4 // bytes; rows are padded to 32 bits
	if len(dib) != 40+size*size*4+size*maskRow {
		t.Fatalf("%s %d: %d bytes", state, size, len(dib))
	}
	want, err := draw(state, size)
	if err != nil {
		t.Fatal(err)
	}
	mask := dib[40+size*size*4:]
	for y := range size {
		for x := range size {
			row := size - 1 - y
			v := dib[40+4*(row*size+x):]
			got := color.NRGBA{R: v[2], G: v[1], B: v[0], A: v[3]}
			if got != want.NRGBAAt(x, y) {
				t.Fatalf("%s %d at %d,%d: %v, want %v", state, size, x, y, got, want.NRGBAAt(x, y))
			}
			if masked := mask[row*maskRow+x/8]&(0x80>>(x%8)) != 0; masked != (got.A == 0) {
				t.Fatalf("%s %d at %d,%d: mask %v over alpha %d", state, size, x, y, masked, got.A)
			}
		}
	}
}
