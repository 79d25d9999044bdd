package main

import (
	"encoding/json"
	"log"
	"net/http"
	"net/url"
	"os"
	"strings"
)

// result is printed as JSON.
type result struct {
	ID             int64   `json:"id"`
	Reference      *string `json:"reference"`
	Total          int64   `json:"total"`
	Status         string  `json:"status"`
	Products       int     `json:"products"`
	Missing        string  `json:"missing"`
	EventReference *string `json:"event_reference"`
	KnownEvents    int     `json:"known_events"`
	Events         int     `json:"events"`
}

// requestToken requests an access token with client credentials.
func requestToken(server string) string {
	form := url.Values{"grant_type": {"client_credentials"}}
	request, err := http.NewRequest("POST", server+"/oauth/token", strings.NewReader(form.Encode()))
	check(err)
	request.SetBasicAuth(os.Getenv("CLIENT_ID"), os.Getenv("CLIENT_SECRET"))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultClient.Do(request)
	check(err)
	defer response.Body.Close()
	var token struct {
		AccessToken string `json:"access_token"`
	}
	check(json.NewDecoder(response.Body).Decode(&token))
	return token.AccessToken
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
