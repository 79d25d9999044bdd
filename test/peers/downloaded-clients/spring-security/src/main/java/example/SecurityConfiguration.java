package example;

import static org.springframework.security.config.Customizer.withDefaults;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.oauth2.client.oidc.web.logout.OidcClientInitiatedLogoutSuccessHandler;
import org.springframework.security.oauth2.client.registration.ClientRegistrationRepository;
import org.springframework.security.oauth2.jwt.JwtDecoder;
import org.springframework.security.oauth2.jwt.JwtValidators;
import org.springframework.security.oauth2.jwt.NimbusJwtDecoder;
import org.springframework.security.web.SecurityFilterChain;

@Configuration
class SecurityConfiguration {
  /** Authorizes requests that contain an access token. */
  @Bean
  @Order(1)
  SecurityFilterChain resources(HttpSecurity http) throws Exception {
    return http.securityMatcher("/resources/**")
        .authorizeHttpRequests(requests -> requests.anyRequest().hasAuthority("SCOPE_users.read"))
        .oauth2ResourceServer(server -> server.jwt(withDefaults()))
        .build();
  }

  /** Signs users in and out in the browser. */
  @Bean
  @Order(2)
  SecurityFilterChain pages(HttpSecurity http, ClientRegistrationRepository registrations) throws Exception {
    var endSession = new OidcClientInitiatedLogoutSuccessHandler(registrations);
    endSession.setPostLogoutRedirectUri("{baseUrl}/signed-out");
    return http.authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
        .oauth2Login(withDefaults())
        .oidcLogout(logout -> logout.backChannel(withDefaults()))
        .logout(logout -> logout.logoutSuccessHandler(endSession))
        .build();
  }

  /** Verifies access tokens with all checks of RFC 9068. By default, Spring Security accepts only JWTs whose `typ` is `JWT`. */
  @Bean
  JwtDecoder accessTokenDecoder(@Value("${ISSUER}") String issuer, @Value("${CLIENT_ID}") String clientId) {
    var decoder = NimbusJwtDecoder.withIssuerLocation(issuer).validateType(false).build();
    var validators = JwtValidators.createAtJwtValidator();
    decoder.setJwtValidator(validators.issuer(issuer).audience(issuer + "/api").clientId(clientId).build());
    return decoder;
  }
}
