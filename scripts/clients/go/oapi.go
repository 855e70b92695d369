// A turn of a session with the client that oapi-codegen made.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"

	"clients/client"
)

func check(holds bool, what string, seen any) {
	if !holds {
		fmt.Printf("%s: %v\n", what, seen)
		os.Exit(1)
	}
}

func main() {
	ctx := context.Background()
	signed := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("TROUPE_KEY"))
		return nil
	}
	troupe, err := client.NewClientWithResponses(os.Getenv("TROUPE_URL"), client.WithRequestEditorFn(signed))
	check(err == nil, "no client", err)

	first, err := troupe.SessionsCreateWithResponse(ctx, nil, client.SessionsCreateJSONRequestBody{})
	check(err == nil && first.JSON201 != nil, "no session", err)
	second, err := troupe.SessionsCreateWithResponse(ctx, nil, client.SessionsCreateJSONRequestBody{})
	check(err == nil && second.JSON201 != nil, "no second session", err)
	id := first.JSON201.Id

	var input client.TurnInput
	check(input.FromTurnInput0("Say hello") == nil, "no input", nil)
	turn, err := troupe.SessionsTurnsWithResponse(ctx, id, nil, client.SessionsTurnsJSONRequestBody{Input: &input})
	check(err == nil && strings.Contains(string(turn.Body), "event: turn.completed"), "the turn has no end", err)

	session, err := troupe.SessionsGetWithResponse(ctx, id, nil)
	check(err == nil && session.JSON200 != nil && session.JSON200.TurnCount == 1, "the session has no turn", err)
	log, err := troupe.SessionsEventsWithResponse(ctx, id, nil)
	check(err == nil && log.JSON200 != nil && len(log.JSON200.Data) > 2, "no events", err)

	ids := map[string]bool{}
	limit := 1
	for params := (client.SessionsListParams{Limit: &limit}); ; {
		page, err := troupe.SessionsListWithResponse(ctx, &params)
		check(err == nil && page.JSON200 != nil && len(page.JSON200.Data) == 1, "no page", err)
		last := page.JSON200.Data[0].Id
		ids[last] = true
		if !page.JSON200.Pagination.HasMore {
			break
		}
		params.StartingAfter = &last
	}
	check(len(ids) >= 2, "pages do not go on", ids)

	refusal, err := troupe.SessionsGetWithResponse(ctx, "ses_unknown", nil)
	check(err == nil && refusal.JSON404 != nil, "no refusal", err)
	check(refusal.JSON404.Error.Code == "not_found", "another code", refusal.JSON404)
	fmt.Println("ok")
}
