import assert from 'node:assert/strict'
import { client } from './client/client.gen.js'
import { sessionsCreate, sessionsEvents, sessionsGet, sessionsTurns } from './client/sdk.gen.js'

client.setConfig({ baseUrl: process.env.TROUPE_URL, auth: process.env.TROUPE_KEY })

const { data: created } = await sessionsCreate({
  body: { metadata: { made: 'by a generated client' } },
  throwOnError: true,
})
const path = { session_id: created.id }

const names: string[] = []
const { stream } = await sessionsTurns({
  path,
  body: { input: 'Say hello' },
  onSseEvent: ({ event }) => names.push(event ?? ''),
})
for await (const _ of stream);
assert.equal(names.at(-1), 'turn.completed')

const { data: session } = await sessionsGet({ path, throwOnError: true })
assert.equal(session.turn_count, 1)

const { data: log } = await sessionsEvents({ path, throwOnError: true })
assert.equal(log.data.at(-1)?.event_type, 'turn.completed')

const { error } = await sessionsGet({ path: { session_id: 'ses_unknown' } })
assert(error !== undefined)
// compiles only if every error of the operation has a type
assert.equal(error.error.code, 'not_found')
