package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/informeter/informeter/e2e/terminal"
)

const (
	// limit is how long a program may take to show something.
	limit = time.Minute
	// clockTick is the unit of the times in /proc/PID/stat: 1/100 s on every
	// architecture that Go runs linux on.
	clockTick = 10 * time.Millisecond
)

// A row of the Store screen names a pod of the command load.
var podRow = regexp.MustCompile(`shop-\d\d`)

// sample is one run of one program.
type sample struct {
	// first is from the start of the process until it shows or says something
	// useful: synced, or rows on the screen; all is until every pod counts.
	first, all time.Duration
	// work is the processor time it took for all of that; unlike the two before,
	// it hardly depends on what else the machine does.
	work time.Duration
	// resident and peak memory, in bytes, after the rest.
	resident, peak int64
	// idle is the share of a core that the program took while at rest.
	idle float64
}

// measureStock runs the stock program as a child.
func measureStock(ctx context.Context, o options) (sample, error) {
	self, err := os.Executable()
	if err != nil {
		return sample{}, fmt.Errorf("find this program: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, stockMode, o.kubeconfig)
	cmd.Stderr = os.Stderr
	output, err := cmd.StdoutPipe()
	if err != nil {
		return sample{}, fmt.Errorf("connect to the stock program: %w", err)
	}
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return sample{}, fmt.Errorf("start the stock program: %w", err)
	}
	defer func() {
		cancel()
		_ = cmd.Wait() // killed, so it has an error that says so
	}()
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil || strings.TrimSpace(line) != syncedLine {
		return sample{}, fmt.Errorf("the stock program said %q instead of %q: %w", line, syncedLine, err)
	}
	s := sample{first: time.Since(begun)}
	s.all = s.first
	if s.work, err = cpuTime(cmd.Process.Pid); err != nil {
		return sample{}, err
	}
	return s, s.rest(ctx, cmd.Process.Pid, o.idle)
}

// measureInformeter runs informeter in a terminal, on its Store screen.
func measureInformeter(ctx context.Context, o options, home string, pods int) (s sample, err error) {
	cmd := exec.Command(o.program, "pods", "-A", "--kubeconfig", o.kubeconfig)
	cmd.Dir = home
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8"}
	begun := time.Now()
	term, err := terminal.Start(cmd, 160, 45)
	if err != nil {
		return sample{}, err
	}
	defer func() { err = errors.Join(err, term.Close()) }()
	if err := term.WaitFor("the first screen", func(screen string) bool { return strings.Contains(screen, "Store") }, limit); err != nil {
		return sample{}, err
	}
	if err := term.Send("3"); err != nil {
		return sample{}, err
	}
	if err := term.WaitFor("the first rows", podRow.MatchString, limit); err != nil {
		return sample{}, err
	}
	s.first = time.Since(begun)
	count := thousands(pods)
	if err := term.WaitFor("all "+count+" pods", func(screen string) bool { return strings.Contains(screen, count) }, limit); err != nil {
		return sample{}, err
	}
	s.all = time.Since(begun)
	if s.work, err = cpuTime(term.PID()); err != nil {
		return sample{}, err
	}
	return s, s.rest(ctx, term.PID(), o.idle)
}

// rest waits and then reads the process's memory and the time it took. The
// seconds right after the start do not count: the last garbage of the first list
// is collected in them.
func (s *sample) rest(ctx context.Context, pid int, idle time.Duration) error {
	const settle = 3 * time.Second
	if err := sleep(ctx, settle); err != nil {
		return err
	}
	before, err := cpuTime(pid)
	if err != nil {
		return err
	}
	begun := time.Now()
	if err := sleep(ctx, idle); err != nil {
		return err
	}
	after, err := cpuTime(pid)
	if err != nil {
		return err
	}
	s.idle = float64(after-before) / float64(time.Since(begun))
	s.resident, s.peak, err = memory(pid)
	return err
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// cpuTime is what the process has used so far, in user and system mode.
func cpuTime(pid int) (time.Duration, error) {
	path := fmt.Sprintf("/proc/%d/stat", pid)
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, fmt.Errorf("read the time a program took (this needs linux): %w", err)
	}
	// The second field is the name in parentheses and may hold spaces.
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, fmt.Errorf("read the time a program took: %s has %d fields after the name, want 13", path, len(fields))
	}
	user, err := strconv.Atoi(fields[11])
	if err != nil {
		return 0, fmt.Errorf("read the user time in %s: %w", path, err)
	}
	system, err := strconv.Atoi(fields[12])
	if err != nil {
		return 0, fmt.Errorf("read the system time in %s: %w", path, err)
	}
	return time.Duration(user+system) * clockTick, nil
}

// memory is what the process has in memory, and had at most, in bytes.
func memory(pid int) (resident, peak int64, err error) {
	path := fmt.Sprintf("/proc/%d/status", pid)
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, 0, fmt.Errorf("read a program's memory (this needs linux): %w", err)
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[0] != "VmRSS:" && fields[0] != "VmHWM:" {
			continue
		}
		kilobytes, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil {
			return 0, 0, fmt.Errorf("read %s in %s: %w", fields[0], path, err)
		}
		if fields[0] == "VmRSS:" {
			resident = kilobytes << 10
		} else {
			peak = kilobytes << 10
		}
	}
	return resident, peak, nil
}

// thousands writes n as the screens do.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
