package api

import (
	"slices"
	"testing"
)

func TestRefusedComesFirst(t *testing.T) {
	odd := func(list []int) []int { return refusedFirst(list, func(i int) bool { return list[i]%2 == 1 }) }
	for _, c := range []struct{ in, want []int }{
		{[]int{2, 1, 4, 3}, []int{1, 3, 2, 4}},
		{[]int{2, 4}, []int{2, 4}},
		{[]int{3, 1}, []int{3, 1}},
		{nil, nil},
	} {
		if got := odd(c.in); !slices.Equal(got, c.want) {
			t.Errorf("%v: got %v, want %v", c.in, got, c.want)
		}
	}
}
