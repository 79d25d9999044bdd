package io.swagger.annotations;

/** Says something to the documentation of a field; this one is for compiling alone. */
public @interface ApiModelProperty {
  String value() default "";

  boolean required() default false;

  String example() default "";
}
