// Anthropic's SDK for Go: a message, a stream, tools with a second turn, its tool runner, a count of tokens, models,
// and the types of refusals.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/shared"
	"github.com/anthropics/anthropic-sdk-go/toolrunner"
)

const model = "simulated-1"

var failures int

func check(holds bool, what string, seen any) {
	if !holds {
		failures++
		fmt.Printf("%s: %v\n", what, seen)
	}
}

func refused(err error, status int, kind shared.ErrorType, param string) {
	var refusal *anthropic.Error
	if !errors.As(err, &refusal) {
		check(false, "no typed refusal", err)
		return
	}
	check(refusal.StatusCode == status && refusal.Type() == kind && refusal.RequestID != "", fmt.Sprintf("not %d %s", status, kind),
		fmt.Sprintf("%d %q %q %s", refusal.StatusCode, refusal.Type(), refusal.RequestID, refusal.RawJSON()))
	check(strings.Contains(refusal.RawJSON(), param), "the refusal does not name "+param, refusal.RawJSON())
}

func main() {
	ctx := context.Background()
	url := option.WithBaseURL(os.Getenv("TROUPE_URL"))
	client := anthropic.NewClient(url, option.WithAPIKey(os.Getenv("TROUPE_KEY")))
	stranger := anthropic.NewClient(url, option.WithAPIKey("csk_unknown"))

	hello := anthropic.MessageNewParams{Model: model, MaxTokens: 200, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Hello"))}}
	answer, err := client.Messages.New(ctx, hello)
	check(err == nil && answer.Content[0].Text == "You said: Hello" && answer.Usage.OutputTokens > 0 && answer.StopReason == "end_turn", "no message", err)

	stream := client.Messages.NewStreaming(ctx, hello)
	whole := anthropic.Message{}
	for stream.Next() {
		err := whole.Accumulate(stream.Current())
		check(err == nil, "an event does not add up", err)
	}
	check(stream.Err() == nil && whole.Content[0].Text == "You said: Hello" && whole.StopReason == "end_turn" && whole.Usage.OutputTokens > 0, "no stream", stream.Err())

	schema := anthropic.ToolInputSchemaParam{Properties: map[string]any{"city": map[string]string{"type": "string"}}, Required: []string{"city"}}
	tools := []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{Name: "get_weather", InputSchema: schema}}}
	asked := anthropic.MessageNewParams{Model: model, MaxTokens: 200, Tools: tools, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Please use get_weather in Lagos"))}}
	called := client.Messages.NewStreaming(ctx, asked)
	first := anthropic.Message{}
	for called.Next() {
		err := first.Accumulate(called.Current())
		check(err == nil, "an event of a call does not add up", err)
	}
	check(called.Err() == nil && first.StopReason == "tool_use", "no streamed call", called.Err())
	results := []anthropic.ContentBlockParamUnion{}
	for _, block := range first.Content {
		if call, ok := block.AsAny().(anthropic.ToolUseBlock); ok {
			input, _ := json.Marshal(call.Input)
			check(call.Name == "get_weather" && strings.Contains(string(input), "city"), "another call", string(input))
			results = append(results, anthropic.NewToolResultBlock(call.ID, "sunny in Lagos", false))
		}
	}
	asked.Messages = append(asked.Messages, first.ToParam(), anthropic.NewUserMessage(results...))
	last, err := client.Messages.New(ctx, asked)
	check(err == nil && strings.Contains(last.Content[0].Text, "sunny in Lagos"), "no second turn", err)

	weather, err := toolrunner.NewBetaToolFromBytes("get_weather", "The weather of a city",
		[]byte(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`),
		func(_ context.Context, place struct{ City string }) (anthropic.BetaToolResultBlockParamContentUnion, error) {
			return anthropic.BetaToolResultBlockParamContentUnion{OfText: &anthropic.BetaTextBlockParam{Text: "sunny in " + place.City}}, nil
		})
	check(err == nil, "no tool", err)
	question := anthropic.NewBetaUserMessage(anthropic.NewBetaTextBlock("Please use get_weather in Lagos"))
	params := anthropic.BetaToolRunnerParams{BetaMessageNewParams: anthropic.BetaMessageNewParams{Model: model, MaxTokens: 200, Messages: []anthropic.BetaMessageParam{question}}, MaxIterations: 4}
	ran, err := client.Beta.Messages.NewToolRunner([]anthropic.BetaTool{weather}, params).RunToCompletion(ctx)
	check(err == nil && ran != nil && strings.Contains(ran.Content[0].Text, "sunny in Lagos"), "the tool runner has no result of its tool", err)
	runner := client.Beta.Messages.NewToolRunnerStreaming([]anthropic.BetaTool{weather}, params)
	text := ""
	for events, err := range runner.AllStreaming(ctx) {
		check(err == nil, "the tool runner's stream fails", err)
		for event, err := range events {
			check(err == nil, "an event of the tool runner fails", err)
			if delta, ok := event.AsAny().(anthropic.BetaRawContentBlockDeltaEvent); ok {
				text += delta.Delta.Text
			}
		}
	}
	check(strings.Contains(text, "sunny in Lagos"), "the tool runner's stream has no result of its tool", text)

	_, err = stranger.Messages.New(ctx, hello)
	refused(err, 401, shared.ErrorTypeAuthenticationError, "")
	missing := hello
	missing.Model = "no-such-model"
	_, err = client.Messages.New(ctx, missing)
	refused(err, 404, shared.ErrorTypeNotFoundError, "model")
	wrong := hello
	wrong.Temperature = anthropic.Float(9)
	_, err = client.Messages.New(ctx, wrong)
	refused(err, 400, shared.ErrorTypeInvalidRequestError, "temperature")
	broken := client.Messages.NewStreaming(ctx, wrong)
	for broken.Next() {
	}
	refused(broken.Err(), 400, shared.ErrorTypeInvalidRequestError, "temperature")

	counted, err := client.Messages.CountTokens(ctx, anthropic.MessageCountTokensParams{Model: model, Messages: hello.Messages})
	check(err == nil && counted.InputTokens > 0, "no tokens are counted", err)
	listed := map[string]bool{}
	pages := client.Models.ListAutoPaging(ctx, anthropic.ModelListParams{Limit: anthropic.Int(2)})
	for pages.Next() {
		listed[pages.Current().ID] = true
	}
	check(pages.Err() == nil && listed[model], "the model is not listed", pages.Err())
	one, err := client.Models.Get(ctx, model, anthropic.ModelGetParams{})
	check(err == nil && one.ID == model && one.DisplayName != "" && !one.CreatedAt.IsZero(), "the model is not there", err)
	_, err = client.Models.Get(ctx, "no-such-model", anthropic.ModelGetParams{})
	refused(err, 404, shared.ErrorTypeNotFoundError, "model")
	_, err = stranger.Models.List(ctx, anthropic.ModelListParams{})
	refused(err, 401, shared.ErrorTypeAuthenticationError, "")

	if failures > 0 {
		os.Exit(1)
	}
	fmt.Println("ok")
}
