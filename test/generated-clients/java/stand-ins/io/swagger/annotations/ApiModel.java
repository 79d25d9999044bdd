package io.swagger.annotations;

/** Says something to the documentation of a model; this one is for compiling alone. */
public @interface ApiModel {
  String value() default "";

  String description() default "";
}
