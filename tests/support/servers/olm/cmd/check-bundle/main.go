// Check-bundle prints what the validators of operator-framework/api say about a bundle, a line for each
// finding, and exits with 1 if one of them is an error.
package main

import (
	"fmt"
	"os"

	"github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/validation"
	"github.com/operator-framework/api/pkg/validation/errors"
)

func main() {
	bundle, err := manifests.GetBundleFromDir(os.Args[1])
	if err != nil {
		fmt.Println("Error:", err)
		os.Exit(1)
	}
	objects := []interface{}{bundle, bundle.CSV}
	for _, each := range bundle.V1CRDs {
		objects = append(objects, each)
	}
	failed := false
	for _, result := range validation.DefaultBundleValidators.WithValidators(
		validation.CommunityOperatorValidator, validation.GoodPracticesValidator,
		validation.ClusterServiceVersionValidator, validation.CustomResourceDefinitionValidator,
	).Validate(objects...) {
		for _, each := range append(append([]errors.Error{}, result.Errors...), result.Warnings...) {
			failed = failed || each.Level == errors.LevelError
			fmt.Printf("%s: %s: %s\n", each.Level, each.Field, each.Detail)
		}
	}
	fmt.Printf("%s: %d CRDs\n", bundle.CSV.Name, len(bundle.V1CRDs))
	if failed {
		os.Exit(1)
	}
}
