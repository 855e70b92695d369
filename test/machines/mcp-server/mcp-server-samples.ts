import { type AnyMachineSnapshot, initialTransition } from 'xstate'
import type { MachineDefinition } from '#machines/definition.ts'
import { mcpServerDefinition } from '#machines/mcp-server/mcp-server-definition.ts'
import type { StoredEvent } from '#storage/ports.ts'
import { after, pathOf } from '../outcome.ts'
import type { Walk } from '../reached.ts'

/** The machine as the runtime knows it. */
export const { machine }: MachineDefinition = mcpServerDefinition

const by = { kind: 'secret_key', id: 'key_1' }

const input = {
  ...{ server_id: 'mcp_1', name: 'Tools', url: 'https://tools.example/mcp', transport: 'auto', timeout_ms: 60_000 },
  ...{ trust: false, header_names: [], auth: null, created_by: by },
}

/** A tool as a discovery finds it. */
export const defined = (name: string, description = 'It does.') => ({
  ...{ name, description, input_schema: { type: 'object' }, annotations: null, hash: `${name} ${description}` },
})

/** A discovery that finds these tools. */
export const finds = (...tools: readonly ReturnType<typeof defined>[]): StoredEvent => ({
  type: 'discovered',
  found: {
    ...{ tools, skipped: [], hash: JSON.stringify(tools), server_info: { name: 'x' } },
    ...{ protocol_version: '2026-07-28', transport_used: 'streamable_http' },
  },
  at: 1,
})

const error = { code: 'unreachable', message: 'The server cannot be reached.' }
export const fails: StoredEvent = { type: 'discovery_failed', error, final: false, at: 2 }
export const failsForGood: StoredEvent = { ...fails, final: true }
export const failsWithoutSignIn: StoredEvent = { ...failsForGood, awaits: 'con_1' }
export const connected: StoredEvent = { type: 'connected' }
export const connectionEnded: StoredEvent = { type: 'connection_ended' }
export const refresh: StoredEvent = { type: 'refresh' }
export const rename: StoredEvent = { type: 'update', fields: { name: 'Other' }, moves: false, by }
export const move: StoredEvent = { type: 'update', fields: { url: 'https://other.example' }, moves: true, by }
export const approval: StoredEvent = {
  ...{ type: 'review', tool: 'send', decision: 'approve', reason: null, hash: null, by, at: 3 },
}
export const staleApproval: StoredEvent = { ...approval, hash: 'another' }
export const rejection: StoredEvent = { ...approval, decision: 'reject' }
export const callFails: StoredEvent = { type: 'call_failed', error, at: 4 }
export const callSucceeds: StoredEvent = { type: 'call_succeeded' }
export const disable: StoredEvent = { type: 'disable', by }
export const enable: StoredEvent = { type: 'enable', by }
export const deletion: StoredEvent = { type: 'delete' }
export const retry: StoredEvent = { type: 'xstate.after.retry.mcp_server.enabled.failing.waiting' }

export const fresh = (trust = false): AnyMachineSnapshot => initialTransition(machine, { ...input, trust })[0]

/** A server after these events. */
export const server = (...events: readonly StoredEvent[]): AnyMachineSnapshot => after(machine, fresh(), ...events)

/** A trusted server after these events. */
export const trusted = (...events: readonly StoredEvent[]): AnyMachineSnapshot => after(machine, fresh(true), ...events)

/** Every event in every state of a server. */
export const walk: Walk = {
  machine,
  input,
  events: [
    ...[finds(defined('send')), fails, failsForGood, refresh, rename, move, approval, staleApproval, rejection],
    ...[failsWithoutSignIn, connected, connectionEnded, callFails, callSucceeds, disable, enable, deletion, retry],
  ],
  kindOf: ({ value, context }) => `${pathOf(value)} ${context.attempts} ${context.pending_count} ${context.tool_count}`,
}
