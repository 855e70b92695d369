/*
 * An agent for the clients of AG-UI.
 *
 * const agent = new HttpAgent(agUi(troupe, 'agt_…'))
 */
import type { Troupe } from '../index.ts'
import { asFields } from '../schema.ts'
import { replayedStream, type StreamEnd } from './replayed-stream.ts'

/** What `HttpAgent` of `@ag-ui/client` takes. */
export interface AgUiConfig {
  readonly url: string
  readonly fetch: (url: string, request: RequestInit) => Promise<Response>
}

/**
 * The address of an agent, and how it is reached with the credential of a client. A run is sent once, whatever breaks, and
 * its stream goes on after the network or the server was away.
 */
export const agUi = (client: Troupe, agentId: string): AgUiConfig => {
  const path = `/v1/agents/${encodeURIComponent(agentId)}/ag-ui`
  const { options } = client
  return {
    url: `${options.baseUrl}${path}`,
    fetch: async (_, { body: input, signal }) => {
      const run = asFields<object>(JSON.parse(`${input}`))
      const request = { body: run, idempotencyKey: crypto.randomUUID() }
      // a run without anything new shows all messages
      const anew = { body: { ...run, messages: [], resume: [] }, idempotencyKey: crypto.randomUUID() }
      const encoder = new TextEncoder()
      const body = await replayedStream({
        send: (reading, isAnew) => client.request('POST', path, { ...(isAnew ? anew : request), signal: reading }),
        chunk: (data) => encoder.encode(`data: ${data}\n\n`),
        endOf,
        restarted,
        signal,
        options,
        length: `${input}`.length,
      })
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    },
  }
}

/** Errors that end the stream, but not the run. */
const early: Readonly<Record<string, StreamEnd>> = { credential_ended: 'again', restarted: 'anew' }

const endOf = (data: string): StreamEnd | null => {
  const { type, code } = asFields(JSON.parse(data))
  if (type === 'RUN_ERROR') return early[`${code}`] ?? 'whole'
  return type === 'RUN_FINISHED' ? 'whole' : null
}

/** The protocol cannot take text back: a snapshot of all messages replaces it, which the server sends or a new run has. */
const restarted = (data: string, given: readonly string[]): readonly string[] | null => {
  const { type } = asFields(JSON.parse(data))
  if (/^(TEXT_MESSAGE|REASONING_MESSAGE|REASONING)_END$|^RUN_ERROR$/.test(`${type}`)) return [data]
  return type === 'MESSAGES_SNAPSHOT' ? [...endsOf(given), data] : null
}

/** The ends of what is open: clients refuse the end of a run before. */
const endsOf = (given: readonly string[]): readonly string[] => {
  const open = new Map<string, object>()
  for (const data of given) {
    const { type, messageId, toolCallId } = asFields(JSON.parse(data))
    const [, kind, step] = /^(\w+)_(START|END)$/.exec(`${type}`) ?? []
    const key = `${kind} ${messageId ?? toolCallId}`
    if (step === 'START') open.set(key, { type: `${kind}_END`, messageId, toolCallId })
    else if (step === 'END') open.delete(key)
  }
  // a message ends before the span around it
  return [...open.values()].reverse().map((end) => JSON.stringify(end))
}
