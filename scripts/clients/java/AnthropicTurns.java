// Anthropic's SDK for Java with its validation of answers: a message, a stream, tools with a second turn, its tool
// runner, a count, models, and the classes of refusals.
import com.anthropic.client.AnthropicClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.core.JsonValue;
import com.anthropic.core.http.StreamResponse;
import com.anthropic.errors.AnthropicServiceException;
import com.anthropic.errors.BadRequestException;
import com.anthropic.errors.NotFoundException;
import com.anthropic.errors.UnauthorizedException;
import com.anthropic.helpers.MessageAccumulator;
import com.anthropic.models.messages.ContentBlockParam;
import com.anthropic.models.messages.Message;
import com.anthropic.models.messages.MessageCountTokensParams;
import com.anthropic.models.messages.MessageCreateParams;
import com.anthropic.models.messages.RawMessageStreamEvent;
import com.anthropic.models.messages.Tool;
import com.anthropic.models.messages.ToolResultBlockParam;
import com.anthropic.models.models.ModelListParams;
import com.fasterxml.jackson.annotation.JsonClassDescription;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Collectors;

public class AnthropicTurns {
    static int failures = 0;
    static final String MODEL = "simulated-1";

    static void check(boolean holds, String what, Object seen) {
        if (holds) return;
        failures++;
        System.out.println(what + ": " + seen);
    }

    interface Step { void run() throws Exception; }

    static void step(String what, Step step) {
        try { step.run(); } catch (Exception error) { failures++; System.out.println(what + ": " + error); error.printStackTrace(System.out); }
    }

    static void refused(Class<? extends AnthropicServiceException> type, String named, Step step) {
        try {
            step.run();
            check(false, "not refused", named);
        } catch (AnthropicServiceException error) {
            check(type.isInstance(error), "another class than " + type.getSimpleName(), error);
            check(error.body().toString().contains(named) && error.headers().values("request-id").size() == 1, "another refusal", error.body() + " " + error.headers());
        } catch (Exception error) {
            check(false, "no typed refusal", error);
        }
    }

    @JsonClassDescription("The weather of a city")
    public static class GetWeather implements Supplier<String> {
        public String city;

        @Override
        public String get() {
            return "sunny in " + city;
        }
    }

    public static class Plan {
        public String city;
        public int days;
    }

    static MessageCreateParams.Builder asking(String text) {
        return MessageCreateParams.builder().model(MODEL).maxTokens(200).addUserMessage(text);
    }

    static String text(Message message) {
        return message.content().stream().flatMap(block -> block.text().stream()).map(block -> block.text()).collect(Collectors.joining());
    }

    public static void main(String[] args) {
        String url = System.getenv("TROUPE_URL");
        AnthropicClient client = AnthropicOkHttpClient.builder().baseUrl(url).apiKey(System.getenv("TROUPE_KEY")).responseValidation(true).maxRetries(0).build();
        AnthropicClient stranger = AnthropicOkHttpClient.builder().baseUrl(url).apiKey("csk_unknown").build();

        step("message", () -> check(text(client.messages().create(asking("Hello").build())).equals("You said: Hello"), "another answer", ""));
        step("stream", () -> {
            MessageAccumulator whole = MessageAccumulator.create();
            try (StreamResponse<RawMessageStreamEvent> stream = client.messages().createStreaming(asking("Hello").build())) {
                stream.stream().forEach(event -> whole.accumulate(event.validate()));
            }
            check(text(whole.message()).equals("You said: Hello") && whole.message().usage().outputTokens() > 0, "another stream", whole.message());
        });
        step("tools", () -> {
            Tool.InputSchema schema = Tool.InputSchema.builder().properties(JsonValue.from(Map.of("city", Map.of("type", "string")))).required(List.of("city")).build();
            MessageCreateParams.Builder asked = asking("Please use get_weather in Lagos").addTool(Tool.builder().name("get_weather").inputSchema(schema).build());
            MessageAccumulator streamed = MessageAccumulator.create();
            try (StreamResponse<RawMessageStreamEvent> stream = client.messages().createStreaming(asked.build())) {
                stream.stream().forEach(event -> streamed.accumulate(event.validate()));
            }
            Message called = streamed.message();
            asked.addMessage(called);
            List<ContentBlockParam> results = called.content().stream().flatMap(block -> block.toolUse().stream()).map(call -> ContentBlockParam.ofToolResult(
                ToolResultBlockParam.builder().toolUseId(call.id()).content("sunny in Lagos").build())).collect(Collectors.toList());
            check(results.size() == 1, "no call", called);
            Message last = client.messages().create(asked.addUserMessageOfContentBlockParams(results).build());
            check(text(last).contains("sunny in Lagos"), "no second turn", last);
        });
        step("tool runner", () -> {
            var params = com.anthropic.models.beta.messages.MessageCreateParams.builder().model(MODEL).maxTokens(200)
                .putAdditionalHeader("anthropic-beta", "structured-outputs-2025-11-13").addTool(GetWeather.class).addUserMessage("Please use get_weather in Lagos").build();
            String last = "";
            for (var message : client.beta().messages().toolRunner(params)) last = message.content().toString();
            check(last.contains("sunny in Lagos"), "the tool runner has no result of its tool", last);
        });
        step("structured", () -> {
            var plan = client.messages().create(MessageCreateParams.builder().model(MODEL).maxTokens(200).outputConfig(Plan.class).addUserMessage("A plan for 3 days in Paris").build());
            int days = plan.content().stream().flatMap(block -> block.text().stream()).mapToInt(block -> block.text().days).sum();
            check(days == 3, "another plan", plan);
        });
        step("count", () -> {
            var counted = client.messages().countTokens(MessageCountTokensParams.builder().model(MODEL).addUserMessage("Hello").build());
            check(counted.inputTokens() > 0, "no tokens are counted", counted);
        });
        step("models", () -> {
            boolean listed = client.models().list(ModelListParams.builder().limit(2).build()).autoPager().stream().anyMatch(model -> model.id().equals(MODEL));
            check(listed, "the model is not listed", "");
            var model = client.models().retrieve(MODEL);
            check(model.id().equals(MODEL), "the model is not there", model);
        });

        refused(UnauthorizedException.class, "authentication_error", () -> stranger.messages().create(asking("Hello").build()));
        refused(UnauthorizedException.class, "authentication_error", () -> stranger.models().list());
        refused(NotFoundException.class, "not_found_error", () -> client.messages().create(MessageCreateParams.builder().model("no-such-model").maxTokens(200).addUserMessage("Hello").build()));
        refused(NotFoundException.class, "not_found_error", () -> client.models().retrieve("no-such-model"));
        refused(BadRequestException.class, "temperature", () -> client.messages().create(asking("Hello").putAdditionalBodyProperty("temperature", JsonValue.from(9)).build()));
        refused(BadRequestException.class, "temperature", () -> { try (var stream = client.messages().createStreaming(asking("Hello").putAdditionalBodyProperty("temperature", JsonValue.from(9)).build())) { stream.stream().count(); } });
        refused(BadRequestException.class, "max_tokens", () -> client.messages().create(asking("Hello").maxTokens(0).build()));
        if (failures == 0) System.out.println("ok");
        System.exit(failures == 0 ? 0 : 1);
    }
}
