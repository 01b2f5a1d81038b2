// A real Vault server for the tests: core, HTTP API and the engines and logins that the tests use, in memory,
// unsealed, without the command line around it. It prints its address once it answers.
//
// With -tls-cert and -tls-key it speaks TLS and asks for a client certificate, as the cert login needs it. It ends
// when its standard input does, so that it never outlives the tests.
package main

import (
	"context"
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"

	"github.com/hashicorp/go-hclog"
	aeadwrapper "github.com/hashicorp/go-kms-wrapping/wrappers/aead/v2"
	authjwt "github.com/hashicorp/vault-plugin-auth-jwt"
	authkube "github.com/hashicorp/vault-plugin-auth-kubernetes"
	kv "github.com/hashicorp/vault-plugin-secrets-kv"
	"github.com/hashicorp/vault/builtin/credential/approle"
	awsauth "github.com/hashicorp/vault/builtin/credential/aws"
	"github.com/hashicorp/vault/builtin/credential/cert"
	"github.com/hashicorp/vault/builtin/credential/ldap"
	"github.com/hashicorp/vault/builtin/credential/userpass"
	"github.com/hashicorp/vault/command/server"
	"github.com/hashicorp/vault/helper/namespace"
	vaulthttp "github.com/hashicorp/vault/http"
	"github.com/hashicorp/vault/internalshared/configutil"
	"github.com/hashicorp/vault/sdk/helper/consts"
	"github.com/hashicorp/vault/sdk/logical"
	"github.com/hashicorp/vault/sdk/physical/inmem"
	"github.com/hashicorp/vault/vault"
	"github.com/hashicorp/vault/vault/seal"
)

// leased-kv hands out a lease with every read, as engines of dynamic secrets do.
var engines = map[string]logical.Factory{"kv": kv.Factory, "leased-kv": vault.LeasedPassthroughBackendFactory}

var logins = map[string]logical.Factory{
	"approle": approle.Factory, "aws": awsauth.Factory, "cert": cert.Factory, "jwt": authjwt.Factory,
	"kubernetes": authkube.Factory, "ldap": ldap.Factory, "oidc": authjwt.Factory, "userpass": userpass.Factory,
}

// registry tells the core which engines and logins are built in.
type registry struct{}

func (registry) of(kind consts.PluginType) map[string]logical.Factory {
	switch kind {
	case consts.PluginTypeSecrets:
		return engines
	case consts.PluginTypeCredential:
		return logins
	}
	return nil
}

func (r registry) Contains(name string, kind consts.PluginType) bool {
	_, found := r.of(kind)[name]
	return found
}

func (r registry) Get(name string, kind consts.PluginType) (func() (interface{}, error), bool) {
	factory, found := r.of(kind)[name]
	return func() (interface{}, error) { return factory, nil }, found
}

func (r registry) Keys(kind consts.PluginType) (names []string) {
	for name := range r.of(kind) {
		names = append(names, name)
	}
	return names
}

func (r registry) DeprecationStatus(name string, kind consts.PluginType) (consts.DeprecationStatus, bool) {
	return consts.Supported, r.Contains(name, kind)
}

func (registry) IsBuiltinEntPlugin(string, consts.PluginType) bool { return false }

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// start makes an unsealed core with a root token of the given id and kv version 2 at secret/.
func start(address, token, level string) *vault.Core {
	logger := hclog.New(&hclog.LoggerOptions{Level: hclog.LevelFromString(level)})
	storage, err := inmem.NewInmem(nil, logger)
	must(err)
	core, err := vault.NewCore(&vault.CoreConfig{
		Physical: storage, StorageType: "inmem", Logger: logger, DisableMlock: true, RedirectAddr: address,
		LogicalBackends: engines, CredentialBackends: logins, BuiltinRegistry: registry{},
		Seal:      vault.NewDefaultSeal(seal.NewAccess(aeadwrapper.NewShamirWrapper())),
		RawConfig: &server.Config{SharedConfig: &configutil.SharedConfig{}},
	})
	must(err)
	ctx := namespace.RootContext(context.Background())
	one := &vault.SealConfig{SecretShares: 1, SecretThreshold: 1}
	made, err := core.Initialize(ctx, &vault.InitParams{BarrierConfig: one, RecoveryConfig: one})
	must(err)
	_, err = core.Unseal(append([]byte(nil), made.SecretShares[0]...))
	must(err)
	write := func(path string, data map[string]interface{}) {
		request := &logical.Request{
			ID: "setup", Operation: logical.UpdateOperation, ClientToken: made.RootToken, Path: path, Data: data,
		}
		answer, err := core.HandleRequest(ctx, request)
		must(err)
		if answer != nil && answer.IsError() {
			log.Fatal(path, ": ", answer.Error())
		}
	}
	write("auth/token/create", map[string]interface{}{
		"id": token, "policies": []string{"root"}, "no_parent": true, "no_default_policy": true,
	})
	write("sys/mounts/secret", map[string]interface{}{
		"type": "kv", "options": map[string]string{"version": "2"},
	})
	return core
}

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "address")
	token := flag.String("root-token", "root", "id of the root token")
	level := flag.String("log-level", "error", "log level")
	certFile := flag.String("tls-cert", "", "file of the certificate")
	keyFile := flag.String("tls-key", "", "file of its key")
	flag.Parse()
	listener, err := net.Listen("tcp", *listen)
	must(err)
	address := "http://" + listener.Addr().String()
	if *certFile != "" {
		pair, err := tls.LoadX509KeyPair(*certFile, *keyFile)
		must(err)
		address = "https://" + listener.Addr().String()
		listener = tls.NewListener(listener, &tls.Config{
			Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequestClientCert, MinVersion: tls.VersionTLS12,
		})
	}
	core := start(address, *token, *level)
	handler := vaulthttp.Handler.Handler(&vault.HandlerProperties{
		Core: core, ListenerConfig: &configutil.Listener{Address: listener.Addr().String()},
	})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	fmt.Println(address)
	must(http.Serve(listener, handler))
}
