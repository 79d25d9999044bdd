// Places an order with the generated client, using client credentials, and reads the order.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"os"
	"strconv"

	"golang.org/x/oauth2/clientcredentials"

	"mandate"
)

func main() {
	url := os.Getenv("MANDATE_URL")
	application := clientcredentials.Config{
		ClientID:     os.Getenv("CLIENT_ID"),
		ClientSecret: os.Getenv("CLIENT_SECRET"),
		TokenURL:     url + "/oauth/token",
	}
	configuration := mandate.NewConfiguration()
	configuration.Servers = mandate.ServerConfigurations{{URL: url}}
	configuration.HTTPClient = application.Client(context.Background())
	orders := mandate.NewAPIClient(configuration).OrdersApi
	userID, err := strconv.ParseInt(os.Getenv("USER_ID"), 10, 64)
	check(err)

	input := mandate.NewOrderCreate(
		[]mandate.OrderItemCreate{*mandate.NewOrderItemCreate(1, 2)},
		*mandate.NewDeliveryInput("collection", "Ann Lee"),
	)
	input.SetUserId(userID)
	input.SetReference("from Go")
	placed, _, err := orders.OrdersCreate(context.Background()).OrderCreate(*input).IdempotencyKey(os.Getenv("KEY")).Execute()
	check(err)
	order, _, err := orders.OrdersGet(context.Background(), placed.Id).Execute()
	check(err)
	if order.Items[0].Total != placed.Subtotal {
		log.Fatal("the line total differs from the order subtotal")
	}

	_, _, err = orders.OrdersGet(context.Background(), 1_000_000_000_000_000).Execute()
	var failure mandate.GenericOpenAPIError
	if !errors.As(err, &failure) {
		log.Fatal("an unknown order was found")
	}
	var problem mandate.Problem
	check(json.Unmarshal(failure.Body(), &problem))

	check(json.NewEncoder(os.Stdout).Encode(map[string]interface{}{
		"id": order.Id, "reference": order.Reference.Get(), "total": order.Total, "status": order.Status, "missing": problem.Code,
	}))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
