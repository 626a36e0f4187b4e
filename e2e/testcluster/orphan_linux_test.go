package testcluster_test

import (
	"bufio"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/informeter/informeter/e2e/testcluster"
)

// parentMode makes this test binary a parent that waits to be killed.
const parentMode = "INFORMETER_E2E_PARENT"

func TestServersDieWithTheirParent(t *testing.T) {
	if os.Getenv(parentMode) != "" {
		beParent(t)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestServersDieWithTheirParent$")
	temp := t.TempDir() // the killed parent cannot remove its folder
	cmd.Env = append(os.Environ(), parentMode+"=1", "TMPDIR="+temp)
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it is dead already, unless the test failed early
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatalf("the parent ended early: %v", err)
	}
	address := strings.TrimSpace(line)
	if !listening(address) {
		t.Fatalf("nobody listens on %q though the cluster runs", address)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); listening(address); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the API server still listens on %s after its parent was killed", address)
		}
	}
}

// beParent starts a cluster, says where, and waits to be killed.
func beParent(t *testing.T) {
	cluster, err := testcluster.Start(t.Context(), testcluster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	address, err := url.Parse(cluster.URL())
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(address.Host)
	time.Sleep(time.Minute)
	t.Fatal("nobody killed the parent")
}

func listening(address string) bool {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}
