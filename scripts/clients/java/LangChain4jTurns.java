// LangChain4j: a conversation with a tool, a stream with one, typed answers, embeddings, the class of a refusal. And Java's own client,
// which waits for a 100 before it sends its body, and offers HTTP/2.
import dev.langchain4j.agent.tool.P;
import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.exception.AuthenticationException;
import dev.langchain4j.memory.chat.MessageWindowChatMemory;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.model.openai.OpenAiEmbeddingModel;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.TokenStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

public class LangChain4jTurns {
  static final String url = System.getenv("TROUPE_URL") + "/v1";
  static final String key = System.getenv("TROUPE_KEY");

  static class Tools {
    @Tool("The weather of a city")
    public String get_weather(@P("city") String city) {
      return "sunny in " + city;
    }
  }

  interface Clerk {
    String say(String text);
  }

  interface StreamingClerk {
    TokenStream say(String text);
  }

  record Plan(String city, int days) {}

  interface Planner {
    Plan plan(String text);
  }

  static void check(boolean holds, Object what) {
    if (!holds) throw new AssertionError(what);
  }

  static OpenAiChatModel.OpenAiChatModelBuilder model() {
    return OpenAiChatModel.builder().baseUrl(url).apiKey(key).modelName("simulated-1").maxRetries(0);
  }

  static void conversation() {
    var memory = MessageWindowChatMemory.withMaxMessages(20);
    var clerk = AiServices.builder(Clerk.class).chatModel(model().build()).tools(new Tools()).chatMemory(memory).build();
    for (var city : new String[] {"Lagos", "Oslo"}) {
      var said = clerk.say("Please use get_weather in " + city);
      check(said.contains("sunny in " + city), said);
    }
    var typed = model().responseFormat("json_schema").strictJsonSchema(true).build();
    var plan = AiServices.create(Planner.class, typed).plan("A plan for 3 days in Paris");
    check(plan.days() == 3, plan);
  }

  static void stream() throws Exception {
    var model = OpenAiStreamingChatModel.builder().baseUrl(url).apiKey(key).modelName("simulated-1").build();
    var clerk = AiServices.builder(StreamingClerk.class).streamingChatModel(model).tools(new Tools()).build();
    var whole = new CompletableFuture<String>();
    var answer = clerk.say("Please use get_weather in Rome").onPartialResponse(part -> {});
    answer.onCompleteResponse(last -> whole.complete(last.aiMessage().text())).onError(whole::completeExceptionally).start();
    var said = whole.get(30, TimeUnit.SECONDS);
    check(said.contains("sunny in Rome"), said);
  }

  static void embeddingAndRefusal() {
    var model = OpenAiEmbeddingModel.builder().baseUrl(url).apiKey(key).modelName("simulated-embedding").build();
    check(model.embed("one").content().dimension() > 10, "no embedding");
    try {
      model().apiKey("csk_unknown").build().chat("Hello");
      throw new AssertionError("an unknown key was taken");
    } catch (AuthenticationException expected) {
      check(expected.getMessage() != null, expected);
    }
  }

  static void plainClient() throws Exception {
    var body = "{\"model\":\"simulated-1\",\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]}";
    for (var version : HttpClient.Version.values()) {
      var request = HttpRequest.newBuilder(URI.create(url + "/chat/completions")).expectContinue(true).version(version);
      request.timeout(Duration.ofSeconds(30)).header("authorization", "Bearer " + key).header("content-type", "application/json");
      var answer = HttpClient.newHttpClient().send(request.POST(HttpRequest.BodyPublishers.ofString(body)).build(), BodyHandlers.ofString());
      check(answer.statusCode() == 200, answer.body());
    }
  }

  public static void main(String[] arguments) throws Exception {
    conversation();
    stream();
    embeddingAndRefusal();
    plainClient();
    System.exit(0);
  }
}
