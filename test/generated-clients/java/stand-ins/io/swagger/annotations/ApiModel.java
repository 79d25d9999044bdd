package io.swagger.annotations;

/** Empty annotation that only makes the generated code compile. */
public @interface ApiModel {
  String value() default "";

  String description() default "";
}
