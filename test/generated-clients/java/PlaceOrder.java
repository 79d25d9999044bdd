import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.EventsApi;
import org.openapitools.client.api.OrdersApi;
import org.openapitools.client.api.ProductsApi;
import org.openapitools.client.model.DeliveryInput;
import org.openapitools.client.model.Event;
import org.openapitools.client.model.KnownEvent;
import org.openapitools.client.model.Order;
import org.openapitools.client.model.OrderCreate;
import org.openapitools.client.model.OrderEvent;
import org.openapitools.client.model.OrderItemCreate;
import org.openapitools.client.model.Problem;
import org.openapitools.client.model.Product;

/** Places an order with a client from OpenAPI Generator, reads the order and its event, and prints the results as JSON. */
public class PlaceOrder {
  private static final ObjectMapper json = new ObjectMapper();

  public static void main(String[] arguments) throws Exception {
    URI url = URI.create(System.getenv("MANDATE_URL"));
    String token = token(url);
    ApiClient client = new ApiClient().setScheme(url.getScheme()).setHost(url.getHost()).setPort(url.getPort()).setBasePath(url.getPath());
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + token));
    OrdersApi orders = new OrdersApi(client);

    List<Product> products = new ProductsApi(client).productsList(null, null, null, null, null, null, null, null, null, null).getData();
    OrderCreate input =
        new OrderCreate()
            .items(List.of(new OrderItemCreate().productId(products.get(0).getId()).quantity(2)))
            .delivery(new DeliveryInput().method("collection").recipientName("Ann Lee"))
            .userId(Long.valueOf(System.getenv("USER_ID")))
            .reference(System.getenv("KEY"));
    Order placed = orders.ordersCreate(input, null, System.getenv("KEY"));
    Order order = orders.ordersGet(placed.getId(), null);

    Map<String, Object> output = new LinkedHashMap<>();
    output.put("id", order.getId());
    output.put("reference", order.getReference());
    output.put("total", order.getTotal());
    output.put("status", order.getStatus().getValue());
    output.put("products", products.size());
    output.put("missing", missingOrderProblem(orders).getCode());
    addEvents(new EventsApi(client), order.getId(), output);
    System.out.println(json.writeValueAsString(output));
  }

  private static Problem missingOrderProblem(OrdersApi orders) throws Exception {
    try {
      orders.ordersGet(1_000_000_000_000_000L, null);
      throw new IllegalStateException("an unknown order was found");
    } catch (ApiException failure) {
      return ApiClient.createDefaultObjectMapper().readValue(failure.getResponseBody(), Problem.class);
    }
  }

  private static void addEvents(EventsApi events, long orderId, Map<String, Object> output) throws ApiException {
    List<Event> page = events.eventsList(100L, null, null, null, null, null).getData();
    int knownEvents = 0;
    for (Event item : page) {
      if (!(item.getActualInstance() instanceof KnownEvent known)) continue;
      knownEvents++;
      if (known.getActualInstance() instanceof OrderEvent event
          && event.getType() == OrderEvent.TypeEnum.ORDER_CREATED
          && event.getData().getObject().getId() == orderId)
        output.put("event_reference", event.getData().getObject().getReference());
    }
    output.put("known_events", knownEvents);
    output.put("events", page.size());
  }

  private static String token(URI url) throws Exception {
    String secret = System.getenv("CLIENT_ID") + ":" + System.getenv("CLIENT_SECRET");
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(url + "/oauth/token"))
            .header("Authorization", "Basic " + Base64.getEncoder().encodeToString(secret.getBytes()))
            .header("Content-Type", "application/x-www-form-urlencoded")
            .POST(HttpRequest.BodyPublishers.ofString("grant_type=client_credentials"))
            .build();
    String body = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body();
    return (String) json.readValue(body, Map.class).get("access_token");
  }
}
