// A turn of a session with the client that openapi-generator made.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	client "github.com/GIT_USER_ID/GIT_REPO_ID"
)

func check(holds bool, what string, seen any) {
	if !holds {
		fmt.Printf("%s: %v\n", what, seen)
		os.Exit(1)
	}
}

func main() {
	configuration := client.NewConfiguration()
	configuration.Servers = client.ServerConfigurations{{URL: os.Getenv("TROUPE_URL")}}
	troupe := client.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), client.ContextAccessToken, os.Getenv("TROUPE_KEY"))

	first, _, err := troupe.SessionsAPI.SessionsCreate(ctx).SessionsCreateRequest(*client.NewSessionsCreateRequest()).Execute()
	check(err == nil, "no session", err)
	_, _, err = troupe.SessionsAPI.SessionsCreate(ctx).SessionsCreateRequest(*client.NewSessionsCreateRequest()).Execute()
	check(err == nil, "no second session", err)

	turn := client.NewTurnRequest()
	said := "Say hello"
	turn.SetInput(client.TurnInput{String: &said})
	_, answer, err := troupe.SessionsAPI.SessionsTurns(ctx, first.GetId()).TurnRequest(*turn).Execute()
	check(answer != nil && answer.StatusCode == 200, "no turn", err)
	events, err := io.ReadAll(answer.Body)
	check(err == nil && strings.Contains(string(events), "event: turn.completed"), "the turn has no end", string(events))

	session, _, err := troupe.SessionsAPI.SessionsGet(ctx, first.GetId()).Execute()
	check(err == nil && session.GetTurnCount() == 1, "the session has no turn", err)
	log, _, err := troupe.SessionsAPI.SessionsEvents(ctx, first.GetId()).Execute()
	check(err == nil && len(log.GetData()) > 2, "no events", err)

	ids := map[string]bool{}
	page, _, err := troupe.SessionsAPI.SessionsList(ctx).Limit(1).Execute()
	for ; err == nil; page, _, err = troupe.SessionsAPI.SessionsList(ctx).Limit(1).StartingAfter(page.Data[0].GetId()).Execute() {
		ids[page.Data[0].GetId()] = true
		if !page.Pagination.GetHasMore() {
			break
		}
	}
	check(err == nil && len(ids) >= 2, "pages do not go on", err)

	_, _, err = troupe.SessionsAPI.SessionsGet(ctx, "ses_unknown").Execute()
	var refusal *client.GenericOpenAPIError
	check(errors.As(err, &refusal), "no refusal", err)
	model, isPlatform := refusal.Model().(client.PlatformError)
	check(isPlatform, "a refusal without its type", refusal)
	check(model.Error.GetCode() == "not_found", "another code", model)
	fmt.Println("ok")
}
