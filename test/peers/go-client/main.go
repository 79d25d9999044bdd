// Signs in with go-oidc and golang.org/x/oauth2: prints the authorization URL, reads the callback URL, and prints the user and the URL for
// signing out.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

func main() {
	if err := signIn(context.Background(), os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func signIn(ctx context.Context, issuer, clientID, clientSecret, redirectURL string) error {
	provider, err := oidc.NewProvider(ctx, issuer)
	if err != nil {
		return err
	}
	config := oauth2.Config{
		ClientID:     clientID,
		ClientSecret: clientSecret,
		Endpoint:     provider.Endpoint(),
		RedirectURL:  redirectURL,
		Scopes:       []string{oidc.ScopeOpenID, "profile", "email", oidc.ScopeOfflineAccess, "users.read"},
	}
	state, nonce, verifier := oauth2.GenerateVerifier(), oauth2.GenerateVerifier(), oauth2.GenerateVerifier()
	fmt.Println(config.AuthCodeURL(state, oidc.Nonce(nonce), oauth2.S256ChallengeOption(verifier), oauth2.SetAuthURLParam("prompt", "consent")))
	callback, err := readCallback(state)
	if err != nil {
		return err
	}
	token, err := config.Exchange(ctx, callback.Get("code"), oauth2.VerifierOption(verifier))
	if err != nil {
		return err
	}
	rawIDToken, _ := token.Extra("id_token").(string)
	idToken, err := provider.Verifier(&oidc.Config{ClientID: clientID}).Verify(ctx, rawIDToken)
	if err != nil {
		return err
	}
	if idToken.Nonce != nonce {
		return fmt.Errorf("the nonce is %q", idToken.Nonce)
	}
	renewed, err := config.TokenSource(ctx, &oauth2.Token{RefreshToken: token.RefreshToken}).Token()
	if err != nil {
		return err
	}
	return printUser(ctx, provider, config, renewed, issuer, idToken.Subject, rawIDToken)
}

func readCallback(state string) (url.Values, error) {
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if err != nil {
		return nil, err
	}
	callback, err := url.Parse(strings.TrimSpace(line))
	if err != nil {
		return nil, err
	}
	if callback.Query().Get("state") != state {
		return nil, fmt.Errorf("the state is %q", callback.Query().Get("state"))
	}
	return callback.Query(), nil
}

func printUser(ctx context.Context, provider *oidc.Provider, config oauth2.Config, token *oauth2.Token, issuer, subject, rawIDToken string) error {
	source := oauth2.StaticTokenSource(token)
	user, err := provider.UserInfo(ctx, source)
	if err != nil {
		return err
	}
	if user.Subject != subject || !user.EmailVerified {
		return fmt.Errorf("userinfo returned %+v", user)
	}
	response, err := oauth2.NewClient(ctx, source).Get(issuer + "/api/v1/users/me")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	var me struct {
		ID    int64  `json:"id"`
		Email string `json:"email"`
	}
	if err := json.Unmarshal(body, &me); err != nil {
		return err
	}
	if me.Email != user.Email {
		return fmt.Errorf("the API returned %s", body)
	}
	var endpoints struct {
		EndSession string `json:"end_session_endpoint"`
	}
	if err := provider.Claims(&endpoints); err != nil {
		return err
	}
	signOut := endpoints.EndSession + "?" + url.Values{"id_token_hint": {rawIDToken}, "client_id": {config.ClientID}}.Encode()
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"id": me.ID, "email": me.Email, "sign_out": signOut})
}
