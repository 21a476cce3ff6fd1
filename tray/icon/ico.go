package icon

import (
	"bytes"
	"encoding/binary"
)

// ICO returns the picture of a state as Windows wants it: one file with the sizes 16, 24 and 32. The
// images are device-independent bitmaps, which every version of LoadImage reads at every size; PNG
// inside an icon file is only certain for large ones.
func ICO(state string) ([]byte, error) {
	sizes := []int{16, 24, 32}
	var dir, images bytes.Buffer
	put := func(b *bytes.Buffer, values ...any) {
		for _, v := range values {
			_ = binary.Write(b, binary.LittleEndian, v) // a Buffer takes everything
		}
	}
	put(&dir, uint16(0), uint16(1), uint16(len(sizes))) // reserved, an icon, images
	offset := 6 + 16*len(sizes)
	for _, n := range sizes {
		p, err := draw(state, n)
		if err != nil {
			return nil, err
		}
		dib := bitmap(p)
		put(&dir, uint8(n), uint8(n), uint8(0), uint8(0), uint16(1), uint16(32), uint32(len(dib)), uint32(offset))
		images.Write(dib)
		offset += len(dib)
	}
	return append(dir.Bytes(), images.Bytes()...), nil
}

// bitmap encodes a picture as the bitmap of an icon file: header without a file header, rows from the
// bottom up as blue, green, red, alpha, then a mask of one bit a pixel that is set where nothing is.
// The header counts picture and mask as one image of double height.
func bitmap(p canvas) []byte {
	const headerSize = 40
	maskRow := (p.side + 31) / 32 * 4
	var b bytes.Buffer
	header := struct {
		Size                   uint32
		Width, Height          int32
		Planes, Bits           uint16
		Compression, ImageSize uint32
		XPerMeter, YPerMeter   int32
		Used, Important        uint32
	}{Size: headerSize, Width: int32(p.side), Height: int32(2 * p.side), Planes: 1, Bits: 32, ImageSize: uint32(p.side * (4*p.side + maskRow))}
	_ = binary.Write(&b, binary.LittleEndian, header)
	for y := p.side - 1; y >= 0; y-- {
		for x := range p.side {
			v := p.NRGBAAt(x, y)
			b.Write([]byte{v.B, v.G, v.R, v.A})
		}
	}
	for y := p.side - 1; y >= 0; y-- {
		row := make([]byte, maskRow)
		for x := range p.side {
			if p.NRGBAAt(x, y).A == 0 {
				row[x/8] |= 0x80 >> (x % 8)
			}
		}
		b.Write(row)
	}
	return b.Bytes()
}
