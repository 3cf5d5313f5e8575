package manifest

import (
	"strconv"
	"testing"

	"github.com/podfate/podfate/policy"
)

// TestFieldFindsEachRow compares the search by hash with a look at every row, for every name of the
// table and some that are not in it.
func TestFieldFindsEachRow(t *testing.T) {
	names := map[string]Value{}
	for _, name := range []string{"", "x", "Containers", "container", "restartpolicy", "é", "a name that is longer than any field of Kubernetes"} {
		names[name] = Value{}
	}
	for i := range fieldRows {
		names[fieldRows[i].text()] = Value{}
	}
	for name := range names {
		v, err := Parse([]byte(`{` + strconv.Quote(name) + `:1}`))
		if err != nil {
			t.Fatal(err)
		}
		names[name] = v.First()
	}
	for i := range typeRows {
		typ := typeIndex(i)
		if typeRows[i].kind != structType {
			continue
		}
		rows := typ.rows()
		for r := range rows {
			if rows[r].hash != hashOf(rows[r].text()) || r > 0 && rows[r].hash < rows[r-1].hash {
				t.Fatalf("%s: row %d, %s, has the hash %d: run policy/upstream/fields/generate", typ, r, rows[r].text(), rows[r].hash)
			}
		}
		for minor := policy.OldestMinor; minor <= policy.NewestMinor; minor++ {
			bit := minorBit(minor)
			for name, m := range names {
				var want *fieldRow
				var wantOthers uint8
				for r := range rows {
					if rows[r].text() == name && rows[r].minors&bit != 0 {
						want = &rows[r]
					} else if rows[r].text() == name {
						wantOthers |= rows[r].minors
					}
				}
				if want != nil {
					wantOthers = 0
				}
				if got, others := typ.field(m.doc, m.node(), bit); got != want || others != wantOthers {
					t.Fatalf("%s in 1.%d: field %q: %v and releases %#x, want %v and %#x", typ, minor, name, got, others, want, wantOthers)
				}
			}
		}
	}
}
