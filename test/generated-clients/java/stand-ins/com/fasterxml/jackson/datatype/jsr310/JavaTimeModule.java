package com.fasterxml.jackson.datatype.jsr310;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.deser.std.StdDeserializer;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.StdSerializer;
import java.io.IOException;
import java.time.OffsetDateTime;

/** The part of jackson-datatype-jsr310 that the API needs (timestamps in RFC 3339 format), because Debian does not package this library. */
public class JavaTimeModule extends SimpleModule {
  public JavaTimeModule() {
    addSerializer(
        new StdSerializer<OffsetDateTime>(OffsetDateTime.class) {
          @Override
          public void serialize(OffsetDateTime value, JsonGenerator generator, SerializerProvider provider) throws IOException {
            generator.writeString(value.toString());
          }
        });
    addDeserializer(
        OffsetDateTime.class,
        new StdDeserializer<OffsetDateTime>(OffsetDateTime.class) {
          @Override
          public OffsetDateTime deserialize(JsonParser parser, DeserializationContext context) throws IOException {
            return OffsetDateTime.parse(parser.getText());
          }
        });
  }
}
