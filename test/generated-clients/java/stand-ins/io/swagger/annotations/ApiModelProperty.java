package io.swagger.annotations;

/** Empty annotation that only makes the generated code compile. */
public @interface ApiModelProperty {
  String value() default "";

  boolean required() default false;

  String example() default "";
}
