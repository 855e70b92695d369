// OpenAI's SDK for Java with its validation of answers: a chat, a stream, tools with a second turn, responses,
// embeddings, models, and the fields of refusals.
import com.fasterxml.jackson.annotation.JsonClassDescription;
import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.http.StreamResponse;
import com.openai.errors.OpenAIServiceException;
import com.openai.errors.BadRequestException;
import com.openai.errors.NotFoundException;
import com.openai.errors.UnauthorizedException;
import com.openai.helpers.ChatCompletionAccumulator;
import com.openai.helpers.ResponseAccumulator;
import com.openai.models.audio.speech.SpeechCreateParams;
import com.openai.models.chat.completions.ChatCompletion;
import com.openai.models.chat.completions.ChatCompletionChunk;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.chat.completions.ChatCompletionMessageToolCall;
import com.openai.models.chat.completions.ChatCompletionStreamOptions;
import com.openai.models.chat.completions.ChatCompletionToolMessageParam;
import com.openai.models.embeddings.EmbeddingCreateParams;
import com.openai.models.responses.Response;
import com.openai.models.responses.ResponseCreateParams;
import com.openai.models.responses.ResponseInputItem;
import com.openai.models.responses.ResponseStreamEvent;
import java.util.List;
import java.util.stream.Collectors;

public class OpenAi {
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

    static void refused(Class<? extends OpenAIServiceException> type, String param, String code, Step step) {
        try {
            step.run();
            check(false, "not refused", param);
        } catch (OpenAIServiceException error) {
            check(type.isInstance(error), "another class than " + type.getSimpleName(), error);
            check(error.param().orElse("").equals(param) && error.code().orElse("").equals(code) && error.type().isPresent(), "another refusal",
                error.param() + " " + error.code() + " " + error.type() + " " + error.body());
        } catch (Exception error) {
            check(false, "no typed refusal", error);
        }
    }

    @JsonClassDescription("The weather of a city")
    public static class GetWeather {
        public String city;
    }

    public static class Plan {
        public String city;
        public int days;
    }

    static ChatCompletionCreateParams.Builder asking(String text) {
        return ChatCompletionCreateParams.builder().model(MODEL).addUserMessage(text);
    }

    public static void main(String[] args) {
        String url = System.getenv("TROUPE_URL") + "/v1";
        OpenAIClient client = OpenAIOkHttpClient.builder().baseUrl(url).apiKey(System.getenv("TROUPE_KEY")).responseValidation(true).maxRetries(0).build();
        OpenAIClient stranger = OpenAIOkHttpClient.builder().baseUrl(url).apiKey("csk_unknown").build();

        step("chat", () -> {
            ChatCompletion answer = client.chat().completions().create(asking("Hello").build());
            check(answer.choices().get(0).message().content().orElse("").equals("You said: Hello"), "another answer", answer);
        });
        step("stream", () -> {
            ChatCompletionAccumulator whole = ChatCompletionAccumulator.create();
            ChatCompletionCreateParams params = asking("Hello").streamOptions(ChatCompletionStreamOptions.builder().includeUsage(true).build()).build();
            try (StreamResponse<ChatCompletionChunk> stream = client.chat().completions().createStreaming(params)) {
                stream.stream().forEach(chunk -> whole.accumulate(chunk.validate()));
            }
            check(whole.chatCompletion().choices().get(0).message().content().orElse("").equals("You said: Hello"), "another stream", whole.chatCompletion());
            check(whole.chatCompletion().usage().isPresent(), "no usage", whole.chatCompletion());
        });
        step("tools", () -> {
            ChatCompletionCreateParams.Builder asked = asking("Please use GetWeather in Lagos").addTool(GetWeather.class);
            ChatCompletionAccumulator streamed = ChatCompletionAccumulator.create();
            try (StreamResponse<ChatCompletionChunk> stream = client.chat().completions().createStreaming(asked.build())) {
                stream.stream().forEach(chunk -> streamed.accumulate(chunk.validate()));
            }
            check(streamed.chatCompletion().choices().get(0).message().toolCalls().map(List::size).orElse(0) == 1, "no streamed call", streamed.chatCompletion());
            var message = client.chat().completions().create(asked.build()).choices().get(0).message();
            asked.addMessage(message);
            for (ChatCompletionMessageToolCall call : message.toolCalls().orElse(List.of())) {
                GetWeather place = call.asFunction().function().arguments(GetWeather.class);
                check(place.city != null, "no city", call);
                asked.addMessage(ChatCompletionToolMessageParam.builder().toolCallId(call.asFunction().id()).content("sunny in Lagos").build());
            }
            ChatCompletion last = client.chat().completions().create(asked.build());
            check(last.choices().get(0).message().content().orElse("").contains("sunny in Lagos"), "no second turn", last);
        });
        step("structured", () -> {
            var parsed = client.chat().completions().create(asking("A plan for 3 days in Paris").responseFormat(Plan.class).build());
            check(parsed.choices().get(0).message().content().orElseThrow().days == 3, "another plan", parsed);
        });
        step("models", () -> {
            boolean listed = client.models().list().autoPager().stream().anyMatch(model -> model.id().equals(MODEL));
            check(listed && client.models().retrieve(MODEL).id().equals(MODEL), "the model is not listed", "");
        });
        step("embeddings", () -> {
            var vectors = client.embeddings().create(EmbeddingCreateParams.builder().model(MODEL).inputOfArrayOfStrings(List.of("one", "two")).build());
            check(vectors.data().size() == 2 && !vectors.data().get(0).embedding().isEmpty(), "no embeddings", vectors);
        });
        step("responses", () -> {
            Response first = client.responses().create(ResponseCreateParams.builder().model(MODEL).input("Remember 42").build());
            Response next = client.responses().create(ResponseCreateParams.builder().model(MODEL).previousResponseId(first.id()).input("And?").build());
            check(next.previousResponseId().orElse("").equals(first.id()), "the response does not go on", next);
            check(client.responses().retrieve(first.id()).id().equals(first.id()), "not kept", first.id());
            check(client.responses().inputItems().list(first.id()).data().size() == 1, "no input items", first.id());
            client.responses().delete(first.id());
            refused(NotFoundException.class, "response_id", "not_found", () -> client.responses().retrieve(first.id()));
        });
        step("stream of a response", () -> {
            ResponseAccumulator whole = ResponseAccumulator.create();
            try (StreamResponse<ResponseStreamEvent> stream = client.responses().createStreaming(ResponseCreateParams.builder().model(MODEL).input("Hello").build())) {
                stream.stream().forEach(event -> whole.accumulate(event.validate()));
            }
            check(whole.response().usage().isPresent() && !whole.response().output().isEmpty(), "another response", whole.response());
        });
        step("tools of responses", () -> {
            Response called = client.responses().create(ResponseCreateParams.builder().model(MODEL).input("Please use GetWeather in Lagos").addTool(GetWeather.class).build());
            List<ResponseInputItem> outputs = called.output().stream().filter(item -> item.isFunctionCall()).map(item -> ResponseInputItem.ofFunctionCallOutput(
                ResponseInputItem.FunctionCallOutput.builder().callId(item.asFunctionCall().callId()).output("sunny in Lagos").build())).collect(Collectors.toList());
            check(outputs.size() == 1, "no call", called);
            Response last = client.responses().create(ResponseCreateParams.builder().model(MODEL).previousResponseId(called.id()).inputOfResponse(outputs).addTool(GetWeather.class).build());
            check(last.output().toString().contains("sunny in Lagos"), "no second turn of responses", last);
        });
        step("structured response", () -> {
            var plan = client.responses().create(ResponseCreateParams.builder().model(MODEL).input("A plan for 3 days in Paris").text(Plan.class).build());
            int days = plan.output().stream().flatMap(item -> item.message().stream()).flatMap(message -> message.content().stream())
                .flatMap(content -> content.outputText().stream()).mapToInt(each -> each.days).sum();
            check(days == 3, "another plan", plan);
        });
        step("speech", () -> {
            try (var audio = client.audio().speech().create(SpeechCreateParams.builder().model("simulated-tts").voice("alloy").input("Hello").build())) {
                check(audio.body().readAllBytes().length > 1000, "no audio", "");
            }
        });

        refused(UnauthorizedException.class, "", "authentication_required", () -> stranger.chat().completions().create(asking("Hello").build()));
        refused(UnauthorizedException.class, "", "authentication_required", () -> stranger.responses().create(ResponseCreateParams.builder().model(MODEL).input("Hello").build()));
        refused(UnauthorizedException.class, "", "authentication_required", () -> stranger.models().list());
        refused(NotFoundException.class, "model", "model_not_found", () -> client.chat().completions().create(ChatCompletionCreateParams.builder().model("no-such-model").addUserMessage("Hello").build()));
        refused(NotFoundException.class, "model", "model_not_found", () -> client.models().retrieve("no-such-model"));
        refused(BadRequestException.class, "temperature", "invalid_field", () -> client.chat().completions().create(asking("Hello").temperature(9.0).build()));
        refused(BadRequestException.class, "temperature", "invalid_field", () -> { try (var stream = client.chat().completions().createStreaming(asking("Hello").temperature(9.0).build())) { stream.stream().count(); } });
        refused(BadRequestException.class, "temperature", "invalid_field", () -> client.responses().create(ResponseCreateParams.builder().model(MODEL).input("Hello").temperature(9.0).build()));
        refused(BadRequestException.class, "dimensions", "invalid_field", () -> client.embeddings().create(EmbeddingCreateParams.builder().model(MODEL).dimensions(-1).input("one").build()));
        refused(BadRequestException.class, "input", "invalid_field", () -> client.audio().speech().create(SpeechCreateParams.builder().model("simulated-tts").voice("alloy").input("").build()));
        if (failures == 0) System.out.println("ok");
        System.exit(failures == 0 ? 0 : 1);
    }
}
