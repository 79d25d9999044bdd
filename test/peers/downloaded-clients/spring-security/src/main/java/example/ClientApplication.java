package example;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

@SpringBootApplication
public class ClientApplication {
  public static void main(String[] arguments) {
    SpringApplication.run(ClientApplication.class, arguments);
  }
}
