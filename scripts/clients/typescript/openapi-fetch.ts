import assert from 'node:assert/strict'
import createClient from 'openapi-fetch'
import type { paths } from './schema.d.ts'

const client = createClient<paths>({
  baseUrl: process.env.TROUPE_URL,
  headers: { authorization: `Bearer ${process.env.TROUPE_KEY}` },
})

const { data: created } = await client.POST('/v1/sessions', { body: { metadata: { made: 'by a generated client' } } })
assert(created !== undefined)
const path = { session_id: created.id }

const { data: stream } = await client.POST('/v1/sessions/{session_id}/turns', {
  params: { path },
  body: { input: 'Say hello' },
  parseAs: 'text',
})
assert.match(stream ?? '', /^event: turn\.completed$/m)

const { data: session } = await client.GET('/v1/sessions/{session_id}', { params: { path } })
assert.equal(session?.turn_count, 1)

const { data: log } = await client.GET('/v1/sessions/{session_id}/events', { params: { path } })
assert.equal(log?.data.at(-1)?.event_type, 'turn.completed')

const { error } = await client.GET('/v1/sessions/{session_id}', { params: { path: { session_id: 'ses_unknown' } } })
assert(typeof error === 'object')
assert.equal(error.error.code, 'not_found')
