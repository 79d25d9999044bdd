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
import org.openapitools.client.api.OrdersApi;
import org.openapitools.client.model.DeliveryInput;
import org.openapitools.client.model.Order;
import org.openapitools.client.model.OrderCreate;
import org.openapitools.client.model.OrderItemCreate;

/** Places an order with the generated client, using client credentials, and reads the order. */
public class PlaceOrder {
  private static final ObjectMapper json = new ObjectMapper();

  public static void main(String[] arguments) throws Exception {
    URI url = URI.create(System.getenv("MANDATE_URL"));
    String token = token(url);
    ApiClient client = new ApiClient().setScheme(url.getScheme()).setHost(url.getHost()).setPort(url.getPort()).setBasePath(url.getPath());
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + token));
    OrdersApi orders = new OrdersApi(client);

    OrderCreate input =
        new OrderCreate()
            .items(List.of(new OrderItemCreate().productId(1L).quantity(2)))
            .delivery(new DeliveryInput().method("collection").recipientName("Ann Lee"))
            .userId(Long.valueOf(System.getenv("USER_ID")))
            .reference("from Java");
    Order placed = orders.ordersCreate(input, System.getenv("KEY"));
    Order order = orders.ordersGet(placed.getId(), null);
    if (!order.getItems().get(0).getTotal().equals(placed.getSubtotal())) throw new IllegalStateException("the line total differs from the order subtotal");

    Map<String, Object> output = new LinkedHashMap<>();
    output.put("id", order.getId());
    output.put("reference", order.getReference());
    output.put("total", order.getTotal());
    output.put("status", order.getStatus().getValue());
    output.put("missing", missingOrderCode(orders));
    System.out.println(json.writeValueAsString(output));
  }

  private static Object missingOrderCode(OrdersApi orders) throws Exception {
    try {
      orders.ordersGet(1_000_000_000_000_000L, null);
      throw new IllegalStateException("an unknown order was found");
    } catch (ApiException failure) {
      return json.readValue(failure.getResponseBody(), Map.class).get("code");
    }
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
