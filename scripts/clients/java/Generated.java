import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.SessionsApi;
import org.openapitools.client.model.*;

/** Turns of sessions, one from a text and one from parts, with the client that openapi-generator made. */
class Generated {
  static void check(boolean holds, String what, Object seen) {
    if (holds) return;
    System.out.println(what + ": " + seen);
    System.exit(1);
  }

  public static void main(String[] args) throws Exception {
    var client = new ApiClient().setServers(new java.util.ArrayList<>()).setBasePath(System.getenv("TROUPE_URL"));
    client.setBearerToken(System.getenv("TROUPE_KEY"));
    var sessions = new SessionsApi(client);

    var first = sessions.sessionsCreate(null, null, null, new SessionsCreateRequest());
    var second = sessions.sessionsCreate(null, null, null, new SessionsCreateRequest());
    var input = new TurnRequest().input("Say hello");
    var events = sessions.sessionsTurns(first.getId(), null, null, null, null, null, null, input);
    check(String.valueOf(events).contains("event: turn.completed"), "the turn has no end", events);
    var part = new ResponseTextPart().type(ResponseTextPart.TypeEnum.INPUT_TEXT).text("Say hello in parts");
    var parts = new TurnRequest().input(java.util.List.of(part));
    events = sessions.sessionsTurns(second.getId(), null, null, null, null, null, null, parts);
    check(String.valueOf(events).contains("hello in parts"), "the parts have no answer", events);

    Session session = sessions.sessionsGet(first.getId(), null, null);
    check(session.getTurnCount() == 1, "the session has no turn", session);
    var log = sessions.sessionsEvents(first.getId(), null, null, null, null, null, null).getData();
    check(log.get(log.size() - 1).getEventType().toString().equals("turn.completed"), "the log has no end", log);

    var ids = new java.util.HashSet<String>();
    SessionsListAnswer page = null;
    do {
      String after = page == null ? null : page.getData().get(0).getId();
      page = sessions.sessionsList(null, null, null, null, null, after, null, 1, null, null);
      ids.add(page.getData().get(0).getId());
    } while (page.getPagination().getHasMore());
    check(ids.size() >= 2, "pages do not go on", ids);

    try {
      sessions.sessionsGet("ses_unknown", null, null);
      check(false, "no refusal", null);
    } catch (ApiException refusal) {
      var error = client.getObjectMapper().readValue(refusal.getResponseBody(), PlatformError.class);
      check(refusal.getCode() == 404 && error.getError().getCode().toString().equals("not_found"), "another code", error);
    }
  }
}
