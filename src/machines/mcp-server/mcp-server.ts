import { setup } from 'xstate'
import type { JsonObject } from '#specs/dsl/json.ts'
import { assignsOf } from '../event-actions.ts'
import type { At, Refusing } from '../refusal.ts'
import { type AuditLine, type Notice, type Refusal, vocabulary } from '../vocabulary.ts'
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

/** Why a server cannot be used at the moment. */
export type ServerError = { readonly code: string; readonly message: string }

/** How a server is spoken to. `auto`: streamable HTTP, and SSE where the server has only that. */
export type Transport = 'auto' | 'streamable_http' | 'sse'

/** A server's durable context. Long texts are JSON text, so that each can leave the snapshot as one blob. */
export type McpServerContext = {
  readonly server_id: string
  readonly name: string
  readonly url: string
  readonly transport: Transport
  readonly timeout_ms: number
  /** New tools are active at once: those of the first discovery. */
  readonly trust: boolean
  /** Names of the headers that are sealed beside the server (src/actors/mcp/server-headers.ts). */
  readonly header_names: readonly string[]
  /** How users are signed in; null for the headers alone. */
  readonly auth: JsonObject | null
  readonly created_by: AuditLine['by']
  /** JSON text of `KnownTool[]`. */
  readonly tools: string
  /** JSON text of what the newest discovery changed; null before the first. */
  readonly changes: string | null
  /** JSON text of `ServerLists`; null before the first discovery that had them. */
  readonly lists: string | null
  readonly tool_count: number
  readonly pending_count: number
  /** SHA-256 of the snapshot; null before the first. */
  readonly hash: string | null
  /** JSON text of what the server says of itself; null before the first discovery. */
  readonly server_info: string | null
  readonly protocol_version: string | null
  readonly transport_used: Exclude<Transport, 'auto'> | null
  /** ms since the epoch. */
  readonly snapshot_at_ms: number | null
  readonly error: ServerError | null
  readonly failing_since_ms: number | null
  /** Discoveries in a row that failed. */
  readonly attempts: number
}

/** What starts a server. */
export type McpServerInput = Pick<
  McpServerContext,
  'server_id' | 'name' | 'url' | 'transport' | 'timeout_ms' | 'trust' | 'header_names' | 'auth' | 'created_by'
>

/** What a discovery found. */
export type Discovery = {
  readonly tools: readonly ToolDefinition[]
  readonly skipped: readonly SkippedTool[]
  readonly hash: string
  readonly server_info: JsonObject
  readonly protocol_version: string | null
  readonly transport_used: Exclude<Transport, 'auto'>
  /** What there is beside tools; absent where that was not looked for. */
  readonly lists?: ServerLists
}

type By = { readonly by: AuditLine['by'] }

/** Everything that can happen to a server. `at` is in ms since the epoch. */
export type McpServerEvent =
  | { readonly type: 'discovered'; readonly found: Discovery; readonly at: number }
  /** `final`: no further attempt has a chance. */
  | { readonly type: 'discovery_failed'; readonly error: ServerError; readonly final: boolean; readonly at: number }
  | { readonly type: 'refresh' }
  /** `moves`: another server may answer, or the same one otherwise. */
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

/** Waits before the second discovery, the third and so on, in ms. */
export const retryDelaysMs: readonly number[] = [60_000, 5 * 60_000, 30 * 60_000, 2 * 60 * 60_000]

type On<Type extends McpServerEvent['type']> = At<McpServerContext, Extract<McpServerEvent, { readonly type: Type }>>

const assigns = assignsOf<McpServerContext, McpServerEvent>()

/** The tools of a server's context. */
export const toolsOf = ({ tools }: Pick<McpServerContext, 'tools'>): readonly KnownTool[] => JSON.parse(tools)

const withTools = (tools: readonly KnownTool[]) => ({
  tools: JSON.stringify(tools),
  tool_count: tools.length,
  pending_count: tools.filter(({ state }) => state === 'pending_review').length,
})

/** Trust is for what was there when the server was registered. */
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

/** A person wants it tried anew: what it failed at before does not count. */
const again = assigns((_: On<'refresh' | 'enable'>) => ({ attempts: 0 }))

const stopWork = { type: 'abort', params: { effects: ['discoverTools'] } } as const

const noTool: Refusal = { code: 'not_found', param: 'tool_name' }
const otherDefinition: Refusal = {
  code: 'version_conflict',
  param: 'hash',
  message: 'The tool is defined otherwise than what was reviewed: read it again.',
}
const isDisabled: Refusal = { code: 'invalid_transition', message: 'The server is disabled.' }
const isEnabled: Refusal = { code: 'invalid_transition', message: 'The server is not disabled.' }
const notFound: Refusal = { code: 'not_found' }

const refusedReview = ({ context, event }: On<'review'>): Refusal =>
  toolsOf(context).some(({ name }) => name === event.tool) ? otherDefinition : noTool

const mcpServerSetup = setup({
  types: {
    context: {} as McpServerContext,
    input: {} as McpServerInput,
    events: {} as McpServerEvent,
    meta: {} as Refusing<McpServerContext, McpServerEvent>,
  },
  actions: {
    ...vocabulary,
    discoverTools: (_: unknown, _params: { attempt: number }) => {},
    eraseServer: (_: unknown, _params: Record<never, never>) => {},
  },
  guards: {
    isLast: ({ context, event }) =>
      (event.type === 'discovery_failed' && event.final) || context.attempts >= retryDelaysMs.length,
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

/** Names of each kind that a webhook is sent at most. */
const mostNamed = 100

/** Webhooks hear of the first failure after it worked. */
const notifyFailure = mcpServerSetup.enqueueActions(({ enqueue, context, event }) => {
  if (context.failing_since_ms !== null || !('error' in event)) return
  enqueue({ type: 'notify', params: noticeOf(context, 'mcp_server.failed', { error: event.error }) })
})

/** Webhooks hear that it works again. */
const notifyRecovery = mcpServerSetup.enqueueActions(({ enqueue, context }) => {
  if (context.failing_since_ms !== null) enqueue({ type: 'notify', params: noticeOf(context, 'mcp_server.recovered') })
})

/** Webhooks hear what a discovery after the first found otherwise, by the names of the tools. */
const notifyChanges = mcpServerSetup.enqueueActions(({ enqueue, context, event }) => {
  if (context.snapshot_at_ms === null || event.type !== 'discovered') return
  const { added, removed, changed } = changesOf(toolsOf(context), event.found.tools, [])
  if (added.length + removed.length + changed.length === 0) return
  const names = { added, removed, changed: changed.map(({ name }) => name) }
  const shown = Object.fromEntries(Object.entries(names).map(([kind, all]) => [kind, all.slice(0, mostNamed)]))
  enqueue({ type: 'notify', params: noticeOf(context, 'mcp_server.tools_changed', shown) })
})

/**
 * A remote tool server: its tools are discovered (`discovering`), and agents see those that are `active` in the snapshot.
 * One that does not answer is `failing`, with the reason, and tried again; its tools stay and may be called, and a call
 * that succeeds shows that it is back. A `disabled` one is not spoken to.
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
          entry: { type: 'discoverTools', params: ({ context }) => ({ attempt: context.attempts + 1 }) },
          exit: stopWork,
          on: {
            discovered: { target: 'active', actions: [journalDiscovery, notifyRecovery, notifyChanges, takeDiscovery] },
            discovery_failed: [
              { guard: 'isLast', target: 'failing.resting', actions: [notifyFailure, takeFailure, journalFailure] },
              { target: 'failing.waiting', actions: [notifyFailure, takeFailure, journalFailure] },
            ],
          },
        },
        active: {
          on: {
            call_failed: { target: 'failing.waiting', actions: [notifyFailure, takeFailure, journalFailure] },
          },
        },
        failing: {
          initial: 'waiting',
          on: { call_succeeded: { target: 'active', actions: [notifyRecovery, recover] } },
          states: {
            waiting: { after: { retry: '#mcp_server.enabled.discovering' } },
            resting: {},
          },
        },
      },
    },
    disabled: {
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
