import assert from 'node:assert/strict'
import createClient from 'openapi-fetch'
import type { paths } from './schema.js'

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

// the known fields of other vendors' APIs are typed, and new ones are allowed
const { data: completion } = await client.POST('/v1/chat/completions', {
  body: {
    model: 'simulated-1',
    messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
    tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
    tool_choice: 'none',
    response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object' } } },
  },
})
// the answer may be a stream, for which the document has no type
assert.match(JSON.stringify(completion), /"role":"assistant"/)

const { data: message } = await client.POST('/v1/messages', {
  body: {
    model: 'simulated-1',
    max_tokens: 64,
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
    tools: [{ name: 'f', input_schema: { type: 'object' } }],
    tool_choice: { type: 'none' },
  },
})
assert.match(JSON.stringify(message), /"role":"assistant"/)

const { data: response } = await client.POST('/v1/responses', {
  body: {
    model: 'simulated-1',
    input: [{ role: 'user', content: [{ type: 'input_text', text: 'hi' }] }],
    tools: [{ type: 'function', name: 'f', parameters: { type: 'object' } }],
    tool_choice: 'none',
    text: { format: { type: 'text' } },
  },
})
assert.match(JSON.stringify(response), /"status":"completed"/)

const { error } = await client.GET('/v1/sessions/{session_id}', { params: { path: { session_id: 'ses_unknown' } } })
assert(typeof error === 'object')
assert.equal(error.error.code, 'not_found')
