// MCP clients for Go, the official one and mcp-go, on `/mcp`: a handshake, a list of tools, a call, and a refusal as
// the error of a tool.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	other "github.com/mark3labs/mcp-go/mcp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var address = os.Getenv("TROUPE_URL") + "/mcp?mode=write"

type withKey struct{}

func (withKey) RoundTrip(request *http.Request) (*http.Response, error) {
	own := request.Clone(request.Context())
	own.Header.Set("Authorization", "Bearer "+os.Getenv("TROUPE_KEY"))
	return http.DefaultTransport.RoundTrip(own)
}

func check(holds bool, what string, details ...any) {
	if !holds {
		fmt.Fprintln(os.Stderr, append([]any{what}, details...)...)
		os.Exit(1)
	}
}

func official(ctx context.Context) {
	made := mcp.NewClient(&mcp.Implementation{Name: "check", Version: "1"}, nil)
	wire := &mcp.StreamableClientTransport{Endpoint: address, HTTPClient: &http.Client{Transport: withKey{}}}
	session, err := made.Connect(ctx, wire, nil)
	check(err == nil, "go-sdk does not connect", err)
	tools, err := session.ListTools(ctx, nil)
	check(err == nil && len(tools.Tools) > 20, "go-sdk sees no tools", err)
	agents, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "list_agents", Arguments: map[string]any{}})
	check(err == nil && !agents.IsError && len(agents.Content) > 0, "go-sdk's call fails", err)
	unknown := map[string]any{"session_id": "ses_unknown"}
	refused, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "get_session", Arguments: unknown})
	check(err == nil && refused.IsError, "go-sdk sees no refusal", err)
	check(session.Close() == nil, "go-sdk does not close")
}

func mcpGo(ctx context.Context) {
	headers := map[string]string{"Authorization": "Bearer " + os.Getenv("TROUPE_KEY")}
	made, err := client.NewStreamableHttpClient(address, transport.WithHTTPHeaders(headers))
	check(err == nil && made.Start(ctx) == nil, "mcp-go does not start", err)
	hello := other.InitializeRequest{}
	hello.Params.ProtocolVersion = other.LATEST_PROTOCOL_VERSION
	hello.Params.ClientInfo = other.Implementation{Name: "check", Version: "1"}
	_, err = made.Initialize(ctx, hello)
	check(err == nil, "mcp-go has no handshake", err)
	tools, err := made.ListTools(ctx, other.ListToolsRequest{})
	check(err == nil && len(tools.Tools) > 20, "mcp-go sees no tools", err)
	call := other.CallToolRequest{}
	call.Params.Name = "list_runs"
	runs, err := made.CallTool(ctx, call)
	check(err == nil && !runs.IsError && len(runs.Content) > 0, "mcp-go's call fails", err)
	check(made.Close() == nil, "mcp-go does not close")
}

func main() {
	ctx, done := context.WithTimeout(context.Background(), time.Minute)
	defer done()
	official(ctx)
	mcpGo(ctx)
}
