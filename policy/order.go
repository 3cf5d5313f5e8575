package policy

// Order returns the numbers from 0 to n-1 in the order that less gives them, equal ones ascending,
// in n log n steps whatever they are. less(i, j) reports whether number i comes before number j.
//
// One function for all that is sorted in the core: the generic sorts of package slices take 30 KB
// of the module for each type.
func Order(n int, less func(i, j int) bool) []int {
	order, out := make([]int, n), make([]int, n)
	for i := range order {
		order[i] = i
	}
	for width := 1; width < n; width *= 2 {
		for from := 0; from < n; from += 2 * width {
			middle, end := min(from+width, n), min(from+2*width, n)
			i, j := from, middle
			for k := from; k < end; k++ {
				if j == end || i < middle && !less(order[j], order[i]) {
					out[k] = order[i]
					i++
				} else {
					out[k] = order[j]
					j++
				}
			}
		}
		order, out = out, order
	}
	return order
}
