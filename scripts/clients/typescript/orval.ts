import assert from 'node:assert/strict'
import { sessionsCreate, sessionsEvents, sessionsGet, sessionsTurns } from './client/api.js'

// its functions call paths of the page's own origin
const { fetch: send } = globalThis
globalThis.fetch = (path, init) => send(new URL(String(path), process.env.TROUPE_URL), init)
const signed = { headers: { authorization: `Bearer ${process.env.TROUPE_KEY}` } }

const created = await sessionsCreate({ metadata: { made: 'by a generated client' } }, signed)
assert(created.status === 201)
const { id } = created.data

const turn = await sessionsTurns(id, { input: 'Say hello' }, {}, signed)
assert.equal(turn.status, 200)

const session = await sessionsGet(id, signed)
assert(session.status === 200)
assert.equal(session.data.turn_count, 1)

const log = await sessionsEvents(id, {}, signed)
assert(log.status === 200)
assert.equal(log.data.data.at(-1)?.event_type, 'turn.completed')

const unknown = await sessionsGet('ses_unknown', signed)
assert(unknown.status === 404)
// compiles only if every error of the operation has a type
assert.equal(unknown.data.error.code, 'not_found')
