package processor

import (
	"testing"
	"unsafe"
)

// The package's documentation states these sizes.
func TestSizesAreAsStated(t *testing.T) {
	if got := unsafe.Sizeof(entry{}); got != 80 && unsafe.Sizeof(uintptr(0)) == 8 {
		t.Errorf("a notification takes %d bytes in the log, want 80", got)
	}
	if got := unsafe.Sizeof(Listener{}); got > 6<<10 {
		t.Errorf("a listener takes %d bytes, want at most 6 KiB", got)
	}
}
