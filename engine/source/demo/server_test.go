package demo

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// statusCode returns the HTTP status of an error of the server, 0 for others.
func statusCode(err error) int {
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		return 0
	}
	return int(status.Status().Code)
}
