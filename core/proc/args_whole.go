//go:build darwin || windows

package proc

// firstOf keeps of an argument list what an ancestry holds.
func firstOf(list []string, ok bool) []string {
	if !ok {
		return nil
	}
	var first []string
	for _, arg := range list[:min(len(list), ancestorArgs)] {
		first = append(first, cut([]byte(arg)))
	}
	return first
}
