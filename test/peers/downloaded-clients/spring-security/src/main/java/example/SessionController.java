package example;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.time.Duration;
import java.util.Map;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.annotation.AuthenticationPrincipal;
import org.springframework.security.oauth2.client.OAuth2AuthorizeRequest;
import org.springframework.security.oauth2.client.OAuth2AuthorizedClient;
import org.springframework.security.oauth2.client.RefreshTokenOAuth2AuthorizedClientProvider;
import org.springframework.security.oauth2.client.registration.ClientRegistrationRepository;
import org.springframework.security.oauth2.client.web.DefaultOAuth2AuthorizedClientManager;
import org.springframework.security.oauth2.client.web.OAuth2AuthorizedClientRepository;
import org.springframework.security.oauth2.core.oidc.user.OidcUser;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
class SessionController {
  private static final String REGISTRATION = "mandate";

  private final OAuth2AuthorizedClientRepository authorizedClients;
  private final DefaultOAuth2AuthorizedClientManager refreshingManager;

  SessionController(
      ClientRegistrationRepository registrations,
      OAuth2AuthorizedClientRepository authorizedClients,
      ApplicationEventPublisher events) {
    this.authorizedClients = authorizedClients;
    var provider = new RefreshTokenOAuth2AuthorizedClientProvider();
    // This clock skew makes every access token count as expired.
    provider.setClockSkew(Duration.ofDays(1));
    // Spring Security then compares the new ID token with the first one, and reads userinfo again.
    provider.setApplicationEventPublisher(events);
    refreshingManager = new DefaultOAuth2AuthorizedClientManager(registrations, authorizedClients);
    refreshingManager.setAuthorizedClientProvider(provider);
  }

  @GetMapping("/")
  Map<String, Object> session(
      @AuthenticationPrincipal OidcUser user, Authentication authentication, HttpServletRequest request) {
    OAuth2AuthorizedClient client = authorizedClients.loadAuthorizedClient(REGISTRATION, authentication, request);
    return Map.of(
        "sub", user.getUserInfo().getSubject(),
        "email", user.getUserInfo().getEmail(),
        "emailVerified", user.getUserInfo().getEmailVerified(),
        "accessToken", client.getAccessToken().getTokenValue());
  }

  @GetMapping("/refresh")
  Map<String, Object> refresh(
      Authentication authentication, HttpServletRequest request, HttpServletResponse response) {
    refreshingManager.authorize(
        OAuth2AuthorizeRequest.withClientRegistrationId(REGISTRATION)
            .principal(authentication)
            .attribute(HttpServletRequest.class.getName(), request)
            .attribute(HttpServletResponse.class.getName(), response)
            .build());
    return Map.of("refreshed", true);
  }

  @GetMapping("/resources/subject")
  Map<String, Object> subject(@AuthenticationPrincipal Jwt accessToken) {
    return Map.of("sub", accessToken.getSubject());
  }
}
