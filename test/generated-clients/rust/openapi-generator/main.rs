//! Places an order with a client from OpenAPI Generator, reads the order and its event, and prints the results as JSON.

use std::collections::HashMap;
use std::env::var;
use std::error::Error;

use openapi::apis::{self, configuration::Configuration, events_api, orders_api, products_api};
use openapi::models;
use serde_json::{json, Value};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let (url, key) = (var("MANDATE_URL")?, var("KEY")?);
    let configuration = Configuration {
        oauth_access_token: Some(request_token(&url).await?),
        base_path: url,
        ..Default::default()
    };

    let products = products_api::products_list(&configuration, None, None, None, None, None, None, None, None, None, None).await?;
    let input = models::OrderCreate {
        items: Some(vec![models::OrderItemCreate::new(products.data[0].id, 2)]),
        delivery: Some(Box::new(models::DeliveryInput::new("collection".into(), "Ann Lee".into()))),
        user_id: Some(var("USER_ID")?.parse()?),
        reference: Some(key.clone()),
        ..Default::default()
    };
    let placed = orders_api::orders_create(&configuration, input, None, Some(&key)).await?;
    let order = orders_api::orders_get(&configuration, placed.id, None).await?;
    let missing = missing_order_code(&configuration).await?;

    let page = events_api::events_list(&configuration, Some(100), None, None, None, None, None).await?;
    let mut event_reference = None;
    // The generated type `Event` has the fields of `OtherEvent`, so the program converts the event's object to an `Order`.
    for event in page.data.iter().filter(|event| event.r#type == "order.created") {
        let object: models::Order = serde_json::from_value(serde_json::to_value(&event.data.object)?)?;
        if object.id == order.id {
            event_reference = object.reference;
        }
    }
    let output = json!({
        "id": order.id, "reference": order.reference, "total": order.total, "status": order.status, "products": products.data.len(),
        "missing": missing, "event_reference": event_reference, "known_events": 0, "events": page.data.len(),
    });
    println!("{output}");
    Ok(())
}

async fn missing_order_code(configuration: &Configuration) -> Result<String, Box<dyn Error>> {
    match orders_api::orders_get(configuration, 1_000_000_000_000_000, None).await {
        // Every variant contains a `Problem`, and the generated code always selects the first variant. The response contains the actual
        // status.
        Err(apis::Error::ResponseError(response)) => match response.entity {
            Some(orders_api::OrdersGetError::Status400(problem)) => Ok(problem.code),
            other => Err(format!("unexpected error: {other:?}").into()),
        },
        other => Err(format!("unexpected result: {other:?}").into()),
    }
}

/// Requests an access token with client credentials.
async fn request_token(url: &str) -> Result<String, Box<dyn Error>> {
    let form = HashMap::from([("grant_type", "client_credentials")]);
    let request = reqwest::Client::new().post(format!("{url}/oauth/token"));
    let response = request.basic_auth(var("CLIENT_ID")?, Some(var("CLIENT_SECRET")?)).form(&form).send().await?;
    let token: Value = response.json().await?;
    Ok(token["access_token"].as_str().ok_or("the response contains no token")?.to_owned())
}
