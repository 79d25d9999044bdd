// Places an order with a client from OpenAPI Generator, reads the order and its event, and prints the results as JSON.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"os"
	"strconv"

	"mandate.example/clients/mandate"
)

func main() {
	url := os.Getenv("MANDATE_URL")
	userID, err := strconv.ParseInt(os.Getenv("USER_ID"), 10, 64)
	check(err)
	configuration := mandate.NewConfiguration()
	configuration.Servers = mandate.ServerConfigurations{{URL: url}}
	client := mandate.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), mandate.ContextAccessToken, requestToken(url))

	products, _, err := client.ProductsAPI.ProductsList(ctx).Execute()
	check(err)
	input := mandate.NewOrderCreate()
	input.SetItems([]mandate.OrderItemCreate{*mandate.NewOrderItemCreate(products.Data[0].Id, 2)})
	input.SetDelivery(*mandate.NewDeliveryInput("collection", "Ann Lee"))
	input.SetUserId(userID)
	input.SetReference(os.Getenv("KEY"))
	placed, _, err := client.OrdersAPI.OrdersCreate(ctx).OrderCreate(*input).IdempotencyKey(os.Getenv("KEY")).Execute()
	check(err)
	order, _, err := client.OrdersAPI.OrdersGet(ctx, placed.Id).Execute()
	check(err)

	_, _, err = client.OrdersAPI.OrdersGet(ctx, 1_000_000_000_000_000).Execute()
	var failure *mandate.GenericOpenAPIError
	if !errors.As(err, &failure) {
		log.Fatal("an unknown order was found")
	}
	problem, ok := failure.Model().(mandate.Problem)
	if !ok {
		log.Fatalf("the error has the type %T", failure.Model())
	}

	page, _, err := client.EventsAPI.EventsList(ctx).Limit(100).Execute()
	check(err)
	output := result{
		ID: order.Id, Reference: order.Reference.Get(), Total: order.Total, Status: order.Status, Products: len(products.Data),
		Missing: problem.Code, Events: len(page.Data),
	}
	for _, item := range page.Data {
		if item.KnownEvent == nil {
			continue
		}
		output.KnownEvents++
		if event := item.KnownEvent.OrderEvent; event != nil && event.Type == "order.created" && event.Data.Object.Id == order.Id {
			output.EventReference = event.Data.Object.Reference.Get()
		}
	}
	check(json.NewEncoder(os.Stdout).Encode(output))
}
