import { setup } from 'xstate'
import type { JsonObject } from '#specs/dsl/json.ts'
import type { Status } from '#specs/statuses.ts'
import { connectionWaitSink } from '../action/action.ts'
import { type Notice, type Refusal, type Refusing, vocabulary } from '../declared.ts'
import { type At, type AuditLine, assignsOf, type Shown } from '../index.ts'
import {
  changesOf,
  type KnownTool,
  merged,
  reviewed,
  type SkippedTool,
  type ToolDefinition,
  type ToolReview,
} from './known-tools.ts'
import type { ServerLists } from './server-lists.ts'

/** Why a server is unusable at the moment. */
type ServerError = { readonly code: string; readonly message: string }

/**
 * Transport to a server. `auto`: streamable HTTP, and SSE where the server only supports that. `a2a`: the server is an
 * agent, whose card is at the URL.
 */
type Transport = 'auto' | 'streamable_http' | 'sse' | 'a2a'

/**
 * A server's durable context. Long texts are JSON text, so that each can be moved from the snapshot to a single blob.
 */
export type McpServerContext = {
  readonly server_id: string
  readonly name: string
  readonly url: string
  readonly transport: Transport
  readonly timeout_ms: number
  /** Whether the tools of the first discovery become active without review. */
  readonly trust: boolean
  /** Names of the headers whose values are sealed in a separate record (src/actors/mcp/server-headers.ts). */
  readonly header_names: readonly string[]
  /** How users sign in; null when only the headers authenticate. */
  readonly auth: JsonObject | null
  readonly created_by: AuditLine['by']
  /** JSON text of `KnownTool[]`. */
  readonly tools: string
  /** JSON text of the changes found by the newest discovery; null before the first. */
  readonly changes: string | null
  /** JSON text of `ServerLists`; null before the first discovery that read lists. */
  readonly lists: string | null
  readonly tool_count: number
  readonly pending_count: number
  /** SHA-256 of the snapshot; null before the first. */
  readonly hash: string | null
  /** JSON text of the server's information about itself; null before the first discovery. */
  readonly server_info: string | null
  readonly protocol_version: string | null
  readonly transport_used: Exclude<Transport, 'auto'> | null
  /** ms since the epoch. */
  readonly snapshot_at_ms: number | null
  readonly error: ServerError | null
  readonly failing_since_ms: number | null
  /** Consecutive failures. */
  readonly attempts: number
  /** Id of the connection whose owner has to sign in before the tools can be discovered; else null. */
  readonly awaits: string | null
}

/** Input of a new server. */
export type McpServerInput = Pick<
  McpServerContext,
  'server_id' | 'name' | 'url' | 'transport' | 'timeout_ms' | 'trust' | 'header_names' | 'auth' | 'created_by'
>

/** Result of a discovery. */
export type Discovery = {
  readonly tools: readonly ToolDefinition[]
  readonly skipped: readonly SkippedTool[]
  readonly hash: string
  readonly server_info: JsonObject
  readonly protocol_version: string | null
  readonly transport_used: Exclude<Transport, 'auto'>
  /** Resources and prompts of the server; absent where they were not requested. */
  readonly lists?: ServerLists
}

type By = { readonly by: AuditLine['by'] }

/** All events of a server. `at` is in ms since the epoch. */
type McpServerEvent =
  | { readonly type: 'discovered'; readonly found: Discovery; readonly at: number }
  /** `final`: a further attempt cannot succeed. `awaits`: until this connection is usable. */
  | {
      readonly type: 'discovery_failed'
      readonly error: ServerError
      readonly final: boolean
      readonly awaits?: string | null
      readonly at: number
    }
  /** The connection that the server awaits is usable, or never will be. */
  | { readonly type: 'connected' }
  | { readonly type: 'connection_ended' }
  | { readonly type: 'refresh' }
  /** `moves`: after the update, another server may respond, or the same server differently. */
  | (By & {
      readonly type: 'update'
      readonly fields: Partial<
        Pick<McpServerContext, 'name' | 'url' | 'transport' | 'timeout_ms' | 'header_names' | 'auth'>
      >
      readonly moves: boolean
    })
  | (By & ToolReview & { readonly type: 'review'; readonly tool: string; readonly hash: string | null })
  | { readonly type: 'call_failed'; readonly error: ServerError; readonly at: number }
  | { readonly type: 'call_succeeded' }
  | (By & { readonly type: 'disable' })
  | (By & { readonly type: 'enable' })
  | { readonly type: 'delete' }

/** Delays before the second discovery, the third and so on, in ms. */
export const retryDelaysMs: readonly number[] = [60_000, 5 * 60_000, 30 * 60_000, 2 * 60 * 60_000]

type On<Type extends McpServerEvent['type']> = At<McpServerContext, Extract<McpServerEvent, { readonly type: Type }>>

const assigns = assignsOf<McpServerContext, McpServerEvent>()

/** The tools in a server's context, parsed. */
export const toolsOf = ({ tools }: Pick<McpServerContext, 'tools'>): readonly KnownTool[] => JSON.parse(tools)

const withTools = (tools: readonly KnownTool[]) => ({
  tools: JSON.stringify(tools),
  tool_count: tools.length,
  pending_count: tools.filter(({ state }) => state === 'pending_review').length,
})

/** Stores a discovery. `trust` only applies to the first one, made when the server was registered. */
const takeDiscovery = assigns(({ context, event: { found, at } }: On<'discovered'>) => ({
  ...withTools(merged(toolsOf(context), found.tools, context.trust && context.snapshot_at_ms === null)),
  changes: JSON.stringify(changesOf(toolsOf(context), found.tools, found.skipped)),
  lists: found.lists === undefined ? context.lists : JSON.stringify(found.lists),
  hash: found.hash,
  server_info: JSON.stringify(found.server_info),
  protocol_version: found.protocol_version,
  transport_used: found.transport_used,
  snapshot_at_ms: at,
  error: null,
  failing_since_ms: null,
  attempts: 0,
}))

const takeFailure = assigns(({ context, event: { error, at } }: On<'discovery_failed' | 'call_failed'>) => ({
  error,
  failing_since_ms: context.failing_since_ms ?? at,
  attempts: context.attempts + 1,
}))

/** Stores the connection to wait for, and subscribes to it; it may be usable already. */
const awaitConnection = [
  assigns(({ event: { awaits } }: On<'discovery_failed'>) => ({ awaits: awaits ?? null })),
  {
    type: 'send',
    params: ({ context: { server_id, awaits } }: { context: McpServerContext }) => ({
      messages:
        awaits === null
          ? []
          : [{ to: connectionWaitSink, event: { type: 'wait', connection_id: awaits, actor: server_id } }],
    }),
  },
] as const

const recover = assigns((_: On<'call_succeeded'>) => ({ error: null, failing_since_ms: null, attempts: 0 }))

const change = assigns(({ event: { fields } }: On<'update'>) => ({ ...fields, attempts: 0 }))

const takeReview = assigns(({ context, event: { tool, decision, reason, by, at } }: On<'review'>) =>
  withTools(reviewed(toolsOf(context), tool, { decision, reason, by, at })),
)

const journalDiscovery = {
  type: 'journal',
  params: ({ context, event: { found } }: On<'discovered'>) => {
    const { added, removed, changed } = changesOf(toolsOf(context), found.tools, found.skipped)
    const payload = { hash: found.hash, added, removed, changed: changed.map(({ name }) => name) }
    return { events: [{ event_type: 'server.tools_discovered', payload }] }
  },
} as const

const journalFailure = {
  type: 'journal',
  params: ({ event: { error } }: On<'discovery_failed' | 'call_failed'>) => ({
    events: [{ event_type: 'server.failed', payload: error }],
  }),
} as const

type Commanded = Extract<McpServerEvent, By>

const audits = (action: string, changes: (event: Commanded) => readonly string[] = () => []) =>
  ({
    type: 'audit',
    params: ({ event }: { event: Commanded }) => ({
      lines: [{ action: `mcp_server.${action}`, by: event.by, resource: 'mcp_server', changes: changes(event) }],
    }),
  }) as const

const auditUpdate = [audits('updated', (event) => (event.type === 'update' ? Object.keys(event.fields) : []))] as const

/** Resets the failed attempts, because a person requested a new one. */
const again = assigns((_: On<'refresh' | 'enable' | 'connected'>) => ({ attempts: 0, awaits: null }))

const stopWork = { type: 'abort', params: { effects: ['discoverTools'] } } as const

const noTool: Refusal = { code: 'not_found', param: 'tool_name' }
const otherDefinition: Refusal = {
  code: 'version_conflict',
  param: 'hash',
  message: 'The tool is defined otherwise than what was reviewed: read it again.',
}
const isDisabled: Refusal = {
  code: 'invalid_transition',
  message: 'The server is disabled. Enable it with mcp_servers.update first.',
}
const isEnabled: Refusal = { code: 'invalid_transition', message: 'The server is not disabled.' }
const notFound: Refusal = { code: 'not_found' }

const refusedReview = ({ context, event }: On<'review'>): Refusal =>
  toolsOf(context).some(({ name }) => name === event.tool) ? otherDefinition : noTool

const mcpServerSetup = setup({
  types: {
    context: {} as McpServerContext,
    input: {} as McpServerInput,
    events: {} as McpServerEvent,
    meta: {} as Refusing<McpServerContext, McpServerEvent> & Shown<McpServerContext, Status<'mcp_server'>>,
  },
  actions: {
    ...vocabulary,
    discoverTools: (_: unknown, _params: { attempt: number }) => {},
    eraseServer: (_: unknown, _params: Record<never, never>) => {},
  },
  guards: {
    isLast: ({ context, event }) =>
      (event.type === 'discovery_failed' && event.final) || context.attempts >= retryDelaysMs.length,
    awaitsConnection: ({ event }) => event.type === 'discovery_failed' && typeof event.awaits === 'string',
    moves: ({ event }) => event.type === 'update' && event.moves,
    isReviewable: ({ context, event }) =>
      event.type === 'review' &&
      toolsOf(context).some(({ name, hash }) => name === event.tool && (event.hash ?? hash) === hash),
  },
  delays: { retry: ({ context }) => retryDelaysMs[context.attempts - 1] ?? 0 },
})

const noticeOf = (context: McpServerContext, event_type: ServerNotice, more: JsonObject = {}): Notice => {
  const { server_id, name, url } = context
  return { event_type, data: { server_id, name, url, ...more } }
}

type ServerNotice = Extract<Notice['event_type'], `mcp_server.${string}`>

/** Most names of each kind in a webhook event. */
const maxNamed = 100

/** Notifies webhooks of the first failure after the server worked. */
const notifyFailure = mcpServerSetup.enqueueActions(({ enqueue, context, event }) => {
  if (context.failing_since_ms !== null || !('error' in event)) return
  enqueue({ type: 'notify', params: noticeOf(context, 'mcp_server.failed', { error: event.error }) })
})

/** Notifies webhooks that the server works again. */
const notifyRecovery = mcpServerSetup.enqueueActions(({ enqueue, context }) => {
  if (context.failing_since_ms !== null) enqueue({ type: 'notify', params: noticeOf(context, 'mcp_server.recovered') })
})

/** Notifies webhooks of changes that a later discovery found, by the names of the tools. */
const notifyChanges = mcpServerSetup.enqueueActions(({ enqueue, context, event }) => {
  if (context.snapshot_at_ms === null || event.type !== 'discovered') return
  const { added, removed, changed } = changesOf(toolsOf(context), event.found.tools, [])
  if (added.length + removed.length + changed.length === 0) return
  const names = { added, removed, changed: changed.map(({ name }) => name) }
  const shown = Object.fromEntries(Object.entries(names).map(([kind, all]) => [kind, all.slice(0, maxNamed)]))
  enqueue({ type: 'notify', params: noticeOf(context, 'mcp_server.tools_changed', shown) })
})

/**
 * A remote tool server. Its tools are discovered (`discovering`), and agents see those that are `active` in the
 * snapshot. A server that does not respond is `failing`, with the reason, and is retried. Its tools are kept and may be
 * called, and a successful call shows that it is back. A server that requires a sign-in is read again as soon as the
 * owner has signed in (`awaiting_connection`). A `disabled` server is not contacted.
 */
export const mcpServerMachine = mcpServerSetup.createMachine({
  id: 'mcp_server',
  context: ({ input }) => ({
    ...input,
    tools: '[]',
    changes: null,
    lists: null,
    tool_count: 0,
    pending_count: 0,
    hash: null,
    server_info: null,
    protocol_version: null,
    transport_used: null,
    snapshot_at_ms: null,
    error: null,
    failing_since_ms: null,
    attempts: 0,
    awaits: null,
  }),
  entry: {
    type: 'audit',
    params: ({ context }) => ({
      lines: [{ action: 'mcp_server.created', by: context.created_by, resource: 'mcp_server' }],
    }),
  },
  initial: 'enabled',
  meta: { refuses: { review: refusedReview, refresh: isDisabled, update: notFound, enable: isEnabled } },
  on: {
    delete: '.erasing',
    review: {
      guard: 'isReviewable',
      actions: [takeReview, audits('tool_reviewed', (event) => (event.type === 'review' ? [event.tool] : []))],
    },
  },
  states: {
    enabled: {
      initial: 'discovering',
      on: {
        disable: { target: 'disabled', actions: audits('disabled') },
        refresh: { target: '.discovering', reenter: true, actions: again },
        update: [
          { guard: 'moves', target: '.discovering', reenter: true, actions: [change, ...auditUpdate] },
          { actions: [change, ...auditUpdate] },
        ],
      },
      states: {
        discovering: {
          meta: { status: 'discovering' },
          tags: 'busy',
          entry: { type: 'discoverTools', params: ({ context }) => ({ attempt: context.attempts + 1 }) },
          exit: stopWork,
          on: {
            discovered: { target: 'active', actions: [journalDiscovery, notifyRecovery, notifyChanges, takeDiscovery] },
            discovery_failed: [
              {
                guard: 'awaitsConnection',
                target: 'failing.awaiting_connection',
                actions: [notifyFailure, takeFailure, journalFailure, ...awaitConnection],
              },
              { guard: 'isLast', target: 'failing.resting', actions: [notifyFailure, takeFailure, journalFailure] },
              { target: 'failing.waiting', actions: [notifyFailure, takeFailure, journalFailure] },
            ],
          },
        },
        active: {
          meta: { status: 'active' },
          on: {
            call_failed: { target: 'failing.waiting', actions: [notifyFailure, takeFailure, journalFailure] },
          },
        },
        failing: {
          meta: { status: 'failing' },
          initial: 'waiting',
          on: { call_succeeded: { target: 'active', actions: [notifyRecovery, recover] } },
          states: {
            waiting: { after: { retry: '#mcp_server.enabled.discovering' } },
            resting: {},
            awaiting_connection: {
              on: {
                connected: { target: '#mcp_server.enabled.discovering', actions: again },
                connection_ended: 'resting',
              },
            },
          },
        },
      },
    },
    disabled: {
      meta: { status: 'disabled' },
      on: {
        enable: { target: 'enabled', actions: [again, audits('enabled')] },
        update: { actions: [change, ...auditUpdate] },
      },
    },
    erasing: {
      type: 'final',
      meta: { refuses: { review: notFound, refresh: notFound, enable: notFound, disable: notFound } },
      entry: { type: 'eraseServer', params: {} },
    },
  },
})
