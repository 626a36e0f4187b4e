package testcluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// User is someone the API server knows by a token.
type User string

// The users of every cluster.
const (
	// Admin may do everything.
	Admin User = "admin"
	// Nobody is authenticated and may do nothing but ask what the server offers.
	Nobody User = "nobody"
)

// groups of a user, as the authorizer sees them.
func (u User) groups() string {
	if u == Admin {
		return "system:masters"
	}
	return ""
}

// credentials are the secrets of one cluster.
type credentials struct {
	// certificate is the server's, self-signed, so it is also what clients trust;
	// certFile holds it too.
	certificate       []byte
	certFile, keyFile string
	// accountKeyFile signs service account tokens; the server insists on one.
	accountKeyFile string
	tokenFile      string
	tokens         map[User]string
}

// newCredentials makes keys, a certificate and tokens in dir.
func newCredentials(dir string) (*credentials, error) {
	c := &credentials{
		certFile:       filepath.Join(dir, "server.crt"),
		keyFile:        filepath.Join(dir, "server.key"),
		accountKeyFile: filepath.Join(dir, "service-account.key"),
		tokenFile:      filepath.Join(dir, "tokens.csv"),
		tokens:         map[User]string{Admin: rand.Text(), Nobody: rand.Text()},
	}
	key, err := newKey(c.keyFile)
	if err != nil {
		return nil, err
	}
	if c.certificate, err = newCertificate(c.certFile, key); err != nil {
		return nil, err
	}
	if _, err := newKey(c.accountKeyFile); err != nil {
		return nil, err
	}
	var lines strings.Builder
	for user, token := range c.tokens {
		fmt.Fprintf(&lines, "%s,%s,%s,%q\n", token, user, user, user.groups())
	}
	if err := os.WriteFile(c.tokenFile, []byte(lines.String()), 0o600); err != nil {
		return nil, fmt.Errorf("write the users' tokens: %w", err)
	}
	return c, nil
}

// newKey makes a private key and writes it to path.
func newKey(path string) (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("generate %s: %w", path, err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", path, err)
	}
	_, err = writePEM(path, "EC PRIVATE KEY", der)
	return key, err
}

// newCertificate writes a certificate for loopback, signed by its own key.
func newCertificate(path string, key *ecdsa.PrivateKey) ([]byte, error) {
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "informeter test cluster"},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().AddDate(1, 0, 0),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA:                  true,
		BasicConstraintsValid: true,
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
		DNSNames:              []string{"localhost"},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("sign the server's certificate: %w", err)
	}
	return writePEM(path, "CERTIFICATE", der)
}

// writePEM writes der to path and returns what it wrote.
func writePEM(path, kind string, der []byte) ([]byte, error) {
	text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return nil, fmt.Errorf("write a key or certificate: %w", err)
	}
	return text, nil
}
