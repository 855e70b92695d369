/* Made from the declarations by `npm run generate`; not to be edited. */

/** An event of a session. `id` is its sequence number in the log; an event that is in no log has 0. */
export type SessionEvent =
  | { readonly event: 'session.forked'; readonly id: number; readonly data: SessionForked }
  | { readonly event: 'turn.started'; readonly id: number; readonly data: TurnStarted }
  | { readonly event: 'turn.restarted'; readonly id: number; readonly data: TurnRestarted }
  | { readonly event: 'output_text.delta'; readonly id: number; readonly data: OutputTextDelta }
  | { readonly event: 'context.compacted'; readonly id: number; readonly data: ContextCompacted }
  | { readonly event: 'tool_call.started'; readonly id: number; readonly data: ToolCallStarted }
  | { readonly event: 'tool_call.progress'; readonly id: number; readonly data: ToolCallProgress }
  | { readonly event: 'tool_call.completed'; readonly id: number; readonly data: ToolCallCompleted }
  | { readonly event: 'turn.paused'; readonly id: number; readonly data: TurnPaused }
  | { readonly event: 'turn.resumed'; readonly id: number; readonly data: TurnResumed }
  | { readonly event: 'turn.completed'; readonly id: number; readonly data: TurnCompleted }
  | { readonly event: 'turn.failed'; readonly id: number; readonly data: TurnFailed }
  | { readonly event: 'stream.ended'; readonly id: number; readonly data: StreamEnded }

type SessionForked = { /** Session from which the history was copied. */ readonly session_id: string; /** Last turn that was copied. */ readonly turn_number: number; /** First turn whose events follow. Earlier turns are copied without their events. */ readonly first_turn: number }

type TurnStarted = { /** Number of the turn in its session, from 1. */ readonly turn_number: number; /** Model of the turn. */ readonly model: string; /** The caller's input. */ readonly input_text: string; /** Failed turn whose input this turn repeats (`sessions.turns`). */ readonly retry_of?: number }

type TurnRestarted = { /** Deltas of the turn from this sequence number on are void. Those after this event make its text. */ readonly from_sequence: number; /** Number of the attempt that begins: 2 for the first restart. */ readonly attempt: number }

type OutputTextDelta = { /** Text to append to the text so far. */ readonly delta: string; /** Number of the attempt, after a restart. */ readonly attempt?: number }

type ContextCompacted = { /** What replaces the messages that were removed. */ readonly strategy: "truncate" | "summarize"; /** Number of messages that were removed. */ readonly removed_messages: number; /** Estimated tokens of the conversation before the compaction. */ readonly tokens_before: number; /** Estimated tokens of the conversation after the compaction. */ readonly tokens_after: number; /** Text that the model receives instead. */ readonly summary: string | null }

type ToolCallStarted = { /** Name of the tool. */ readonly tool: string; /** Arguments that the model chose. Secrets are masked, except in `turn.completed`, and for a secret key where the caller runs the tool. */ readonly arguments: unknown; /** Id of the action that represents the tool call. */ readonly action_id: string; /** `caller` if the caller runs the tool: a `function` tool. */ readonly run_by?: "caller"; /** `page` if a browser's credential declared the tool in this turn: client tokens with `sessions:tools` may run it. */ readonly declared_by?: "page" }

type ToolCallProgress = { /** Name of the tool. */ readonly tool: string; /** Id of the action that represents the tool call. */ readonly action_id: string; /** Current progress. It only increases. */ readonly progress: number; /** Value of `progress` at completion; null if the server does not report it. */ readonly total: number | null; /** Message from the server. Not verified. */ readonly message: string | null }

type ToolCallCompleted = { /** Name of the tool. */ readonly tool: string; /** Output of the tool. */ readonly output: string; /** Id of the action that represents the tool call. */ readonly action_id: string }

export type RequiredConnection = { readonly connection_id: string; readonly connector: string; /** URL where the owner signs in. Null for a connection that uses an API key. */ readonly authorize_url: string | null; /** Time at which the link expires. */ readonly expires_at: string | null }

export type RequiredInput = { /** Name of the server that requests the input. */ readonly server: string; /** Endpoint of that server. */ readonly server_url: string; /** `form`: values that match `schema`. `url`: the person completes a task at `url`. */ readonly mode: "form" | "url"; /** Message from the server. Not verified. */ readonly message: string; /** JSON Schema of the values: a flat object. Null for mode `url`. */ readonly schema: { readonly [name: string]: unknown } | null; /** Page for the person to open, after checking where the URL leads. Null for mode `form`. */ readonly url: string | null; /** Fields that appear to ask for secrets. The protocol forbids servers to request secrets in a form. */ readonly secret_fields: readonly string[] }

type TurnPaused = { readonly reason: "approval_required" | "connection_required" | "input_required"; /** Name of the tool. */ readonly tool: string; /** Arguments that the model chose. Secrets are masked, except in `turn.completed`, and for a secret key where the caller runs the tool. */ readonly arguments: unknown; /** Id of the action that represents the tool call. */ readonly action_id: string; /** `caller` if the caller runs the tool: a `function` tool. */ readonly run_by?: "caller"; /** `page` if a browser's credential declared the tool in this turn: client tokens with `sessions:tools` may run it. */ readonly declared_by?: "page"; /** `end_user` if client tokens with `sessions:approve` may decide about the call; otherwise only the operator may. */ readonly approver?: "end_user"; /** A connection that must be established first. */ readonly connection?: RequiredConnection; /** Input that a tool's server requests from a person. */ readonly input?: RequiredInput }

type TurnResumed = { /** Id of the action that represents the tool call. */ readonly action_id: string; /** Decision about the tool call; `connected` if the connection that it waited for is active; `answered`, `declined` or `dismissed` for input that the tool's server requested. */ readonly resolution: "approved" | "rejected" | "connected" | "answered" | "declined" | "dismissed"; /** Reason for the rejection, which is passed to the model. */ readonly reason?: string; /** Output of the tool, if the caller ran it. */ readonly output?: string; /** Arguments that are sent to the tool, if the approver edited them. */ readonly arguments?: unknown }

export type TurnUsage = { /** Tokens of the input. */ readonly input_tokens: number; /** Tokens of the output. */ readonly output_tokens: number; /** Tokens of input and output. */ readonly total_tokens: number; /** Cost in USD as an exact decimal; null if a price is unknown. */ readonly cost_usd: string | null }

export type UrlCitation = { readonly type: "url_citation"; /** Offset of the first character of the citation mark in the text of the turn, in UTF-16 code units. */ readonly start_index: number; /** Offset after its last character. */ readonly end_index: number; /** URL of the page. */ readonly url: string; /** Title of the page. Untrusted. */ readonly title: string }

type ChatMemoryBlock = { readonly retrieved: readonly ({ readonly [name: string]: unknown })[]; readonly written: readonly ({ readonly [name: string]: unknown })[]; readonly write_status: "skipped" | "pending" | "success" | "error"; readonly write_request_id: string | null }

type TurnCompleted = { /** Number of the turn in its session, from 1. */ readonly turn_number: number; /** Complete text of the turn. */ readonly output: string; /** Tokens and cost. */ readonly usage: TurnUsage; /** Tool calls that the caller must run. */ readonly tool_calls?: readonly ({ /** Name of the tool. */ readonly tool: string; /** Arguments that the model chose. Secrets are masked, except in `turn.completed`, and for a secret key where the caller runs the tool. */ readonly arguments: unknown; /** Id of the action that represents the tool call. */ readonly action_id: string })[]; /** Pages that the output cites; absent if there are none. */ readonly annotations?: readonly UrlCitation[]; /** Memories that were read and written. */ readonly memory?: ChatMemoryBlock }

export type TurnError = { /** One of the error codes. */ readonly code: string; /** Message for developers. */ readonly message: string }

type TurnFailed = { /** Number of the turn in its session, from 1. */ readonly turn_number: number; readonly output: { /** Text that was generated before the error. */ readonly text: string; /** Error that caused a turn to fail. */ readonly error: TurnError }; /** Error that caused a turn to fail. */ readonly error: TurnError; /** Tokens and cost. */ readonly usage: TurnUsage }

type StreamEnded = { /** Reason for which the server ended the stream. */ readonly reason: "credential_ended" | "deleted" }
