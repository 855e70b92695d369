// OpenAI's SDK for Go: a chat, a stream, tools with a second turn, responses, embeddings, models, speech, and the
// fields of refusals.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
)

const model = "simulated-1"

var failures int

func check(holds bool, what string, seen any) {
	if !holds {
		failures++
		fmt.Printf("%s: %v\n", what, seen)
	}
}

func refused(err error, status int, param, code string) {
	var refusal *openai.Error
	if !errors.As(err, &refusal) {
		check(false, "no typed refusal", err)
		return
	}
	check(refusal.StatusCode == status && refusal.Param == param && refusal.Code == code && refusal.Message != "" && refusal.Type != "",
		fmt.Sprintf("not %d %s %s", status, param, code), fmt.Sprintf("%d param %q code %q type %q message %q", refusal.StatusCode, refusal.Param, refusal.Code, refusal.Type, refusal.Message))
}

func main() {
	ctx := context.Background()
	url := option.WithBaseURL(os.Getenv("TROUPE_URL") + "/v1")
	client := openai.NewClient(url, option.WithAPIKey(os.Getenv("TROUPE_KEY")))
	stranger := openai.NewClient(url, option.WithAPIKey("csk_unknown"))

	hello := openai.ChatCompletionNewParams{Model: model, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Hello")}}
	answer, err := client.Chat.Completions.New(ctx, hello)
	check(err == nil && answer.Choices[0].Message.Content == "You said: Hello" && answer.Usage.TotalTokens > 0, "no chat", err)

	streamed := hello
	streamed.StreamOptions = openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}
	stream := client.Chat.Completions.NewStreaming(ctx, streamed)
	whole := openai.ChatCompletionAccumulator{}
	for stream.Next() {
		check(whole.AddChunk(stream.Current()), "a chunk does not add up", stream.Current().RawJSON())
	}
	check(stream.Err() == nil && whole.Choices[0].Message.Content == "You said: Hello" && whole.Usage.TotalTokens > 0, "no stream", stream.Err())

	parameters := map[string]any{"type": "object", "properties": map[string]any{"city": map[string]string{"type": "string"}}, "required": []string{"city"}}
	asked := openai.ChatCompletionNewParams{
		Model:    model,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Please use get_weather in Lagos")},
		Tools:    []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{Name: "get_weather", Parameters: parameters})},
	}
	called, err := client.Chat.Completions.New(ctx, asked)
	check(err == nil && len(called.Choices[0].Message.ToolCalls) == 1, "no tool call", err)
	call := called.Choices[0].Message.ToolCalls[0]
	check(call.Function.Name == "get_weather" && strings.Contains(call.Function.Arguments, "city"), "another call", call)
	asked.Messages = append(asked.Messages, called.Choices[0].Message.ToParam(), openai.ToolMessage("sunny in Lagos", call.ID))
	last, err := client.Chat.Completions.New(ctx, asked)
	check(err == nil && strings.Contains(last.Choices[0].Message.Content, "sunny in Lagos"), "no second turn", err)
	streaming := client.Chat.Completions.NewStreaming(ctx, openai.ChatCompletionNewParams{Model: model, Messages: asked.Messages[:1], Tools: asked.Tools})
	calls := openai.ChatCompletionAccumulator{}
	finished := false
	for streaming.Next() {
		calls.AddChunk(streaming.Current())
		if tool, ok := calls.JustFinishedToolCall(); ok {
			finished = tool.Name == "get_weather" && strings.Contains(tool.Arguments, "city")
		}
	}
	check(streaming.Err() == nil && finished, "no streamed call", streaming.Err())

	schema := map[string]any{"type": "object", "properties": map[string]any{"days": map[string]string{"type": "integer"}}, "required": []string{"days"}, "additionalProperties": false}
	planned := openai.ChatCompletionNewParams{Model: model, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("A plan for 3 days")}}
	planned.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "plan", Schema: schema, Strict: openai.Bool(true)}}
	plan, err := client.Chat.Completions.New(ctx, planned)
	check(err == nil && strings.Contains(plan.Choices[0].Message.Content, "3"), "no plan", err)

	_, err = stranger.Chat.Completions.New(ctx, hello)
	refused(err, 401, "", "authentication_required")
	missing := hello
	missing.Model = "no-such-model"
	_, err = client.Chat.Completions.New(ctx, missing)
	refused(err, 404, "model", "model_not_found")
	wrong := hello
	wrong.Temperature = openai.Float(9)
	_, err = client.Chat.Completions.New(ctx, wrong)
	refused(err, 400, "temperature", "invalid_field")
	broken := client.Chat.Completions.NewStreaming(ctx, wrong)
	for broken.Next() {
	}
	refused(broken.Err(), 400, "temperature", "invalid_field")

	listed := map[string]bool{}
	pages := client.Models.ListAutoPaging(ctx)
	for pages.Next() {
		listed[pages.Current().ID] = true
	}
	check(pages.Err() == nil && listed[model], "the model is not listed", pages.Err())
	one, err := client.Models.Get(ctx, model)
	check(err == nil && one.ID == model, "the model is not there", err)
	_, err = client.Models.Get(ctx, "no-such-model")
	refused(err, 404, "model", "model_not_found")

	vectors, err := client.Embeddings.New(ctx, openai.EmbeddingNewParams{Model: model, Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: []string{"one", "two"}}})
	check(err == nil && len(vectors.Data) == 2 && len(vectors.Data[0].Embedding) > 0, "no embeddings", err)
	_, err = client.Embeddings.New(ctx, openai.EmbeddingNewParams{Model: model, Dimensions: openai.Int(-1), Input: openai.EmbeddingNewParamsInputUnion{OfString: openai.String("one")}})
	refused(err, 400, "dimensions", "invalid_field")

	first, err := client.Responses.New(ctx, responses.ResponseNewParams{Model: model, Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("Remember 42")}})
	check(err == nil && first.OutputText() != "", "no response", err)
	next, err := client.Responses.New(ctx, responses.ResponseNewParams{Model: model, PreviousResponseID: openai.String(first.ID), Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("And?")}})
	check(err == nil && next.PreviousResponseID == first.ID && next.OutputText() != "", "the response does not go on", err)
	events := client.Responses.NewStreaming(ctx, responses.ResponseNewParams{Model: model, Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("Hello")}})
	text, completed := "", false
	for events.Next() {
		switch event := events.Current().AsAny().(type) {
		case responses.ResponseTextDeltaEvent:
			text += event.Delta
		case responses.ResponseCompletedEvent:
			completed = event.Response.OutputText() == text && event.Response.Usage.TotalTokens > 0
		}
	}
	check(events.Err() == nil && completed && text != "", "no stream of a response", events.Err())
	tools := []responses.ToolUnionParam{responses.ToolParamOfFunction("get_weather", parameters, false)}
	needed, err := client.Responses.New(ctx, responses.ResponseNewParams{Model: model, Tools: tools, Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("Please use get_weather in Lagos")}})
	check(err == nil && len(needed.Output) > 0, "no response with a call", err)
	for _, item := range needed.Output {
		if item.Type != "function_call" {
			continue
		}
		output := responses.ResponseInputItemParamOfFunctionCallOutput("sunny in Lagos")
		output.OfFunctionCallOutput.CallID = openai.String(item.AsFunctionCall().CallID)
		done, err := client.Responses.New(ctx, responses.ResponseNewParams{Model: model, Tools: tools, PreviousResponseID: openai.String(needed.ID), Input: responses.ResponseNewParamsInputUnion{OfInputItemList: responses.ResponseInputParam{output}}})
		check(err == nil && strings.Contains(done.OutputText(), "sunny in Lagos"), "no second turn of responses", err)
	}
	stored, err := client.Responses.Get(ctx, first.ID, responses.ResponseGetParams{})
	check(err == nil && stored.ID == first.ID, "the response is not kept", err)
	items := client.Responses.InputItems.ListAutoPaging(ctx, first.ID, responses.InputItemListParams{})
	count := 0
	for items.Next() {
		count++
	}
	check(items.Err() == nil && count == 1, "no input items", items.Err())
	check(client.Responses.Delete(ctx, first.ID) == nil, "not deleted", first.ID)
	_, err = client.Responses.Get(ctx, first.ID, responses.ResponseGetParams{})
	refused(err, 404, "response_id", "not_found")
	_, err = client.Responses.New(ctx, responses.ResponseNewParams{Model: model, Temperature: openai.Float(9), Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("Hello")}})
	refused(err, 400, "temperature", "invalid_field")
	_, err = stranger.Responses.New(ctx, responses.ResponseNewParams{Model: model, Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("Hello")}})
	refused(err, 401, "", "authentication_required")

	speech, err := client.Audio.Speech.New(ctx, openai.AudioSpeechNewParams{Model: "simulated-tts", Input: "Hello", Voice: openai.AudioSpeechNewParamsVoiceUnion{OfString: openai.String("alloy")}})
	if err != nil {
		check(false, "no speech", err)
	} else {
		bytes, _ := io.ReadAll(speech.Body)
		check(len(bytes) > 1000, "no audio", len(bytes))
	}
	_, err = client.Audio.Speech.New(ctx, openai.AudioSpeechNewParams{Model: "simulated-tts", Input: "", Voice: openai.AudioSpeechNewParamsVoiceUnion{OfString: openai.String("alloy")}})
	refused(err, 400, "input", "invalid_field")
	moderation, err := client.Moderations.New(ctx, openai.ModerationNewParams{Input: openai.ModerationNewParamsInputUnion{OfString: openai.String("hello")}, Model: model})
	check(err == nil && len(moderation.Results) == 1 && !moderation.Results[0].Flagged, "no moderation", err)
	_, err = client.Moderations.New(ctx, openai.ModerationNewParams{Input: openai.ModerationNewParamsInputUnion{OfString: openai.String("hello")}, Model: "no-such-model"})
	refused(err, 404, "model", "model_not_found")

	if failures > 0 {
		os.Exit(1)
	}
	fmt.Println("ok")
}
