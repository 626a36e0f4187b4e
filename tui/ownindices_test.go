package tui

import (
	"slices"
	"testing"
)

func TestIndicesThatWereAddedAreThereInWhatIsOpenedNext(t *testing.T) {
	const line, did = "index add zone=cel:object.metadata.name + 'x'", "index zone cel:object.metadata.name + 'x'"
	u, d := withDoor(t, 120, 36)
	u.command(line).expect("index zone added")
	// Another resource has no use for it, and it is not lost for the first one.
	u.command("services").expect("now services")
	again := newFake(9)
	d.opens = func() (Opened, error) { return Opened{Process: again}, nil }
	u.command("ns kube-system").expect("now in kube-system, index zone added again")
	if !slices.Equal(again.controls, []string{did}) {
		t.Errorf("done %q, want %q", again.controls, did)
	}
	// One that was added twice, the first one having been lost, is added once.
	u.command(line)
	again.controls = nil
	u.command("demo steady").expect("index zone added again")
	if !slices.Equal(again.controls, []string{did}) {
		t.Errorf("done %q, want %q", again.controls, did)
	}
}

func TestALostIndexSaysHowToAddItAgain(t *testing.T) {
	u, d := withDoor(t, 120, 36)
	u.command("index add zone=label:zone")
	d.opens = func() (Opened, error) {
		other := newFake(9)
		other.readOnly = true
		return Opened{Process: other}, nil
	}
	u.command("ns kube-system").expect("now in kube-system; index zone is lost (read-only); to add it again: :index add zone=label:zone")
}

func TestAnIndexThatCouldNotBeAddedIsNotKept(t *testing.T) {
	u, d := withDoor(t, 120, 36)
	d.opens = func() (Opened, error) {
		other := newFake(9)
		other.readOnly = true
		return Opened{Process: other}, nil
	}
	u.command("ns kube-public")
	u.command("index add zone=label:zone").expect("read-only")
	again := newFake(9)
	d.opens = func() (Opened, error) { return Opened{Process: again}, nil }
	u.command("ns kube-system").expect("now in kube-system")
	if len(again.controls) > 0 {
		t.Errorf("done %q", again.controls)
	}
}
