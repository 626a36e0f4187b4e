package e2e_test

import (
	"encoding/base64"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informeter/informeter/e2e/testcluster"
)

// slowRow is the row of the handler slow, with a backlog that is no accident.
var slowRow = regexp.MustCompile(`slow \(lab, 50ms\) +[1-9][0-9,]+ `)

func testSlowHandler(t *testing.T, p *program, cluster *testcluster.Cluster) {
	client := kubeClient(t, cluster)
	createNamespace(t, client, "slow")
	pod := createPod(t, client, "slow", "restless")
	defer deletePod(t, client, "slow", "restless")
	e := p.explore(t, cluster.KubeconfigFor(t, testcluster.Admin), "pods", "-n", "slow")
	e.shows("watching")
	e.press(":handler add slow 50ms\r", "5")
	e.shows("slow (lab, 50ms)")
	// The changes come faster than it handles them, however slow this machine is:
	// while one is handled, the next two are waited for.
	err := e.WaitFor("the handler falls behind", func(screen string) bool {
		pod = labelPod(t, client, pod, "round", pod.ResourceVersion)
		return slowRow.MatchString(screen)
	}, patience)
	if err != nil {
		t.Fatal(err)
	}
	e.press(":handler remove slow\r")
	e.shows("handler slow removed")
	e.hides("slow (lab, 50ms)")
	e.quits()
}

func testRelist(t *testing.T, p *program, cluster *testcluster.Cluster) {
	e := p.explore(t, cluster.KubeconfigFor(t, testcluster.Admin), "pods", "-n", "default")
	e.press("7")
	e.shows("1 watch-list ", "no. 1", "open, watching")
	e.press(":relist\r")
	e.shows("asking for everything again")
	e.press("g")
	e.shows("2 watch-lists", "no. 2", "ended by us", "relist")
	e.quits()
}

func testBiography(t *testing.T, p *program, cluster *testcluster.Cluster) {
	client := kubeClient(t, cluster)
	createNamespace(t, client, "lives")
	first := createPod(t, client, "lives", "phoenix")
	e := p.explore(t, cluster.KubeconfigFor(t, testcluster.Admin), "pods", "-n", "lives")
	e.press("3")
	e.shows("▸ lives/phoenix")

	labelPod(t, client, first, "tier", "gold")
	e.press("b", "g")
	e.shows("Biography", "in the store", ".metadata.labels.tier", string(first.UID))
	e.press("\r")
	e.shows("› Diff", ".metadata.labels.tier", "gold")
	e.press("\x1b")
	e.hides("› Diff")

	deletePod(t, client, "lives", "phoenix")
	e.shows("not in the store any more")
	second := createPod(t, client, "lives", "phoenix")
	defer deletePod(t, client, "lives", "phoenix")
	e.press("g")
	e.shows("another UID", string(second.UID))
	e.hides("not in the store any more")
	e.press("G")
	e.shows(string(first.UID))
	e.quits()
}

func testSecret(t *testing.T, p *program, cluster *testcluster.Cluster) {
	client := kubeClient(t, cluster)
	createNamespace(t, client, "hidden")
	values := []string{"swordfish-before", "swordfish-after"}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "vault", Annotations: map[string]string{
			"kubectl.kubernetes.io/last-applied-configuration": `{"stringData":{"password":"` + values[0] + `"}}`,
		}},
		StringData: map[string]string{"password": values[0]},
	}
	secret, err := client.CoreV1().Secrets("hidden").Create(t.Context(), secret, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	e := p.explore(t, cluster.KubeconfigFor(t, testcluster.Admin), "secrets", "-n", "hidden")
	e.press("3")
	e.shows("▸ hidden/vault")
	secret.StringData = map[string]string{"password": values[1]}
	if _, err := client.CoreV1().Secrets("hidden").Update(t.Context(), secret, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	e.press("b")
	e.shows("2 events", ".data.password")
	for _, page := range []struct{ key, shows string }{
		{"y", `password: "<hidden: 15 bytes>"`},
		{"d", "stays hidden"},
		{"i", "namespace"},
		{"b", "› Biography"},
	} {
		e.press(page.key)
		// Looked at on every screen that comes by, not only at the last.
		err := e.WaitFor("the screen shows "+page.shows, func(screen string) bool {
			for _, v := range values {
				if strings.Contains(screen, v) || strings.Contains(screen, base64.StdEncoding.EncodeToString([]byte(v))) {
					t.Fatalf("the screen after %s shows %s:\n%s", page.key, v, screen)
				}
			}
			return strings.Contains(screen, page.shows)
		}, patience)
		if err != nil {
			t.Fatal(err)
		}
	}
	e.quits()
}
