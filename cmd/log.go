package cmd

import (
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"

	"k8s.io/klog/v2"
)

// startLog sends what client-go and the standard library's HTTP client log to the
// file of that name, or nowhere if it is empty, until stop is called: their
// default is to write over the screen.
func startLog(name string) (to io.Writer, stop func(), err error) {
	to, closeFile := io.Discard, func() error { return nil }
	if name != "" {
		file, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return nil, nil, fmt.Errorf("--log-file: %w", err)
		}
		to, closeFile = file, file.Close
	}
	standard := log.Writer()
	log.SetOutput(to)
	klog.SetSlogLogger(slog.New(slog.NewTextHandler(to, nil)))
	return to, func() {
		klog.ClearLogger()
		log.SetOutput(standard)
		_ = closeFile()
	}, nil
}
