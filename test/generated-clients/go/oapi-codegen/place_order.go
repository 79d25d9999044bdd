// Places an order with a client from oapi-codegen, reads the order and its event, and prints the results as JSON.
package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"strconv"

	"mandate.example/clients/mandate"
)

func main() {
	url := os.Getenv("MANDATE_URL")
	key := os.Getenv("KEY")
	userID, err := strconv.ParseInt(os.Getenv("USER_ID"), 10, 64)
	check(err)
	token := requestToken(url)
	ctx := context.Background()
	client, err := mandate.NewClientWithResponses(url, mandate.WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+token)
		return nil
	}))
	check(err)

	products, err := client.ProductsListWithResponse(ctx, &mandate.ProductsListParams{})
	check(err)
	if products.JSON200 == nil {
		log.Fatal(products.Status())
	}
	placed, err := client.OrdersCreateWithResponse(ctx, &mandate.OrdersCreateParams{IdempotencyKey: &key}, mandate.OrderCreate{
		Items:     &[]mandate.OrderItemCreate{{ProductId: products.JSON200.Data[0].Id, Quantity: 2}},
		Delivery:  &mandate.DeliveryInput{Method: "collection", RecipientName: "Ann Lee"},
		UserId:    &userID,
		Reference: &key,
	})
	check(err)
	if placed.JSON201 == nil {
		log.Fatal(string(placed.Body))
	}
	read, err := client.OrdersGetWithResponse(ctx, placed.JSON201.Id, &mandate.OrdersGetParams{})
	check(err)
	order := read.JSON200

	missing, err := client.OrdersGetWithResponse(ctx, 1_000_000_000_000_000, &mandate.OrdersGetParams{})
	check(err)
	if missing.ApplicationproblemJSON404 == nil {
		log.Fatal(missing.Status())
	}

	limit := int64(100)
	page, err := client.EventsListWithResponse(ctx, &mandate.EventsListParams{Limit: &limit})
	check(err)
	output := result{
		ID: order.Id, Reference: order.Reference, Total: order.Total, Status: string(order.Status), Products: len(products.JSON200.Data),
		Missing: missing.ApplicationproblemJSON404.Code, Events: len(page.JSON200.Data),
	}
	for _, item := range page.JSON200.Data {
		known, err := item.AsKnownEvent()
		check(err)
		// returns an error if the type of the event is newer than the document
		value, err := known.ValueByDiscriminator()
		if err != nil {
			continue
		}
		output.KnownEvents++
		if event, ok := value.(mandate.OrderEvent); ok && event.Type == "order.created" && event.Data.Object.Id == order.Id {
			output.EventReference = event.Data.Object.Reference
		}
	}
	check(json.NewEncoder(os.Stdout).Encode(output))
}
