package main

import (
	"crypto/sha1"
	"crypto/sha512"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"strings"
	"text/template"

	"github.com/huandu/xstrings"
)

// laterFunctions is the function map of v0.20.4 with what changed until 2.9, written from its documentation.
func laterFunctions(former template.FuncMap) template.FuncMap {
	made := maps.Clone(former)
	delete(made, "getHostByName")
	delete(made, "getSecretKey") // asks a cluster
	made["camelcase"] = xstrings.ToPascalCase
	made["hexdec"] = hexdec
	made["sha512sum"] = func(text string) string { return fmt.Sprintf("%x", sha512.Sum512([]byte(text))) }
	made["certSANs"] = certSANs
	made["htpasswd"] = htpasswd(former["htpasswd"].(func(string, string) string))
	made["filterPEM"] = filterPEM(former["filterPEM"].(func(string, string) (string, error)))
	return made
}

func hexdec(text string) string {
	decoded, err := hex.DecodeString(text)
	if err != nil {
		return err.Error()
	}
	return string(decoded)
}

// certSANs lists names, addresses, mail addresses and URIs, in this order.
func certSANs(text string) ([]string, error) {
	block, _ := pem.Decode([]byte(fromBegin(text)))
	if block == nil {
		return nil, errors.New("no PEM block")
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, err
	}
	names := append([]string{}, certificate.DNSNames...)
	for _, address := range certificate.IPAddresses {
		names = append(names, address.String())
	}
	names = append(names, certificate.EmailAddresses...)
	for _, uri := range certificate.URIs {
		names = append(names, uri.String())
	}
	return names, nil
}

type algorithm string

func htpasswd(withBcrypt func(string, string) string) func(string, string, algorithm) string {
	return func(user, password string, how algorithm) string {
		if how != "sha" || strings.Contains(user, ":") {
			return withBcrypt(user, password)
		}
		sum := sha1.Sum([]byte(password))
		return user + ":{SHA}" + base64.StdEncoding.EncodeToString(sum[:])
	}
}

// filterPEM drops what stands before the first block, as 2.9 does.
func filterPEM(former func(string, string) (string, error)) func(string, string) (string, error) {
	return func(kind, text string) (string, error) { return former(kind, fromBegin(text)) }
}

func fromBegin(text string) string {
	if start := strings.Index(text, "-----BEGIN"); start >= 0 {
		return text[start:]
	}
	return text
}
