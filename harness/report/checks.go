package report

import (
	"bytes"
	"fmt"
	"io"
)

// TerminalChecks writes, for people to read at once, which published numbers our
// records reproduce and which claims hold.
func (r *Results) TerminalChecks(w io.Writer, screen Screen) error {
	var b bytes.Buffer
	if s := r.reproduced(); s != nil {
		fmt.Fprintf(&b, "%s\n", plainText(s.title))
		for _, part := range s.split(screen.Width) {
			if err := part.text(&b, screen.Style); err != nil {
				return err
			}
		}
		for _, n := range append([]string{s.caption}, s.notes...) {
			for _, l := range wrap(n, screen.Width) {
				fmt.Fprintln(&b, l)
			}
		}
	}
	for _, j := range r.Claims() {
		fmt.Fprintf(&b, "%s\n", plainText(fmt.Sprintf("claim %s (%s): %s", j.Claim.ID, j.Claim.Place, j.Claim.Text)))
		published := j.Published.String()
		if j.Published == Open {
			published = "not judged"
		}
		for _, t := range []string{"our records: " + j.Ours.String() + ": " + j.OursEvidence, "published numbers: " + published + ": " + j.PublishedEvidence} {
			for i, l := range wrap(t, max(0, screen.Width-4)) {
				indent := "  "
				if i > 0 {
					indent = "    "
				}
				fmt.Fprintln(&b, indent+l)
			}
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}
