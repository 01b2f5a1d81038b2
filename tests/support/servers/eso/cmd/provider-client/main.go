// The operator's own providers, without the operator: each line of standard input is one store and what to call,
// each line of standard output what became of the calls. A secret manager meets the vendor's client as the operator
// uses it; without an API server, Secrets are those of the line.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"unsafe" // for go:linkname, too

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	esv1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	esv1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	"github.com/external-secrets/external-secrets/pkg/provider/onboardbase"
	_ "github.com/external-secrets/external-secrets/pkg/provider/register"
)

const namespace = "default"

// The public keys of Keeper's servers, with which its client encrypts every request. The client has no option for
// another one, and nobody but Keeper has the private keys: the environment may name that of a server of ours.
//
//go:linkname keeperServerPublicKeys github.com/keeper-security/secrets-manager-go/core.keeperServerPublicKeys
var keeperServerPublicKeys map[string]string

type task struct {
	Provider esv1.SecretStoreProvider     `json:"provider"`
	Secrets  map[string]map[string][]byte `json:"secrets"`
	Calls    []call                       `json:"calls"`
}

// One of them is set.
type call struct {
	Get      *esv1.ExternalSecretDataRemoteRef `json:"get"`
	Extract  *esv1.ExternalSecretDataRemoteRef `json:"extract"`
	Find     *esv1.ExternalSecretFind          `json:"find"`
	Push     *esv1alpha1.PushSecretData        `json:"push"`
	Source   map[string][]byte                 `json:"source"`
	Delete   *esv1alpha1.PushSecretRemoteRef   `json:"delete"`
	Exists   *esv1alpha1.PushSecretRemoteRef   `json:"exists"`
	Validate bool                              `json:"validate"`
}

type outcome struct {
	Value  []byte            `json:"value,omitempty"`
	Values map[string][]byte `json:"values,omitempty"`
	Exists bool              `json:"exists,omitempty"`
	State  string            `json:"state,omitempty"`
	Absent bool              `json:"absent,omitempty"`
	Error  string            `json:"error,omitempty"`
}

// The API server, as far as stores ask it: the Secrets of the line.
type secrets struct {
	client.Client
	data map[string]map[string][]byte
}

func (s secrets) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	secret, isSecret := into.(*corev1.Secret)
	data, known := s.data[key.Name]
	if !isSecret || !known {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, key.Name)
	}
	secret.Name, secret.Namespace, secret.Data = key.Name, key.Namespace, data
	return nil
}

func main() {
	for id := range keeperServerPublicKeys {
		if key := os.Getenv("KEEPER_SERVER_PUBLIC_KEY"); key != "" {
			keeperServerPublicKeys[id] = key
		}
	}
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var asked task
		if err := json.Unmarshal(line, &asked); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		answer, _ := json.Marshal(run(context.Background(), asked))
		fmt.Println(string(answer))
	}
}

func run(ctx context.Context, asked task) []outcome {
	store := &esv1.SecretStore{
		TypeMeta:   metav1.TypeMeta{APIVersion: "external-secrets.io/v1", Kind: "SecretStore"},
		ObjectMeta: metav1.ObjectMeta{Name: "store", Namespace: namespace},
		Spec:       esv1.SecretStoreSpec{Provider: &asked.Provider},
	}
	opened, err := open(ctx, store, secrets{data: asked.Secrets})
	outcomes := make([]outcome, 0, len(asked.Calls))
	for _, each := range asked.Calls {
		if err != nil {
			outcomes = append(outcomes, failed(err))
			continue
		}
		outcomes = append(outcomes, made(ctx, opened, each))
	}
	if err == nil {
		_ = opened.Close(ctx)
	}
	return outcomes
}

func open(ctx context.Context, store *esv1.SecretStore, api client.Client) (esv1.SecretsClient, error) {
	provider, err := esv1.GetProvider(store)
	if err != nil {
		return nil, err
	}
	if _, err := provider.ValidateStore(store); err != nil {
		return nil, err
	}
	opened, err := provider.NewClient(ctx, store, api, namespace)
	if found, is := opened.(*onboardbase.Client); is && err == nil {
		err = redirect(found)
	}
	return opened, err
}

// The provider of Onboardbase ignores apiHost, and its client knows of no proxy: it calls one address. But the client,
// in a field of its own, has a method for another one: the environment may name that of a server of ours.
func redirect(opened *onboardbase.Client) error {
	address := os.Getenv("ONBOARDBASE_ADDRESS")
	if address == "" {
		return nil
	}
	field := reflect.ValueOf(opened).Elem().FieldByName("onboardbase")
	held := reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem().Interface()
	return held.(interface{ SetBaseURL(string) error }).SetBaseURL(address)
}

func made(ctx context.Context, opened esv1.SecretsClient, asked call) outcome {
	var found outcome
	var err error
	switch {
	case asked.Get != nil:
		found.Value, err = opened.GetSecret(ctx, *asked.Get)
	case asked.Extract != nil:
		found.Values, err = opened.GetSecretMap(ctx, *asked.Extract)
	case asked.Find != nil:
		found.Values, err = opened.GetAllSecrets(ctx, *asked.Find)
	case asked.Push != nil:
		secret := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: "source", Namespace: namespace},
			Data:       asked.Source,
		}
		err = opened.PushSecret(ctx, secret, *asked.Push)
	case asked.Delete != nil:
		err = opened.DeleteSecret(ctx, *asked.Delete)
	case asked.Exists != nil:
		found.Exists, err = opened.SecretExists(ctx, *asked.Exists)
	case asked.Validate:
		var state esv1.ValidationResult
		state, err = opened.Validate()
		found.State = state.String()
	}
	if err != nil {
		return failed(err)
	}
	return found
}

func failed(err error) outcome {
	return outcome{Absent: errors.Is(err, esv1.NoSecretErr), Error: err.Error()}
}
