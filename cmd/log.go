package cmd

import (
	"fmt"
	"io"
	"log/slog"
	"os"

	"k8s.io/klog/v2"
)

// startLog sends what client-go logs to the file of that name, or nowhere if it
// is empty: klog's default is to write over the screen.
func startLog(name string) (log io.Writer, stop func(), err error) {
	if name == "" {
		klog.SetSlogLogger(slog.New(slog.DiscardHandler))
		return io.Discard, klog.ClearLogger, nil
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("--log-file: %w", err)
	}
	klog.SetSlogLogger(slog.New(slog.NewTextHandler(file, nil)))
	return file, func() {
		klog.ClearLogger()
		_ = file.Close()
	}, nil
}
