package cmd

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/informeter/informeter/engine/findings"
	"github.com/informeter/informeter/engine/inspect"
	"github.com/informeter/informeter/engine/source/demo"
)

// examineDemo lets doctor watch the pods of a scenario in a bubble.
func examineDemo(t *testing.T, scenario string, d time.Duration) (e *examination) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c, err := demo.New(demo.Options{Scenario: scenario, Seed: 11})
		if err != nil {
			t.Fatal(err)
		}
		sources, err := c.Sources(nil, "")
		if err != nil {
			t.Fatal(err)
		}
		l, err := startLab(t.Context(), opened{sources: sources, run: c.Run}, settings{})
		if err != nil {
			t.Fatal(err)
		}
		defer l.stop()
		if e, err = examine(t.Context(), l.registry, d); err != nil {
			t.Fatal(err)
		}
	})
	return e
}

func TestDoctorFindsWhatEachScenarioIsAbout(t *testing.T) {
	for _, want := range []struct {
		scenario, rule string
		code           int
	}{
		{demo.SlowHandler, findings.GrowingBacklog, exitFound},
		{demo.ResyncStorm, findings.ResyncStorm, exitFound},
		{demo.Expired, findings.Expired, exitOK}, // one 410 is no problem
		{demo.HotKey, findings.HotKey, exitFound},
		{demo.Recreated, findings.IdentityChanged, exitFound},
	} {
		t.Run(want.scenario, func(t *testing.T) {
			e := examineDemo(t, want.scenario, 30*time.Second)
			var text, said strings.Builder
			if err := e.print(&text, "text"); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(text.String(), want.rule+"  pods") {
				t.Errorf("%s is not in\n%s", want.rule, &text)
			}
			err := Program{Stderr: &said}.diagnose(e, findings.Warning)
			if code := finish(err, &said); code != want.code || said.Len() > 0 {
				t.Errorf("exit code %d, want %d; said %q", code, want.code, &said)
			}
			for _, line := range strings.Split(text.String(), "\n") {
				if len([]rune(line)) > proseWidth {
					t.Errorf("%d characters in %q", len([]rune(line)), line)
				}
			}
		})
	}
}

func TestDoctorFindsNothingInASteadyCluster(t *testing.T) {
	e := examineDemo(t, demo.Steady, 5*time.Minute)
	var text strings.Builder
	if err := e.print(&text, "text"); err != nil {
		t.Fatal(err)
	}
	want := "watched for 5m\n  pods  all namespaces  "
	if !strings.HasPrefix(text.String(), want) || !strings.HasSuffix(text.String(), " objects  2 handlers  watching\n\nnothing found\n") {
		t.Errorf("got\n%s", &text)
	}
	if err := (Program{}).diagnose(e, findings.Info); err != nil {
		t.Errorf("got %v", err)
	}
}

// TestDoctorSaysThatANamespaceIsEmpty: nothing found among no objects is true, and
// not what was asked.
func TestDoctorSaysThatANamespaceIsEmpty(t *testing.T) {
	const hint = "\nnothing found\nthere are no pods in namespace quiet; -A looks in all namespaces\n"
	for _, c := range []struct {
		s    inspect.Summary
		said bool
	}{
		{inspect.Summary{Scope: "namespace quiet", Synced: true}, true},
		{inspect.Summary{Scope: "namespace quiet", Synced: true, Objects: 1}, false},
		{inspect.Summary{Scope: "namespace quiet"}, false},
		{inspect.Summary{Scope: "all namespaces", Synced: true}, false},
	} {
		c.s.Name = "pods"
		var text strings.Builder
		if err := (&examination{Informers: []inspect.Summary{c.s}}).print(&text, "text"); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(text.String(), hint) != c.said || strings.Contains(text.String(), "-A") != c.said {
			t.Errorf("%+v: said\n%s", c.s, &text)
		}
	}
}

func TestDoctorsCommandLinesThatAreWrong(t *testing.T) {
	isolate(t)
	up := serve(t, mute)
	for args, want := range map[string]string{
		"":                                     "error: no kubeconfig: there is no default file",
		"pods -A":                              "error: no kubeconfig: ",
		"--quux":                               "error: unknown flag: --quux; informeter doctor --help lists the flags",
		"--for x":                              `error: invalid argument "x" for "--for" flag: `,
		"--for 10ms --demo":                    "error: --for 10ms: nothing can be found in less than 1s",
		"-o xml --demo":                        `error: --output "xml": use text, json or yaml`,
		"--fail-on fatal --demo":               `error: --fail-on "fatal": use info, warning or error`,
		"--demo=unsteady":                      `error: --demo: no scenario is called "unsteady"`,
		"--demo --queue lifo":                  `error: --queue "lifo": `,
		"--demo --log-file /nowhere/there/log": "error: --log-file: ",
		"--server " + up + " podz":             `error: the server has no resource "podz"; did you mean pods?`,
	} {
		t.Run(args, func(t *testing.T) {
			got := run(t, append([]string{"doctor"}, strings.Fields(args)...)...)
			if got.code != exitTrouble || !strings.HasPrefix(got.stderr, want) || got.stdout != "" || strings.Count(got.stderr, "\n") != 1 {
				t.Errorf("code %d, said %q, want %q; stdout %q", got.code, got.stderr, want, got.stdout)
			}
		})
	}
}

func TestDoctorsOutputAsData(t *testing.T) {
	isolate(t)
	type output struct {
		WatchedNs time.Duration
		Informers []inspect.Summary
		Findings  []findings.Finding
	}
	got := run(t, "doctor", "--demo", "--for", "1s", "-o", "json", "nodes")
	var o output
	parseSnapshot(t, got.stdout, &o)
	if got.code != exitOK || o.WatchedNs < time.Second || len(o.Informers) != 1 || o.Informers[0].Name != "nodes" || o.Findings == nil || len(o.Findings) != 0 {
		t.Errorf("code %d: %s", got.code, got.stdout)
	}
	got = run(t, "doctor", "--demo", "--for", "1s", "-o", "yaml", "nodes")
	o = output{}
	if err := yaml.UnmarshalStrict([]byte(got.stdout), &o); err != nil || got.code != exitOK || len(o.Informers) != 1 {
		t.Errorf("code %d, %v: %s", got.code, err, got.stdout)
	}
}

func TestDoctorOnWhatIsForbidden(t *testing.T) {
	isolate(t)
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_, _ = fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"pods is forbidden: User \"jane\u001b[2J\" cannot list"}`)
	})
	got := run(t, "doctor", "--server", url, "--for", "1s")
	for _, want := range []string{"list-forbidden  pods", "not synced, ", "The server forbids to list pods", "found 1 "} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("%q is not in\n%s", want, got.stdout)
		}
	}
	if got.code != exitTrouble || !strings.Contains(got.stderr, "pods is not synced after ") || strings.Contains(got.stdout+got.stderr, "\x1b") {
		t.Errorf("code %d, said %q\n%q", got.code, got.stderr, got.stdout)
	}
	// The refusal is a warning at first: who asks for errors only is still told
	// that the informer has not synced.
	if got := run(t, "doctor", "--server", serve(t, mute), "--for", "1s"); got.code != exitTrouble || !strings.Contains(got.stdout, "\nnothing can be said yet: pods is not synced, ") || !strings.Contains(got.stderr, "is not synced after 1s") {
		t.Errorf("code %d, said %q\n%s", got.code, got.stderr, got.stdout)
	}
}

// TestDoctorSaysInWordsWhatTheRequestMet: address, parameters and Go type are for
// programs.
func TestDoctorSaysInWordsWhatTheRequestMet(t *testing.T) {
	isolate(t)
	server := nobody(t)
	said := regexp.MustCompile(`^error: pods is not synced after 1s: (watch-)?list: dial tcp [0-9.:]+: connect: connection refused\n$`)
	got := run(t, "doctor", "--server", server, "--for", "1s")
	if got.code != exitTrouble || !said.MatchString(got.stderr) || strings.Contains(got.stdout, "http") {
		t.Errorf("code %d, said %q\n%s", got.code, got.stderr, got.stdout)
	}
	got = run(t, "doctor", "--server", server, "--for", "1s", "-o", "json")
	if !said.MatchString(got.stderr) || !strings.Contains(got.stdout, "list *v1.Pod: Get \\\"http") {
		t.Errorf("said %q\n%s", got.stderr, got.stdout)
	}
}

func TestTheDiagnosisSumsUpBySeverity(t *testing.T) {
	found := func(all ...findings.Severity) *examination {
		e := &examination{}
		for _, s := range all {
			e.Findings = append(e.Findings, findings.Finding{Rule: "r", Severity: s})
		}
		return e
	}
	for want, e := range map[string]*examination{
		"found 1 warning, 1 remark": found(findings.Warning, findings.Info),
		"found 2 errors, 2 remarks": found(findings.Error, findings.Info, findings.Error, findings.Info),
	} {
		if got := e.verdict(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestDoctorWhatCountsIsFailOn(t *testing.T) {
	e := &examination{Findings: []findings.Finding{{Rule: "r", Severity: findings.Warning}}, Informers: []inspect.Summary{{Name: "pods", Synced: true}}}
	for failOn, want := range map[findings.Severity]int{findings.Info: exitFound, findings.Warning: exitFound, findings.Error: exitOK} {
		if code := finish((Program{}).diagnose(e, failOn), nil); code != want {
			t.Errorf("--fail-on %v: %d, want %d", failOn, code, want)
		}
	}
}

func TestDoctorRemembersWhatIsLongOver(t *testing.T) {
	at := time.Unix(1000, 0)
	one := findings.Finding{Rule: "r", Informer: "pods", Severity: findings.Warning, Since: at}
	over, again := one, one
	over.Ended = at.Add(time.Second)
	again.Since = at.Add(time.Hour)
	var r record
	r.add([]findings.Finding{one})
	r.add([]findings.Finding{over})
	r.add(nil)
	r.add([]findings.Finding{again})
	got := r.sorted()
	if len(got) != 2 || !got[0].Since.Equal(again.Since) || !got[1].Ended.Equal(over.Ended) {
		text, err := json.Marshal(got)
		t.Errorf("%s, %v", text, err)
	}
	for n := range 2 * mostFindings {
		r.add([]findings.Finding{{Rule: "r", Subject: fmt.Sprint(n)}})
	}
	if len(r) != mostFindings {
		t.Errorf("%d remembered", len(r))
	}
}

func TestDoctorLooksAtWhatNeedsALook(t *testing.T) {
	v := &opener{}
	release := openAll(context.Background(), v)
	if v.open != 1 {
		t.Errorf("opened %d times", v.open)
	}
	if release(); v.open != 0 {
		t.Errorf("%d still open", v.open)
	}
}

// opener is a process with one informer that counts who looks.
type opener struct {
	inspect.Inspector
	open int
}

func (o *opener) Informers(context.Context) ([]inspect.Summary, error) {
	return []inspect.Summary{{Name: "pods"}}, nil
}

func (o *opener) Informer(string) (inspect.Inspector, inspect.Controls, error) { return o, nil, nil }

func (o *opener) Open() (func(), error) {
	o.open++
	return func() { o.open-- }, nil
}
