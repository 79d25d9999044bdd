// Written by codegen/generate.ts from the OpenAPI document of the contract. Do not edit.

export interface paths {
    "/api/v2/orders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List orders
         * @description The orders of the current user; every order, for a member of staff with `orders.manage`. Order lines are returned by `include=items`, and with the single order.
         */
        get: operations["orders.list"];
        put?: never;
        /**
         * Place an order
         * @description Takes the stock and fixes the prices at once. The order then waits for payment until `expires_at`. Send an `Idempotency-Key`, so that a repeated request does not order twice.
         */
        post: operations["orders.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/orders/{order_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an order */
        get: operations["orders.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change an order
         * @description A merge patch (RFC 7396) of what does not change the price. The delivery can change until something is shipped; by the customer only while the order is pending.
         */
        patch: operations["orders.update"];
        trace?: never;
    };
    "/api/v2/orders/{order_id}/cancellation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel an order
         * @description While nothing is shipped. The goods go back into stock, and what was paid is paid back.
         */
        post: operations["orders.cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Order: {
            id: number;
            /** @description The customer. */
            user_id: number;
            /** @description The application that placed the order. */
            client_id: string | null;
            /**
             * @description Where the goods stand.
             * @enum {string}
             */
            status: "pending" | "paid" | "shipped" | "delivered" | "canceled";
            /**
             * @description Where the money stands.
             * @enum {string}
             */
            payment_status: "unpaid" | "paid" | "partially_refunded" | "refunded";
            /**
             * @description Where the parcels stand.
             * @enum {string}
             */
            fulfillment_status: "unfulfilled" | "partial" | "shipped" | "delivered";
            /** @enum {string|null} */
            cancel_reason: "customer" | "staff" | "payment_expired" | "payment_failed" | "fraud" | "out_of_stock" | null;
            currency: string;
            /**
             * @description Whether prices contain the tax.
             * @enum {string}
             */
            tax_mode: "inclusive" | "exclusive";
            /** @description Sum of the lines. */
            subtotal: number;
            discount_total: number;
            /** @description Price of the delivery. */
            shipping_total: number;
            tax_total: number;
            /** @description What the customer pays, in minor units of `currency`. */
            total: number;
            refunded_total: number;
            /** @description How many lines the order has. */
            item_count: number;
            /** @description The caller's own number of the order. */
            reference: string | null;
            note: string | null;
            metadata: {
                [key: string]: string;
            };
            /** @description Counts the changes. */
            version: number;
            /**
             * Format: date-time
             * @description Until when the goods are held for payment.
             */
            expires_at: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /** Format: date-time */
            paid_at: string | null;
            /** Format: date-time */
            shipped_at: string | null;
            /** Format: date-time */
            delivered_at: string | null;
            /** Format: date-time */
            canceled_at: string | null;
            items: components["schemas"]["OrderItem"][];
            /** @description Code of the delivery method. */
            shipping_method: string;
            shipping_address: components["schemas"]["ShippingAddress"];
        };
        OrderCancellation: {
            /**
             * @description Other than `customer` is for members of staff.
             * @enum {string}
             */
            reason?: "customer" | "staff" | "fraud" | "out_of_stock";
            /** @description Replaces the order's note. */
            note?: string;
        };
        OrderCreate: {
            /** @description The same product may stand on several lines. */
            items: components["schemas"]["OrderItemCreate"][];
            /** @description Place the order for this customer; needs `orders.manage` and a member of staff. */
            user_id?: number;
            /** @description Taken off the subtotal; needs `orders.manage` and a member of staff. */
            discount_total?: number;
            /** @description The total the customer was shown; a different one is refused with `price_changed`. */
            total?: number;
            /** @description Your own number of the order. */
            reference?: string;
            note?: string;
            /** @default {} */
            metadata?: {
                [key: string]: string;
            };
            /** @description Code of the delivery method. */
            shipping_method: string;
            shipping_address: components["schemas"]["ShippingAddressInput"];
        };
        OrderItem: {
            /** @description Position in the order, from 1. */
            line: number;
            product_id: number;
            /** @description As it was when the order was placed. */
            sku: string;
            /** @description As it was when the order was placed. */
            name: string;
            /** @description As it was when the order was placed, in minor units. */
            unit_price: number;
            quantity: number;
            shipped_quantity: number;
            restocked_quantity: number;
            tax_rate_bps: number;
            tax: number;
            /** @description `unit_price` times `quantity`. */
            total: number;
        };
        OrderItemCreate: {
            product_id: number;
            quantity: number;
        };
        OrderPage: {
            data: components["schemas"]["OrderSummary"][];
            /** @description Whether another page follows. */
            has_more: boolean;
            /** @description Pass it as `cursor` to get the next page; `null` on the last. */
            next_cursor: string | null;
            /** @description How many items match, only with `include_total=true`. */
            total_count?: number;
            /** @description `true` when more than 10000 items match and counting stopped there. */
            total_count_capped?: boolean;
        };
        /** @description An order in a list. */
        OrderSummary: {
            id: number;
            /** @description The customer. */
            user_id: number;
            /** @description The application that placed the order. */
            client_id: string | null;
            /**
             * @description Where the goods stand.
             * @enum {string}
             */
            status: "pending" | "paid" | "shipped" | "delivered" | "canceled";
            /**
             * @description Where the money stands.
             * @enum {string}
             */
            payment_status: "unpaid" | "paid" | "partially_refunded" | "refunded";
            /**
             * @description Where the parcels stand.
             * @enum {string}
             */
            fulfillment_status: "unfulfilled" | "partial" | "shipped" | "delivered";
            /** @enum {string|null} */
            cancel_reason: "customer" | "staff" | "payment_expired" | "payment_failed" | "fraud" | "out_of_stock" | null;
            currency: string;
            /**
             * @description Whether prices contain the tax.
             * @enum {string}
             */
            tax_mode: "inclusive" | "exclusive";
            /** @description Sum of the lines. */
            subtotal: number;
            discount_total: number;
            /** @description Price of the delivery. */
            shipping_total: number;
            tax_total: number;
            /** @description What the customer pays, in minor units of `currency`. */
            total: number;
            refunded_total: number;
            /** @description How many lines the order has. */
            item_count: number;
            /** @description The caller's own number of the order. */
            reference: string | null;
            note: string | null;
            metadata: {
                [key: string]: string;
            };
            /** @description Counts the changes. */
            version: number;
            /**
             * Format: date-time
             * @description Until when the goods are held for payment.
             */
            expires_at: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /** Format: date-time */
            paid_at: string | null;
            /** Format: date-time */
            shipped_at: string | null;
            /** Format: date-time */
            delivered_at: string | null;
            /** Format: date-time */
            canceled_at: string | null;
            /** @description The order lines; only with `include=items`. */
            items?: components["schemas"]["OrderItem"][];
            /** @description Code of the delivery method. */
            shipping_method: string;
            shipping_address: components["schemas"]["ShippingAddress"];
        };
        OrderUpdate: {
            /** @description Your own number of the order. */
            reference?: string | null;
            note?: string | null;
            /** @description Merged into the stored metadata: absent keys stay, `null` removes a key. At most 20 pairs after the merge. */
            metadata?: {
                [key: string]: string | null;
            };
            /** @description May change where its price does not. */
            shipping_method?: string;
            shipping_address?: components["schemas"]["ShippingAddressInput"];
        };
        Problem: {
            /**
             * Format: uri
             * @description Identifies the kind of problem; ends with `code`.
             */
            type: string;
            /** @description The kind of problem, in words; the same for every occurrence. */
            title: string;
            /** @description The HTTP status. */
            status: number;
            /** @description The kind of problem, for programs. Codes are never removed within a version; new ones may appear. */
            code: string;
            /** @description What happened this time, and what to do about it. */
            detail: string;
            /** @description This occurrence. */
            instance: string;
            /** @description The same as the `X-Request-Id` header; quote it to support. */
            request_id: string;
            /** @description With 429: which of the policies named in `RateLimit-Policy` it was. */
            violated_policies?: string[];
            /** @description Everything that is wrong with the request, at once. */
            errors?: components["schemas"]["ProblemEntry"][];
        };
        ProblemEntry: {
            /**
             * @description Which part of the request.
             * @enum {string}
             */
            in: "body" | "query" | "path" | "header";
            /** @description Where in the body, as a JSON Pointer in a URI fragment (RFC 6901 section 6): `#/items/0/quantity`. */
            pointer?: string;
            /** @description Which query parameter, path parameter or header. */
            parameter?: string;
            /** @description What is wrong, for programs: `required`, `out_of_range`, `unknown_field`. More may be added. */
            code: string;
            /** @description What is wrong, for people. */
            detail: string;
            /** @description The values that would be accepted, where there is a list of them. */
            allowed?: string[];
            /** @description With `out_of_stock`: the product that is short. */
            product_id?: number;
            /** @description With `out_of_stock`: how many units the order asked for. */
            requested?: number;
            /** @description With `out_of_stock`: how many units there were. */
            available?: number;
            /** @description With `price_changed`: the total as it is now, in minor units. */
            actual?: number;
        };
        ShippingAddress: {
            recipient_name: string;
            phone?: string;
            /** @description Street and number; required when the method needs an address. */
            line1?: string;
            line2?: string;
            /** @description Required when the method needs an address. */
            city?: string;
            region?: string;
            postal_code?: string;
            /** @description ISO 3166-1 alpha-2; required when the method needs an address. */
            country?: string;
        };
        ShippingAddressInput: {
            recipient_name: string;
            phone?: string;
            /** @description Street and number; required when the method needs an address. */
            line1?: string;
            line2?: string;
            /** @description Required when the method needs an address. */
            city?: string;
            region?: string;
            postal_code?: string;
            /** @description ISO 3166-1 alpha-2; required when the method needs an address. */
            country?: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description Names this version (RFC 9110 section 8.8.3). */
        ETag: string;
        /** @description `true` when this is the answer of an earlier request with the same key. */
        "Idempotent-Replayed": string;
        /** @description The first and the next page (RFC 8288). */
        Link: string;
        /** @description Where the new resource is. */
        Location: string;
        /** @description `true` when the request had `dry_run=true`: nothing was written, and the identifiers in the response belong to nothing. */
        "Mandate-Dry-Run": string;
        /** @description What is left of each limit: `r` requests for the next `t` seconds. */
        RateLimit: string;
        /** @description The limits that hold for this caller: `q` requests in `w` seconds (draft-ietf-httpapi-ratelimit-headers). */
        "RateLimit-Policy": string;
        /** @description Seconds to wait before trying again. */
        "Retry-After": number;
        /** @description What kind of token is needed (RFC 6750). */
        "WWW-Authenticate": string;
        /** @description Names this request; quote it to support. */
        "X-Request-Id": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    "orders.list": {
        parameters: {
            query?: {
                /** @description How many items the page may have. */
                limit?: number;
                /** @description `next_cursor` of the page before. Opaque; it belongs to the same filters, sort and caller. */
                cursor?: string;
                /** @description `true` adds `total_count`, counted up to 10000. */
                include_total?: "true" | "false";
                status?: ("pending" | "paid" | "shipped" | "delivered" | "canceled")[];
                payment_status?: ("unpaid" | "paid" | "partially_refunded" | "refunded")[];
                fulfillment_status?: ("unfulfilled" | "partial" | "shipped" | "delivered")[];
                /** @description Only these orders: up to 100 identifiers, separated by commas. */
                id?: number[];
                /** @description Only orders that this application placed. */
                client_id?: string;
                /** @description A customer's orders; other than your own need `orders.manage` and a member of staff. */
                user_id?: number;
                reference?: string;
                /** @description Placed at this moment or later. */
                created_at_gte?: string;
                /** @description Placed before this moment. */
                created_at_lt?: string;
                /** @description Last changed at this timestamp or later; sorts by `updated_at`. */
                updated_at_gte?: string;
                /** @description Last changed before this timestamp; sorts by `updated_at`. */
                updated_at_lt?: string;
                /** @description `-` is descending. The default is `-created_at`, or `updated_at` with a filter by `updated_at`. */
                sort?: "created_at" | "-created_at" | "updated_at" | "-updated_at";
                /** @description `items` returns each order with its lines; `limit` is then at most 20. */
                include?: "items"[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrderPage"];
                };
            };
            /** @description The request is not valid: `invalid_request`, `invalid_cursor`, `cursor_mismatch`. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An access token is needed, or the one sent is not valid: `invalid_token`, `expired_token`, `revoked_token`, `missing_token`. */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The access token does not allow this: `insufficient_scope`, `forbidden`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The answer cannot have the form asked for: `not_acceptable`. */
            406: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests; wait: `rate_limited`, `quota_exceeded`. */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Something went wrong on our side: `internal_error`. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Temporarily unavailable; try again: `unavailable`, `insufficient_storage`. */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "orders.create": {
        parameters: {
            query?: {
                /** @description `true` checks and prices everything and returns the response of the real request, marked with `Mandate-Dry-Run: true`. Nothing is written, no payment provider is called, and no idempotency key is claimed. */
                dry_run?: "true" | "false";
            };
            header?: {
                /** @description Makes the request safe to repeat: 1 to 255 of `A-Z a-z 0-9 . _ : -`, kept for 24 hours. The same key with the same request returns the first response again, with `Idempotent-Replayed: true`; a secret in it is `null` then. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description At most 1000000 bytes. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["OrderCreate"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    "Mandate-Dry-Run": components["headers"]["Mandate-Dry-Run"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Order"];
                };
            };
            /** @description The request is not valid: `invalid_request`, `malformed_json`, `idempotency_key_invalid`. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An access token is needed, or the one sent is not valid: `invalid_token`, `expired_token`, `revoked_token`, `missing_token`. */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The access token does not allow this: `insufficient_scope`, `forbidden`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The answer cannot have the form asked for: `not_acceptable`. */
            406: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Conflict with the current state: `idempotency_in_progress`, `out_of_stock`, `price_changed`, `product_unavailable`. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large: `payload_too_large`. */
            413: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body has an unsupported media type: `unsupported_media_type`. */
            415: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The idempotency key belongs to another request: `idempotency_key_reused`. */
            422: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests; wait: `rate_limited`, `quota_exceeded`. */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Something went wrong on our side: `internal_error`. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Temporarily unavailable; try again: `unavailable`, `insufficient_storage`. */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "orders.get": {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags you have; if one of them is current, the answer is 304 without a body. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description Identifier of the order. */
                order_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Order"];
                };
            };
            /** @description Not changed */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request is not valid: `invalid_request`. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An access token is needed, or the one sent is not valid: `invalid_token`, `expired_token`, `revoked_token`, `missing_token`. */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The access token does not allow this: `insufficient_scope`, `forbidden`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found, or not yours: `not_found`. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The answer cannot have the form asked for: `not_acceptable`. */
            406: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests; wait: `rate_limited`, `quota_exceeded`. */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Something went wrong on our side: `internal_error`. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Temporarily unavailable; try again: `unavailable`, `insufficient_storage`. */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "orders.update": {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the version you mean; if it is no longer current, nothing is changed and the answer is 412. */
                "If-Match"?: string;
            };
            path: {
                /** @description Identifier of the order. */
                order_id: number;
            };
            cookie?: never;
        };
        /** @description At most 100000 bytes. */
        requestBody: {
            content: {
                "application/merge-patch+json": components["schemas"]["OrderUpdate"];
                "application/json": components["schemas"]["OrderUpdate"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Order"];
                };
            };
            /** @description The request is not valid: `invalid_request`, `malformed_json`. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An access token is needed, or the one sent is not valid: `invalid_token`, `expired_token`, `revoked_token`, `missing_token`. */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The access token does not allow this: `insufficient_scope`, `forbidden`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found, or not yours: `not_found`. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The answer cannot have the form asked for: `not_acceptable`. */
            406: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Conflict with the current state: `invalid_transition`, `price_changed`. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Changed in the meantime: `precondition_failed`. */
            412: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large: `payload_too_large`. */
            413: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body has an unsupported media type: `unsupported_media_type`. */
            415: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests; wait: `rate_limited`, `quota_exceeded`. */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Something went wrong on our side: `internal_error`. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Temporarily unavailable; try again: `unavailable`, `insufficient_storage`. */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "orders.cancel": {
        parameters: {
            query?: {
                /** @description `true` checks and prices everything and returns the response of the real request, marked with `Mandate-Dry-Run: true`. Nothing is written, no payment provider is called, and no idempotency key is claimed. */
                dry_run?: "true" | "false";
            };
            header?: {
                /** @description Makes the request safe to repeat: 1 to 255 of `A-Z a-z 0-9 . _ : -`, kept for 24 hours. The same key with the same request returns the first response again, with `Idempotent-Replayed: true`; a secret in it is `null` then. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Identifier of the order. */
                order_id: number;
            };
            cookie?: never;
        };
        /** @description At most 100000 bytes. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["OrderCancellation"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    Location: components["headers"]["Location"];
                    "Mandate-Dry-Run": components["headers"]["Mandate-Dry-Run"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Order"];
                };
            };
            /** @description The request is not valid: `invalid_request`, `malformed_json`, `idempotency_key_invalid`. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An access token is needed, or the one sent is not valid: `invalid_token`, `expired_token`, `revoked_token`, `missing_token`. */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The access token does not allow this: `insufficient_scope`, `forbidden`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found, or not yours: `not_found`. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The answer cannot have the form asked for: `not_acceptable`. */
            406: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Conflict with the current state: `idempotency_in_progress`, `invalid_transition`. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large: `payload_too_large`. */
            413: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body has an unsupported media type: `unsupported_media_type`. */
            415: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The idempotency key belongs to another request: `idempotency_key_reused`. */
            422: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests; wait: `rate_limited`, `quota_exceeded`. */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Something went wrong on our side: `internal_error`. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Temporarily unavailable; try again: `unavailable`, `insufficient_storage`. */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
}
